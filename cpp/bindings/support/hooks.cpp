#include "hooks.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "raise.hpp"

namespace varlen::bindings {

Hooks& hooks() {
  static auto* const instance = new Hooks;  // no destructor asks an interpreter that is gone
  return *instance;
}

py::handle Hook::get() {
  if (object_ == nullptr) {
    Hook& find = hooks().find;
    if (find.peek() == nullptr) throw std::runtime_error(std::string(name_) + ": nobody registered it");
    set(py::handle(find.peek())(name_));
  }
  return object_;
}

void Hook::set(const py::object& value) {
  PyObject* const object = value.is_none() ? nullptr : value.ptr();
  if (take != nullptr) take(object);
  Py_XINCREF(object);
  Py_XDECREF(std::exchange(object_, object));
}

namespace {

Hook& hook_named(const std::string& name) {
  const auto& all = hooks().all;
  const auto match =
      std::find_if(all.begin(), all.end(), [&](const Hook* hook) { return hook->name() == name; });
  if (match == all.end()) raise_type("register", "there is no hook called '" + name + "'");
  return **match;
}

void register_hooks(const py::kwargs& value) {
  for (const auto& [name, object] : value) hook_named(name.cast<std::string>());
  for (const auto& [name, object] : value) {
    hook_named(name.cast<std::string>()).set(py::reinterpret_borrow<py::object>(object));
  }
}

}  // namespace

void bind_hooks(py::module_& m) {
  m.def("register", &register_hooks,
        "register(**hooks)\n--\n\nWhat the core asks of Python, by the names of its hooks; None takes one "
        "away.");
}

}  // namespace varlen::bindings
