// The slow path of nested lists: whatever needs Python is called here once, into lists that nobody else has.
#include <cmath>

#include "shape.hpp"
#include "support/arrays.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

PyTypeObject* generic_type() {
  static PyObject* const type = numpy("generic").release().ptr();  // lives as long as NumPy
  return reinterpret_cast<PyTypeObject*>(type);
}

/// Whether a float is the number that an object made it of, as it is written: of decimals and of fractions.
bool comes_back(PyObject* object, const py::object& value) {
  const auto self = py::reinterpret_borrow<py::object>(object);
  if (std::isnan(PyFloat_AS_DOUBLE(value.ptr()))) return true;
  if (py::hasattr(self, "as_tuple")) return py::type::of(self)(py::repr(value)).equal(self);
  if (!py::hasattr(self, "denominator")) return true;
  if (value.equal(self)) return true;
  const py::object fraction = py::module_::import("fractions").attr("Fraction");
  return std::isfinite(PyFloat_AS_DOUBLE(value.ptr())) && fraction(py::repr(value)).equal(self);
}

py::object number_from(PyObject* object) {
  if (PyIndex_Check(object)) {
    if (auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object))) return index;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    PyErr_Clear();  // a float tensor has __index__ and refuses it
  }
  const PyNumberMethods* slots = Py_TYPE(object)->tp_as_number;
  if (slots != nullptr && slots->nb_float != nullptr) {
    auto value = py::reinterpret_steal<py::object>(PyNumber_Float(object));
    if (!value) throw py::error_already_set();
    return comes_back(object, value) ? value : py::reinterpret_borrow<py::object>(object);
  }
  return py::reinterpret_borrow<py::object>(object);
}

py::object list_of(const py::object& sequence, int depth_left) {
  const py::list items = py::reinterpret_steal<py::list>(PySequence_List(sequence.ptr()));
  if (!items) throw py::error_already_set();
  py::list out(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    PyList_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i),
                    plain_copy(py::object(items[i]).ptr(), depth_left).release().ptr());
  }
  return out;
}

}  // namespace

bool never_a_number(PyObject* object) noexcept {
  return object == Py_None || PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object) ||
         PyDict_Check(object) || PyAnySet_Check(object);
}

bool is_number(PyObject* object) noexcept {
  return PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object) ||
         PyType_IsSubtype(Py_TYPE(object), generic_type()) != 0;
}

py::object plain_copy(PyObject* object, int depth_left) {
  if (depth_left == kMaxDepth + 1) refuse_cycles(object, "values");
  if (depth_left < 0) raise_value("nested deeper than " + std::to_string(kMaxDepth) + " levels");
  auto self = py::reinterpret_borrow<py::object>(object);
  if (is_list(object)) return list_of(self, depth_left - 1);
  if (is_array(object, Api::get())) {
    const bool objects = fields_of(object)->nd > 0 && holds_objects(fields_of(object)->descr);
    return objects ? list_of(self.attr("tolist")(), depth_left - 1) : self;
  }
  if (is_number(object) || never_a_number(object)) return self;
  if (py::hasattr(self, "__array__") || PyObject_CheckBuffer(object) != 0) {
    const py::object array = numpy("asarray")(self);
    return fields_of(array.ptr())->nd == 0 ? py::object(array[py::tuple()])
                                           : plain_copy(array.ptr(), depth_left);
  }
  if (py::hasattr(self, "__dlpack__")) return numpy("from_dlpack")(self);
  if (PySequence_Check(object) != 0) return list_of(self, depth_left - 1);
  return number_from(object);
}

}  // namespace varlen::bindings
