// `_core.RaggedBase`: what Ragged stands on. Values, levels, and what is done once a row, without a frame of
// Python: r[i], r[a:b], len(r), and making one of parts.
#include "ragged.hpp"

#include <pybind11/pybind11.h>
#include <structmember.h>  // needs Python's header, which is the first of pybind11's

#include <cstddef>
#include <utility>

#include "gather/gather.hpp"
#include "rooms.hpp"
#include "support/fastcall.hpp"
#include "support/hooks.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"
#include "tensor/tensor.hpp"

namespace varlen::bindings {

namespace {

/// The values as an array: themselves, or over the memory of a tensor, which the tensor's library cuts where
/// rows are shared, so that whoever follows it sees that. Rows that are copied are those of tensors that
/// nobody follows. Null where there are none such, or no levels.
py::object array_in(PyObject* self, bool is_shared) {
  const auto& [head, values, levels] = ragged_parts(self);
  if (values == nullptr || levels == nullptr) return {};
  if (py::isinstance<py::array>(values)) return py::reinterpret_borrow<py::object>(values);
  if (!is_tensor(values) || (!is_shared && !is_plain_tensor(values))) return {};
  return array_over(values);
}

/// Whether a slice takes sequences as they lie, one after another.
bool is_run(PyObject* key) noexcept {
  if (!PySlice_Check(key)) return false;
  PyObject* const step = reinterpret_cast<PySliceObject*>(key)->step;
  int overflow = 0;
  return step == Py_None || (PyLong_CheckExact(step) && PyLong_AsLongAndOverflow(step, &overflow) == 1);
}

/// What was picked, of the kind of the values, and of the type of `self` where levels are left.
PyObject* picked_of(PyObject* self, Nested&& selection) {
  py::object values = export_result(std::move(selection.values));
  if (is_tensor(ragged_parts(self).values)) values = tensor_over(py::reinterpret_borrow<py::array>(values));
  if (selection.levels.empty()) return values.release().ptr();
  return make_ragged(Py_TYPE(self), std::move(values), selection.nesting());
}

PyObject* row(PyObject* self, const py::object& rows, std::int64_t i) {
  return picked_of(self, gather_row(Nested(rows.ptr(), ragged_parts(self).levels), i));
}

/// A row of integers or bools, of NumPy's own type.
bool is_index_array(PyObject* key) {
  const Api& api = Api::get();
  if (Py_TYPE(key) != api.PyArray_Type_ || fields_of(key)->nd != 1) return false;
  const char kind = py::detail::array_descriptor_proxy(fields_of(key)->descr)->kind;
  return kind == 'i' || kind == 'u' || kind == 'b';
}

PyObject* by_python(PyObject* self, PyObject* key) {
  static PyObject* const name = PyUnicode_InternFromString("_get");
  return PyObject_CallMethodOneArg(self, name, key);
}

PyObject* subscript(PyObject* self, PyObject* key) noexcept {
  return guard([&] {
    const bool is_int = PyLong_CheckExact(key) != 0;
    const py::object list = PyList_CheckExact(key) ? row_of_ints(key) : py::object();
    const bool is_known = is_int || PySlice_Check(key) || list || is_index_array(key);
    const py::object rows = is_known ? array_in(self, is_int || is_run(key)) : py::object();
    if (!rows) return by_python(self, key);
    if (is_int) return row(self, rows, place_of(key, "index"));
    return picked_of(self, gather(Nested(rows.ptr(), ragged_parts(self).levels), list ? list.ptr() : key));
  });
}

/// What reversed() asks for.
PyObject* item(PyObject* self, Py_ssize_t i) noexcept {
  return guard([&] {
    const py::object rows = array_in(self, true);
    return rows ? row(self, rows, i) : by_python(self, py::int_(i).ptr());
  });
}

Py_ssize_t length(PyObject* self) noexcept {
  PyObject* const levels = ragged_parts(self).levels;
  if (levels == nullptr || !PyTuple_Check(levels) || PyTuple_GET_SIZE(levels) == 0) {
    PyErr_SetString(PyExc_AttributeError, "_levels");
    return -1;
  }
  if (!LevelRef::is_level(PyTuple_GET_ITEM(levels, 0))) {
    PyErr_SetString(PyExc_TypeError,
                    "len: the number of sequences does not show in a graph in the making; write r.shape[0]");
    return -1;
  }
  return LevelRef::unwrap(PyTuple_GET_ITEM(levels, 0)).count();
}

PyObject* make_of(PyObject* type, PyObject* const* args, Py_ssize_t count) noexcept {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "_make: expected values and levels");
    return nullptr;
  }
  return guard([&] {
    return make_ragged(reinterpret_cast<PyTypeObject*>(type), py::reinterpret_borrow<py::object>(args[0]),
                       py::reinterpret_borrow<py::object>(args[1]));
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(ragged_parts(self).values);
  Py_VISIT(ragged_parts(self).levels);
  return 0;
}

int clear(PyObject* self) noexcept {
  Py_CLEAR(ragged_parts(self).values);
  Py_CLEAR(ragged_parts(self).levels);
  return 0;
}

void destroy(PyObject* self) noexcept {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// What a tracer reads of a subscript and of len(), which it cannot follow into C: functions of Python beside
/// the slots. They stand in the table of the base class alone, and no slot leads to them.
struct TraceMethods {
  PyTypeObject* base = nullptr;
  PyObject *getitem = nullptr, *length = nullptr;
};
TraceMethods trace_methods;

/// The slots of C for a class that inherits those functions: Python gave it slots that look for them.
void inherit_slots(PyTypeObject* type) {
  const auto inherits = [&](const char* name, PyObject* function) {
    const auto attribute =
        py::reinterpret_steal<py::object>(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), name));
    if (!attribute) throw py::error_already_set();
    return function != nullptr && attribute.ptr() == function;
  };
  if (inherits("__getitem__", trace_methods.getitem)) {
    type->tp_as_mapping->mp_subscript = trace_methods.base->tp_as_mapping->mp_subscript;
    type->tp_as_sequence->sq_item = trace_methods.base->tp_as_sequence->sq_item;
  }
  if (inherits("__len__", trace_methods.length)) {
    type->tp_as_mapping->mp_length = trace_methods.base->tp_as_mapping->mp_length;
    type->tp_as_sequence->sq_length = trace_methods.base->tp_as_sequence->sq_length;
  }
}

PyObject* init_subclass(PyObject* type, PyObject* args, PyObject* kwargs) noexcept {
  return guard([&]() -> PyObject* {
    const auto parent = py::reinterpret_steal<py::object>(
        PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PySuper_Type),
                                     reinterpret_cast<PyObject*>(trace_methods.base), type, nullptr));
    if (!parent) throw py::error_already_set();
    const py::object next = parent.attr("__init_subclass__");
    const auto result = py::reinterpret_steal<py::object>(PyObject_Call(next.ptr(), args, kwargs));
    if (!result) throw py::error_already_set();
    inherit_slots(reinterpret_cast<PyTypeObject*>(type));
    return py::none().release().ptr();
  });
}

