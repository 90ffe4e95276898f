// What a Ragged is in memory, for the functions that read it without a frame of Python.
#pragma once

#include <pybind11/pybind11.h>

namespace varlen::bindings {

namespace py = pybind11;

struct RaggedObject {
  PyObject_HEAD PyObject* values;
  PyObject* levels;
};

[[nodiscard]] inline RaggedObject& ragged_parts(PyObject* self) noexcept {
  return *reinterpret_cast<RaggedObject*>(self);
}

/// Whether an object is of the class that all Raggeds stand on, or of one below it.
[[nodiscard]] bool is_ragged(PyObject* object) noexcept;

/// A new object of a type of Raggeds.
[[nodiscard]] PyObject* make_ragged(PyTypeObject* type, py::object values, py::object levels);

/// Adds `on_values` to the module.
void add_on_values(const py::module_& m);

}  // namespace varlen::bindings
