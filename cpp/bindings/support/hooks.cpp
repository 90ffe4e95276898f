#include "hooks.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "raise.hpp"

namespace varlen::bindings {

Hooks& hooks() {
  static auto* const known = new Hooks;  // no destructor asks an interpreter that is gone
  return *known;
}

py::handle Hook::get() {
  if (object_ == nullptr) {
    Hook& find = hooks().find;
    if (find.known() == nullptr) throw std::runtime_error(std::string(name_) + ": nobody registered it");
    set(py::handle(find.known())(name_));
  }
  return object_;
}

void Hook::set(const py::object& given) {
  PyObject* const object = given.is_none() ? nullptr : given.ptr();
  if (take != nullptr) take(object);
  Py_XINCREF(object);
  Py_XDECREF(std::exchange(object_, object));
}

namespace {

Hook& hook_named(const std::string& name) {
  const auto& all = hooks().all;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Hook* hook) { return hook->name() == name; });
  if (found == all.end()) raise_type("register", "there is no hook called '" + name + "'");
  return **found;
}

void register_hooks(const py::kwargs& given) {
  for (const auto& [name, object] : given) hook_named(name.cast<std::string>());
  for (const auto& [name, object] : given) {
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
