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
    if (PyGILState_Check() == 0) gil_.emplace();
  }

 private:
  std::optional<py::gil_scoped_acquire> gil_;
};

/// A reference that any thread may let go.
inline std::shared_ptr<const void> kept_by(py::object object) {
  return {object.release().ptr(), [](const void* owner) {
            if (Py_IsInitialized() == 0) return;
            const HeldGil gil;
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(owner)));
          }};
}

/// The object behind what kept_by gave.
inline py::handle object_of(const std::shared_ptr<const void>& owner) {
  return static_cast<PyObject*>(const_cast<void*>(owner.get()));
}

/// A Python object that keeps a value, for the base of an array over its memory.
template <class T>
py::capsule owner_of(T value) {
  auto* const owner = new T(std::move(value));
  return py::capsule(owner, [](void* dead) { delete static_cast<T*>(dead); });
}

}  // namespace varlen::bindings
