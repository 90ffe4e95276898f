#include "followers.hpp"

#include <array>
#include <cstddef>

#include "support/raise.hpp"
#include "tensor.hpp"

namespace varlen::bindings {

namespace {

constexpr std::size_t kMostModes = 4;

/// What the library of tensors was asked to be asked; what it holds lives for ever.
struct Followers {
  std::array<PyObject*, kMostModes> modes{};
  std::size_t count = 0;
  PyObject* transforms = nullptr;
  PyObject* grad_enabled = nullptr;
  PyObject* forward_ad = nullptr;  ///< the dictionary of the module
};

Followers& followers() noexcept {
  static Followers known;
  return known;
}

/// Whether a function without arguments says True, or counts more than none.
bool says_some(PyObject* function) {
  const auto said = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(function));
  if (!said) throw py::error_already_set();
  if (PyBool_Check(said.ptr())) return said.ptr() == Py_True;
  const int some = PyObject_IsTrue(said.ptr());
  if (some < 0) throw py::error_already_set();
  return some == 1;
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
  const Followers& known = followers();
  if (known.forward_ad != nullptr && derives_ahead(known.forward_ad)) return true;
  for (std::size_t k = 0; k < known.count; ++k) {
    if (says_some(known.modes[k])) return true;
  }
  return false;
}

bool wants_gradient(PyObject* tensor) {
  static PyObject* const name = PyUnicode_InternFromString("requires_grad");
  const auto answer = py::reinterpret_steal<py::object>(PyObject_GetAttr(tensor, name));
  if (!answer) throw py::error_already_set();
  if (answer.ptr() == Py_False) return false;
  const Followers& known = followers();
  return known.grad_enabled == nullptr || says_some(known.grad_enabled);
}

bool is_plain_tensor(PyObject* object) {
  if (!is_tensor(object) || wants_gradient(object) || calls_are_followed()) return false;
  PyObject* const transforms = followers().transforms;
  return transforms == nullptr || !says_some(transforms);
}

void know_followers(const py::tuple& modes, py::object transforms, py::object grad_enabled,
                    py::object forward_ad) {
  if (modes.size() > kMostModes) raise_value("modes", "expected at most 4");
  if (!PyModule_Check(forward_ad.ptr())) raise_type("forward_ad", "expected a module");
  Followers& known = followers();
  known.count = 0;
  for (const py::handle mode : modes) known.modes[known.count++] = Py_NewRef(mode.ptr());
  known.transforms = transforms.release().ptr();
  known.grad_enabled = grad_enabled.release().ptr();
  known.forward_ad = Py_NewRef(PyModule_GetDict(forward_ad.ptr()));
}

}  // namespace varlen::bindings
