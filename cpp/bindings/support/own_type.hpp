// Python types of our own making: one object costs a tenth of what an instance of a pybind11 class does.
// Hot methods are plain C functions in the slots; the rest is attached as pybind11 functions.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "fastcall.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// The object that holds a T, and its type. T is moved in, and dies with the object.
template <class T>
struct Own {
  PyObject_HEAD T value;

  static inline PyTypeObject* type = nullptr;  // made once, lives for ever
  static inline PyObject* maker = nullptr;     // what calling the type does

  static T& unwrap(PyObject* self) noexcept { return reinterpret_cast<Own*>(self)->value; }
  static bool is(PyObject* object) noexcept { return Py_IS_TYPE(object, type); }

  static PyObject* create(T&& value) {
    PyObject* self = type->tp_alloc(type, 0);
    if (self == nullptr) throw py::error_already_set();
    new (&unwrap(self)) T(std::move(value));
    return self;
  }

  /// `name` is "varlen._core.X"; make is called with what the type is called with.
  static py::handle make(py::module_& m, const char* name, const char* doc, py::object made_by,
                         std::vector<PyType_Slot> slots) {
    slots.push_back({Py_tp_doc, const_cast<char*>(doc)});
    slots.push_back({Py_tp_new, reinterpret_cast<void*>(&construct)});
    slots.push_back({Py_tp_dealloc, reinterpret_cast<void*>(&destroy)});
    slots.push_back({0, nullptr});
    PyType_Spec spec{name, static_cast<int>(sizeof(Own)), 0, Py_TPFLAGS_DEFAULT, slots.data()};
    type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (type == nullptr) throw py::error_already_set();
    maker = made_by.release().ptr();
    const py::handle result(reinterpret_cast<PyObject*>(type));
    m.attr(result.attr("__name__")) = result;
    return result;
  }

  /// A property of PyGetSetDef: body(T&) gives an object or an integer.
  template <auto body>
  static PyObject* get(PyObject* self, void*) noexcept {
    return guard([&] { return as_object(body(unwrap(self))).release().ptr(); });
  }

 private:
  static py::object as_object(py::object value) { return value; }
  static py::object as_object(std::int64_t value) { return py::int_(value); }

  static PyObject* construct(PyTypeObject*, PyObject* args, PyObject* keywords) noexcept {
    return PyObject_Call(maker, args, keywords);
  }

  static void destroy(PyObject* self) noexcept {
    PyTypeObject* own = Py_TYPE(self);
    unwrap(self).~T();
    own->tp_free(self);
    Py_DECREF(own);
  }
};

/// Attaches pybind11 functions to a type that is not pybind11's.
class Attach {
 public:
  explicit Attach(py::handle type) : type_(type) {}

  template <class F, class... Extra>
  Attach& def(const char* name, F&& body, const Extra&... extra) {
    return set(name, py::cpp_function(std::forward<F>(body), py::name(name), py::is_method(type_), extra...));
  }
  template <class F>
  Attach& property(const char* name, F&& body, const char* doc) {
    const py::cpp_function getter(std::forward<F>(body), py::name(name), py::is_method(type_));
    return set(name, py::module_::import("builtins").attr("property")(getter, py::none(), py::none(), doc));
  }
  template <class F, class... Extra>
  Attach& def_static(const char* name, F&& body, const Extra&... extra) {
    const py::cpp_function function(std::forward<F>(body), py::name(name), py::scope(type_), extra...);
    return set(name, py::staticmethod(function));
  }

 private:
  Attach& set(const char* name, const py::object& value) {
    py::setattr(type_, name, value);
    return *this;
  }
  py::handle type_;
};

}  // namespace varlen::bindings
