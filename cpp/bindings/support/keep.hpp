// Who keeps whom alive: Python objects for the model, the model for NumPy arrays.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <utility>

namespace varlen::bindings {

namespace py = pybind11;

/// Takes the GIL where this thread does not hold it.
class HeldGil {
 public:
  HeldGil() {
    if (PyGILState_Check() == 0) acquired_.emplace();
  }

 private:
  std::optional<py::gil_scoped_acquire> acquired_;
};

/// A reference that any thread may let go.
inline std::shared_ptr<const void> kept_by(py::object object) {
  return {object.release().ptr(), [](const void* kept) {
            if (Py_IsInitialized() == 0) return;
            const HeldGil held;
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(kept)));
          }};
}

/// The object behind what kept_by gave.
inline py::handle object_of(const std::shared_ptr<const void>& kept) {
  return static_cast<PyObject*>(const_cast<void*>(kept.get()));
}

/// A Python object that keeps a value, for the base of an array over its memory.
template <class T>
py::capsule owner_of(T value) {
  auto* const kept = new T(std::move(value));
  return py::capsule(kept, [](void* dead) { delete static_cast<T*>(dead); });
}

}  // namespace varlen::bindings
