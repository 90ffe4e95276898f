// `_core.RaggedBase`: what Ragged stands on. Values, levels, and what is done once a row, without a frame of
// Python: r[i], r[a:b], len(r), and making one of parts.
#include <pybind11/pybind11.h>
#include <structmember.h>  // needs Python's header, which is the first of pybind11's

#include <cstddef>
#include <utility>

#include "gather/gather.hpp"
#include "rooms.hpp"
#include "support/fastcall.hpp"

namespace varlen::bindings {

namespace {

struct RaggedObject {
  PyObject_HEAD PyObject* values;
  PyObject* levels;
};

RaggedObject& parts(PyObject* self) noexcept {
  return *reinterpret_cast<RaggedObject*>(self);
}

PyObject* make(PyTypeObject* type, py::object values, py::object levels) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) throw py::error_already_set();
  parts(self).values = values.release().ptr();
  parts(self).levels = levels.release().ptr();
  return self;
}

PyObject* make(PyTypeObject* type, Nested&& nested) {
  py::tuple levels = nested.nesting();
  return make(type, std::move(nested.values), std::move(levels));
}

/// Whether both parts are there, and the values are an array.
bool has_array(PyObject* self) {
  const auto& [head, values, levels] = parts(self);
  return values != nullptr && levels != nullptr && py::isinstance<py::array>(values);
}

PyObject* row(PyObject* self, std::int64_t i) {
  Nested picked = gather_row(Nested(parts(self).values, parts(self).levels), i);
  return picked.levels.empty() ? picked.values.release().ptr() : make(Py_TYPE(self), std::move(picked));
}

PyObject* by_python(PyObject* self, PyObject* key) {
  static PyObject* const name = PyUnicode_InternFromString("_get");
  return PyObject_CallMethodOneArg(self, name, key);
}

PyObject* subscript(PyObject* self, PyObject* key) noexcept {
  return guarded([&] {
    if (!has_array(self)) return by_python(self, key);
    if (PyLong_CheckExact(key)) return row(self, place_of(key, "index"));
    if (!PySlice_Check(key)) return by_python(self, key);
    return make(Py_TYPE(self), gather(Nested(parts(self).values, parts(self).levels), key));
  });
}

/// What reversed() asks for.
PyObject* item(PyObject* self, Py_ssize_t i) noexcept {
  return guarded([&] { return has_array(self) ? row(self, i) : by_python(self, py::int_(i).ptr()); });
}

Py_ssize_t length(PyObject* self) noexcept {
  PyObject* const levels = parts(self).levels;
  if (levels == nullptr || !PyTuple_Check(levels) || PyTuple_GET_SIZE(levels) == 0 ||
      !LevelRef::is_level(PyTuple_GET_ITEM(levels, 0))) {
    PyErr_SetString(PyExc_AttributeError, "_levels");
    return -1;
  }
  return LevelRef::in(PyTuple_GET_ITEM(levels, 0)).count();
}

PyObject* make_of(PyObject* type, PyObject* const* args, Py_ssize_t count) noexcept {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "_make: expected values and levels");
    return nullptr;
  }
  return guarded([&] {
    return make(reinterpret_cast<PyTypeObject*>(type), py::reinterpret_borrow<py::object>(args[0]),
                py::reinterpret_borrow<py::object>(args[1]));
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(parts(self).values);
  Py_VISIT(parts(self).levels);
  return 0;
}

int clear(PyObject* self) noexcept {
  Py_CLEAR(parts(self).values);
  Py_CLEAR(parts(self).levels);
  return 0;
}

void destroy(PyObject* self) noexcept {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMemberDef members[] = {
    {"_values", T_OBJECT_EX, offsetof(RaggedObject, values), 0, nullptr},
    {"_levels", T_OBJECT_EX, offsetof(RaggedObject, levels), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyMethodDef ragged_methods[] = {
    {"_make", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(make_of)),
     METH_FASTCALL | METH_CLASS, "_make(values, levels)\n\nOf parts that are known to fit."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void bind_ragged(py::module_& m) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("Values and levels; r[key] asks _get for what is no int and no slice.")},
      {Py_tp_members, members},
      {Py_tp_methods, ragged_methods},
      {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
      {Py_mp_length, reinterpret_cast<void*>(length)},
      {Py_sq_item, reinterpret_cast<void*>(item)},
      {Py_sq_length, reinterpret_cast<void*>(length)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
      {0, nullptr},
  };
  PyType_Spec spec{"varlen._core.RaggedBase", static_cast<int>(sizeof(RaggedObject)), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  const auto type = py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
  if (!type) throw py::error_already_set();
  m.attr("RaggedBase") = type;
}

}  // namespace varlen::bindings
