// Who keeps whom alive: Python objects for the model, the model for NumPy arrays.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

namespace varlen::bindings {

namespace py = pybind11;

/// A reference that may be let go by any thread: it takes the GIL for that.
inline std::shared_ptr<const void> kept_by(py::object object) {
  return {object.release().ptr(), [](const void* kept) {
            if (Py_IsInitialized() == 0) return;
            auto* const reference = static_cast<PyObject*>(const_cast<void*>(kept));
            if (PyGILState_Check() != 0) {
              Py_DECREF(reference);
              return;
            }
            const py::gil_scoped_acquire held;
            Py_DECREF(reference);
          }};
}

/// A Python object that keeps a value, for the base of an array over its memory.
template <class T>
py::capsule owner_of(T value) {
  auto* const kept = new T(std::move(value));
  return py::capsule(kept, [](void* dead) { delete static_cast<T*>(dead); });
}

}  // namespace varlen::bindings