/// Functions that a tracer reads in the place of slots: they stand in the class, which keeps its slots.
void take_traced(PyObject*& slot, const char* name, PyObject* function) {
  if (function == nullptr) raise_type(name, "expected a function");
  if (PyDict_SetItemString(trace_methods.base->tp_dict, name, function) != 0) throw py::error_already_set();
  slot = function;
  PyType_Modified(trace_methods.base);
}
void take_traced_getitem(PyObject* function) {
  take_traced(trace_methods.getitem, "__getitem__", function);
}
void take_traced_len(PyObject* function) {
  take_traced(trace_methods.length, "__len__", function);
}

PyMemberDef members[] = {
    {"_values", T_OBJECT_EX, offsetof(RaggedObject, values), 0, nullptr},
    {"_levels", T_OBJECT_EX, offsetof(RaggedObject, levels), 0, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyMethodDef ragged_methods[] = {
    {"_make", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(make_of)),
     METH_FASTCALL | METH_CLASS, "_make(values, levels)\n\nOf parts that are known to fit."},
    {"__init_subclass__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(init_subclass)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, "Subclasses subscript as fast as their base."},
    {"__class_getitem__", Py_GenericAlias, METH_O | METH_CLASS, "The class, said to hold one kind of array."},
    {nullptr, nullptr, 0, nullptr},
};

constexpr const char* GETITEM_DOC =
    R"(__getitem__($self, key, /)
--

Sequences, and what lies in them, by NumPy's rules on the first axis.

Parameters
----------
key : int, slice, integers, bools, Ragged, Ellipsis, None or tuple
    An int picks one sequence, negative ones count from the end. A slice, a list or array of integers, or a
    mask of bools, (n,), picks several. A Ragged of bools keeps what it marks, as `boolean_mask`; one of
    integers picks from each sequence, as `gather`. A tuple says one key for each axis: behind the first, a
    ragged axis takes an int, a slice or integers, which are applied inside every sequence; the axes of a row
    take what arrays take. Two arrays of integers name items by pairs, as in NumPy. None is an axis of length 1.

Returns
-------
array, tensor or Ragged
    One sequence: its rows (length, ...), or a Ragged of a level fewer where there are several levels.
    Several: a container of the same class. `r[:, k]` is element k of every sequence, `r[:, [0, 1]]` an array
    of two. An int and a slice of step 1 share memory with `r`, all other keys copy.

Raises
------
IndexError
    A number beyond the sequences or beyond one of them, more keys than axes, a key that is ambiguous.

Examples
--------
>>> r = vl.Ragged([3, 1, 4, 1, 5], lengths=[3, 0, 2])
>>> r[0], r[-1]
(array([3, 1, 4]), array([1, 5]))
>>> r[1:].to_list(), r[[2, 0]].to_list(), r[r.lengths > 0].to_list()
([[], [1, 5]], [[1, 5], [3, 1, 4]], [[3, 1, 4], [1, 5]])
>>> r[r > 1].to_list(), r[r.argsort()].to_list(), r[[0, 2], [1, -1]]
([[3, 4], [], [5]], [[1, 3, 4], [], [1, 5]], array([1, 5]))
>>> r[:, :2].to_list(), r[::2, 0], r[0, 1]
([[3, 1], [], [1, 5]], array([3, 1]), np.int64(1)))";

/// Says in help() what r[key] means. The method that Python makes of a slot has a text of its own; one of the
/// same slot and another text takes its place. A method proper would take every r[i] through a lookup.
void document_subscript(PyTypeObject* type) {
  PyObject* const methods = type->tp_dict;
  PyObject* const descriptor = PyDict_GetItemString(methods, "__getitem__");
  if (descriptor == nullptr || !Py_IS_TYPE(descriptor, &PyWrapperDescr_Type)) return;
  const auto* const slot = reinterpret_cast<const PyWrapperDescrObject*>(descriptor);
  static wrapperbase wrapper;  // the method points to it
  wrapper = *slot->d_base;
  wrapper.doc = GETITEM_DOC;
  const auto method = py::reinterpret_steal<py::object>(PyDescr_NewWrapper(type, &wrapper, slot->d_wrapped));
  if (!method || PyDict_SetItemString(methods, "__getitem__", method.ptr()) != 0)
    throw py::error_already_set();
  PyType_Modified(type);
}

}  // namespace

bool is_ragged(PyObject* object) noexcept {
  return PyObject_TypeCheck(object, trace_methods.base) != 0;
}

PyObject* make_ragged(PyTypeObject* type, py::object values, py::object levels) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) throw py::error_already_set();
  ragged_parts(self).values = values.release().ptr();
  ragged_parts(self).levels = levels.release().ptr();
  return self;
}

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
  document_subscript(reinterpret_cast<PyTypeObject*>(type.ptr()));
  m.attr("RaggedBase") = type;
  trace_methods.base = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
  hooks().traced_getitem.take = &take_traced_getitem;
  hooks().traced_len.take = &take_traced_len;
  add_on_values(m);
}

}  // namespace varlen::bindings
