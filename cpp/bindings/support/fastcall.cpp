#include "fastcall.hpp"

#include "ndarray.hpp"
#include "raise.hpp"

namespace varlen::bindings {

namespace {

/// The number and whether it fits: below and above are -1 and 1.
std::int64_t whole_of(const py::object& index, int& overflow) {
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (value == -1 && overflow == 0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return value;
}

py::object index_of(PyObject* object, const char* argument) {
  const auto refuse = [&] { raise_type(argument, "expected an integer, got " + type_name(object)); };
  if (!is_integer(object)) refuse();
  auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object));
  if (!index && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {  // an array of floats, or of several numbers
    PyErr_Clear();
    refuse();
  }
  if (!index) throw py::error_already_set();
  return index;
}

}  // namespace

bool is_integer(PyObject* object) {
  if (PyLong_Check(object)) return !PyBool_Check(object);
  // NumPy 2.0 still takes its bools for indices, with a warning.
  static PyObject* const numpy_bool = py::object(py::dtype::of<bool>().attr("type")).release().ptr();
  return PyIndex_Check(object) && reinterpret_cast<PyObject*>(Py_TYPE(object)) != numpy_bool;
}

std::int64_t int_of(PyObject* object, const char* argument) {
  int overflow = 0;
  const std::int64_t value = whole_of(index_of(object, argument), overflow);
  if (overflow != 0) {
    const std::string text = py::str(index_of(object, argument));
    raise_overflow(argument, text + " does not fit 64 bits");
  }
  return value;
}

double number_of(PyObject* object, const char* argument) {
  if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object);
  refuse_gradient(object, argument);
  const double number = PyFloat_AsDouble(object);
  if (PyErr_Occurred() != nullptr) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError) == 0) {
      PyErr_Clear();
      raise_type(argument, "expected a number, got " + type_name(object));
    }
    PyErr_Clear();
    raise_overflow(argument, std::string(py::str(object)) + " does not fit float64");
  }
  return number;
}

void refuse_gradient(py::handle object, const char* argument) {
  if (PyLong_Check(object.ptr()) || !py::hasattr(object, "requires_grad")) return;
  const py::object flag = object.attr("requires_grad");
  if (flag.ptr() == Py_True) {
    raise_value(argument, "a tensor that requires gradients, which would be lost here; pass tensor.detach()");
  }
}

std::int64_t place_of(PyObject* object, const char* argument) {
  int overflow = 0;
  const py::object index = index_of(object, argument);
  const std::int64_t value = whole_of(index, overflow);
  if (overflow != 0) raise_index("index " + std::string(py::str(index)) + " is out of range");
  return value;
}

bool truth_of(PyObject* object, const char* argument) {
  const int truth = PyObject_IsTrue(object);
  if (truth < 0) {  // an array of several bools
    PyErr_Clear();
    raise_type(argument, "expected True or False, got " + type_name(object));
  }
  return truth != 0;
}

}  // namespace varlen::bindings
