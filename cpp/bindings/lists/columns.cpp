// Dicts with the same keys in the same order to the values of each key: as a list, or read already.
#include <vector>

#include "errors.hpp"
#include "fill.hpp"
#include "lists.hpp"
#include "request.hpp"
#include "support/fastcall.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// Whether a key is the text `name`. No Python code runs.
bool is_text(PyObject* key, PyObject* name) noexcept {
  return key == name || (PyUnicode_CheckExact(key) && PyUnicode_Compare(key, name) == 0);
}

/// The values of one dict, as item `i` of each list; false where its keys are others, or in another order.
bool put(PyObject* dict, const std::vector<PyObject*>& keys, const std::vector<PyObject*>& lists,
         Py_ssize_t i) noexcept {
  if (!PyDict_CheckExact(dict) || PyDict_GET_SIZE(dict) != static_cast<Py_ssize_t>(keys.size())) return false;
  Py_ssize_t cursor = 0;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (PyDict_Next(dict, &cursor, &key, &value) == 0 || !is_text(key, keys[k])) return false;
    Py_INCREF(value);
    PyList_SET_ITEM(lists[k], i, value);
  }
  return true;
}

/// The same of the values of some keys, wherever they are among others.
bool put_some(PyObject* dict, const std::vector<PyObject*>& keys, const std::vector<PyObject*>& lists,
              Py_ssize_t i) {
  if (!PyDict_CheckExact(dict)) return false;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    PyObject* const value = PyDict_GetItemWithError(dict, keys[k]);
    if (value == nullptr) {
      if (PyErr_Occurred() != nullptr) throw py::error_already_set();
      return false;
    }
    Py_INCREF(value);
    PyList_SET_ITEM(lists[k], i, value);
  }
  return true;
}

/// Whether lists begin with a number of Python's, which says that they are to be read.
bool begins_with_number(PyObject* object) noexcept {
  for (int depth = 0; PyList_CheckExact(object); ++depth) {
    if (depth > kMaxDepth) return false;  // deeper than lists may be, or one that contains itself
    PyObject* next = nullptr;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(object) && next == nullptr; ++i) {
      PyObject* const item = PyList_GET_ITEM(object, i);
      if (!PyList_CheckExact(item) || PyList_GET_SIZE(item) > 0) next = item;
    }
    if (next == nullptr) return false;
    object = next;
  }
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object);
}

/// Lists of numbers as values and levels; null for all else, and for what an error is to be said of.
py::object read(PyObject* list) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    if (!PyList_CheckExact(PyList_GET_ITEM(list, i))) return {};
  }
  if (!begins_with_number(list)) return {};
  try {
    return read_lists(list, -1, Request{});
  } catch (const NeedsPython&) {
    return {};
  } catch (const py::builtin_exception&) {
    return {};
  } catch (const py::error_already_set& error) {
    const bool is_of_lists = error.matches(PyExc_ValueError) || error.matches(PyExc_TypeError) ||
                             error.matches(PyExc_OverflowError);
    if (!is_of_lists) throw;
    return {};
  }
}

constexpr Signature<3> kColumns{"columns", {"samples", "read", "keys"}, 1, 3};

py::object columns(const Arguments<3>& args) {
  PyObject* const samples = args[0];
  if (!PyList_CheckExact(samples)) raise_type("samples", "expected a list, got " + type_name(samples));
  const bool has_keys = is_given(args[2]);
  const Py_ssize_t count = PyList_GET_SIZE(samples);
  if (count == 0 || !PyDict_CheckExact(PyList_GET_ITEM(samples, 0))) return py::none();
  const py::list key_list(has_keys ? py::reinterpret_borrow<py::object>(args[2])
                                   : py::reinterpret_borrow<py::object>(PyList_GET_ITEM(samples, 0)));
  py::dict out;
  std::vector<PyObject*> keys;
  std::vector<PyObject*> lists;
  for (const py::handle key : key_list) {
    if (!PyUnicode_CheckExact(key.ptr()) || out.contains(key)) return py::none();
    const py::object list = new_list(count);
    keys.push_back(key.ptr());
    lists.push_back(list.ptr());
    out[key] = list;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyList_GET_SIZE(samples) != count) return py::none();  // keys of other kinds may run Python code
    const auto sample = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(samples, i));
    if (!(has_keys ? put_some(sample.ptr(), keys, lists, i) : put(sample.ptr(), keys, lists, i)))
      return py::none();
  }
  if (args[1] == nullptr || !truth_of(args[1], "read")) return out;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (const py::object column = read(lists[k])) out[py::handle(keys[k])] = column;
  }
  return out;
}

PyMethodDef lists_columns_methods[] = {
    method<kColumns, columns>("columns(samples, read=False, keys=None)\n--\n\n"
                              "The values of dicts by their keys, or by some; None where one lacks a key, "
                              "where their keys are not\n"
                              "the same texts in the same order and none are named, or where one is no dict. "
                              "With read, values that\n"
                              "are lists of numbers as from_lists gives them."),
    {},
};

}  // namespace

void add_list_columns(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), lists_columns_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
