// Whether an output surely lies apart from what a call reads: asked before each call that is given one.
#include <pybind11/pybind11.h>

#include <optional>

#include "level/level.hpp"
#include "rooms.hpp"
#include "support/fastcall.hpp"
#include "support/ndarray.hpp"
#include "support/overlap.hpp"
#include "support/raise.hpp"
#include "tensor/tensor.hpp"

namespace varlen::bindings {

namespace {

std::optional<Footprint> footprint_in(PyObject* object) {
  if (is_tensor(object)) return footprint_of(object);
  if (!is_array(object, Api::get())) return {};
  const auto array = py::reinterpret_borrow<py::array>(object);
  return Footprint{Memory::extent_of(array), (array.flags() & py::array::c_style) != 0};
}

bool has_no_memory(PyObject* object) noexcept {
  return object == Py_None || LevelRef::is_level(object) || PyLong_CheckExact(object) ||
         PyFloat_CheckExact(object) || PyBool_Check(object) || PyUnicode_CheckExact(object);
}

/// False too for objects that are not known here.
bool is_apart_from(const Memory& out, PyObject* input) {
  if (has_no_memory(input)) return true;
  if (const std::optional<Footprint> footprint = footprint_in(input)) return !out.meets(footprint->memory);
  static PyObject* const name = PyUnicode_InternFromString("_values");
  const auto values = py::reinterpret_steal<py::object>(PyObject_GetAttr(input, name));
  if (!values) PyErr_Clear();
  const std::optional<Footprint> footprint = values ? footprint_in(values.ptr()) : std::nullopt;
  return footprint && !out.meets(footprint->memory);
}

bool is_apart_from_all(const Memory& out, PyObject* input) {
  if (!PyList_CheckExact(input) && !PyTuple_CheckExact(input)) return is_apart_from(out, input);
  const auto items = py::reinterpret_borrow<py::object>(input);
  for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(items.ptr()); ++k) {  // looking may change a list
    PyObject* const item = PySequence_Fast_GET_ITEM(items.ptr(), k);
    if (k == 0 && (PyList_CheckExact(item) || PyTuple_CheckExact(item))) return true;  // of numbers
    if (!is_apart_from(out, py::reinterpret_borrow<py::object>(item).ptr())) return false;
  }
  return true;
}

PyObject* is_apart(PyObject*, PyObject* const* args, Py_ssize_t count) noexcept {
  return guard([&] {
    if (count != 2 || !PyTuple_CheckExact(args[1])) raise_type("is_apart", "expected an output and a tuple");
    PyObject* const out = args[0];
    if (is_array(out, Api::get()) && !is_plain(out)) return Py_NewRef(Py_False);
    const std::optional<Footprint> footprint = footprint_in(out);
    bool result = footprint && footprint->is_contiguous;
    for (Py_ssize_t k = 0; result && k < PyTuple_GET_SIZE(args[1]); ++k) {
      result = is_apart_from_all(footprint->memory, PyTuple_GET_ITEM(args[1], k));
    }
    return Py_NewRef(result ? Py_True : Py_False);
  });
}

PyMethodDef footprint_methods[] = {
    {"is_apart", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&is_apart)), METH_FASTCALL,
     "is_apart(out, inputs)\n--\n\n"
     "Whether out is C-contiguous and surely lies apart from the arrays, tensors and containers among the "
     "inputs and in lists. False where that takes a closer look."},
    {},
};

}  // namespace

void bind_footprint(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), footprint_methods) < 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
