#include "followers.hpp"

#include "support/hooks.hpp"
#include "support/raise.hpp"
#include "tensor.hpp"

namespace varlen::bindings {

namespace {

/// Whether a function without arguments says True, or counts more than none.
bool says_some(PyObject* function) {
  const auto result = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(function));
  if (!result) throw py::error_already_set();
  if (PyBool_Check(result.ptr())) return result.ptr() == Py_True;
  const int truth = PyObject_IsTrue(result.ptr());
  if (truth < 0) throw py::error_already_set();
  return truth == 1;
}

/// The level of derivatives ahead is -1 outside of any.
bool derives_ahead(PyObject* module) {
  static PyObject* const name = PyUnicode_InternFromString("_current_level");
  PyObject* const level = PyDict_GetItemWithError(module, name);
  if (level == nullptr) {
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    return false;
  }
  const long depth = PyLong_AsLong(level);
  if (depth == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return depth >= 0;
}

}  // namespace

bool calls_are_followed() {
  PyObject* const forward_ad = hooks().forward_ad.peek();
  if (forward_ad != nullptr && derives_ahead(PyModule_GetDict(forward_ad))) return true;
  PyObject* const modes = hooks().call_modes.peek();
  for (Py_ssize_t k = 0; modes != nullptr && k < PyTuple_GET_SIZE(modes); ++k) {
    if (says_some(PyTuple_GET_ITEM(modes, k))) return true;
  }
  return false;
}

bool wants_gradient(PyObject* tensor) {
  static PyObject* const name = PyUnicode_InternFromString("requires_grad");
  const auto answer = py::reinterpret_steal<py::object>(PyObject_GetAttr(tensor, name));
  if (!answer) throw py::error_already_set();
  if (answer.ptr() == Py_False) return false;
  PyObject* const is_enabled = hooks().is_grad_enabled.peek();
  return is_enabled == nullptr || says_some(is_enabled);
}

bool is_plain_tensor(PyObject* object) {
  if (!is_tensor(object) || wants_gradient(object) || calls_are_followed()) return false;
  PyObject* const in_transform = hooks().in_transform.peek();
  return in_transform == nullptr || !says_some(in_transform);
}

void take_modes(PyObject* modes) {
  if (modes != nullptr && !PyTuple_Check(modes)) raise_type("call_modes", "expected a tuple of functions");
}

void take_forward_ad(PyObject* module) {
  if (module != nullptr && !PyModule_Check(module)) raise_type("forward_ad", "expected a module");
}

}  // namespace varlen::bindings
