// Functions of a library of tensors on the values of Raggeds, without a frame of Python: what a small call of
// a layer or a loss costs beyond the call on the values.
#include <pybind11/pybind11.h>

#include <cstdint>
#include <utility>

#include "ragged.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"
#include "tensor/tensor.hpp"

namespace varlen::bindings {

namespace {

constexpr long kMostTensorAxes = 64;

/// How a function takes Raggeds. A count of 0: it works on each number, of any number of Raggeds and plain
/// numbers. Others: so many Raggeds come first and no other, and the values of the first have `min_axes` to
/// `max_axes` axes; -1 for one more than the shape of a row that comes next.
struct Rule {
  long count, min_axes, max_axes;
};

Rule read_rule(PyObject* rule) {
  if (!PyTuple_CheckExact(rule) || PyTuple_GET_SIZE(rule) != 3)
    raise_type("rules", "expected tuples of three integers");
  const Rule result{PyLong_AsLong(PyTuple_GET_ITEM(rule, 0)), PyLong_AsLong(PyTuple_GET_ITEM(rule, 1)),
                    PyLong_AsLong(PyTuple_GET_ITEM(rule, 2))};
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return result;
}

bool holds_tensor(PyObject* ragged) noexcept {
  const auto& [head, values, levels] = ragged_parts(ragged);
  return values != nullptr && levels != nullptr && PyTuple_Check(levels) &&
         (is_tensor(values) || is_tensor_subclass(values));
}

long axes_of_tensor(PyObject* tensor) {
  static PyObject* const name = PyUnicode_InternFromString("ndim");
  const auto count = py::reinterpret_steal<py::object>(PyObject_GetAttr(tensor, name));
  const long axes = count ? PyLong_AsLong(count.ptr()) : -1;
  if (axes < 0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return axes;
}

/// Whether two share their levels, which makes them nest alike without a look at the numbers.
bool share_levels(PyObject* a, PyObject* b) noexcept {
  PyObject *const x = ragged_parts(a).levels, *const y = ragged_parts(b).levels;
  if (x == y) return true;
  const Py_ssize_t depth = PyTuple_GET_SIZE(x);
  if (depth != PyTuple_GET_SIZE(y)) return false;
  for (Py_ssize_t d = 0; d < depth; ++d) {
    if (PyTuple_GET_ITEM(x, d) != PyTuple_GET_ITEM(y, d)) return false;
  }
  return true;
}

/// What every function of numbers takes beside Raggeds, whatever the shape of these.
bool is_plain_option(PyObject* object) noexcept {
  return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) ||
         PyFloat_CheckExact(object) || PyUnicode_CheckExact(object);
}

/// Whether an option is a mean over a batch, which a loss takes of the sequences.
bool counts_batch(PyObject* option) noexcept {
  return PyUnicode_CheckExact(option) && PyUnicode_CompareWithASCIIString(option, "batchmean") == 0;
}

/// Whether the axes of the first Ragged's values are as a rule says.
bool has_axes(const Rule& rule, PyObject* args, PyObject* values) {
  long min_axes = rule.min_axes;
  if (min_axes < 0) {
    PyObject* const shape = PyTuple_GET_SIZE(args) > 1 ? PyTuple_GET_ITEM(args, 1) : Py_None;
    if (PyLong_CheckExact(shape)) {
      min_axes = 2;
    } else if (PyTuple_Check(shape) || PyList_Check(shape)) {
      min_axes = 1 + static_cast<long>(PySequence_Fast_GET_SIZE(shape));
    } else {
      return false;
    }
  }
  if (min_axes == 1 && rule.max_axes == kMostTensorAxes) return true;
  const long axes = axes_of_tensor(values);
  return min_axes <= axes && axes <= rule.max_axes;
}

/// Whether an argument, beside or behind the first Ragged, is one that a rule speaks of.
bool fits(const Rule& rule, PyObject* first, PyObject* argument, Py_ssize_t place) {
  if (!is_ragged(argument)) return rule.count == 0 ? is_plain_option(argument) : place >= rule.count;
  if (rule.count != 0 && place >= rule.count) return false;
  return holds_tensor(argument) && Py_IS_TYPE(argument, Py_TYPE(first)) && share_levels(argument, first) &&
         (rule.count != 0 ||
          axes_of_tensor(ragged_parts(argument).values) == axes_of_tensor(ragged_parts(first).values));
}

/// The arguments with values in the place of Raggeds; null where the rule says nothing of them.
py::object values_in(const Rule& rule, PyObject* args, PyObject* kwargs) {
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  PyObject* const first = count > 0 ? PyTuple_GET_ITEM(args, 0) : Py_None;
  if (count < rule.count || !is_ragged(first) || !holds_tensor(first)) return {};
  if (rule.count != 0 && !has_axes(rule, args, ragged_parts(first).values)) return {};
  auto result = py::reinterpret_steal<py::object>(PyTuple_New(count));
  if (!result) throw py::error_already_set();
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const argument = PyTuple_GET_ITEM(args, i);
    if (i > 0 && !fits(rule, first, argument, i)) return {};
    PyTuple_SET_ITEM(result.ptr(), i,
                     Py_NewRef(is_ragged(argument) ? ragged_parts(argument).values : argument));
  }
  if (kwargs != nullptr) {
    Py_ssize_t place = 0;
    PyObject* option = nullptr;
    while (PyDict_Next(kwargs, &place, nullptr, &option) != 0) {
      if (rule.count == 0 ? !is_plain_option(option) : is_ragged(option) || counts_batch(option)) return {};
    }
  }
  return result;
}

PyObject* on_values(PyObject*, PyObject* const* args, Py_ssize_t count) noexcept {
  return guard([&] {
    if (count != 4 || !PyDict_CheckExact(args[0]) || !PyTuple_CheckExact(args[2]))
      raise_type("on_values", "expected rules, a function, its arguments and those by keyword");
    PyObject* const kwargs = args[3] != Py_None && PyDict_CheckExact(args[3]) ? args[3] : nullptr;
    PyObject* const entry = PyDict_GetItemWithError(args[0], args[1]);
    if (entry == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (entry == nullptr) return Py_NewRef(Py_NotImplemented);
    const Rule rule = read_rule(entry);
    const py::object inputs = values_in(rule, args[2], kwargs);
    if (!inputs) return Py_NewRef(Py_NotImplemented);
    PyObject* const first = PyTuple_GET_ITEM(args[2], 0);
    auto levels = py::reinterpret_borrow<py::object>(ragged_parts(first).levels);
    auto rows = py::reinterpret_steal<py::object>(PyObject_Call(args[1], inputs.ptr(), kwargs));
    if (!rows) throw py::error_already_set();
    // A loss of all rows is a number; one of each row has their axis.
    if (rule.count > 1 && axes_of_tensor(rows.ptr()) == 0) return rows.release().ptr();
    return make_ragged(Py_TYPE(first), std::move(rows), std::move(levels));
  });
}

PyMethodDef value_methods[] = {
    {"on_values", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&on_values)), METH_FASTCALL,
     "on_values(rules, function, args, kwargs)\n--\n\n"
     "The function of the values of Raggeds of tensors, under the levels that they share; a result without "
     "axes as it is. NotImplemented, before the call, where no rule (count, min_axes, max_axes) of the "
     "function "
     "takes the arguments. A count of 0: any Raggeds alike and numbers. Others: so many Raggeds come first, "
     "with values of min_axes to max_axes axes; min_axes is -1 where the shape of a row comes next."},
    {},
};

}  // namespace

void add_on_values(const py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), value_methods) < 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
