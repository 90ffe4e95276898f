#include "fastcall.hpp"

#include "raise.hpp"

namespace varlen::bindings {

std::int64_t int_of(PyObject* object, const char* argument) {
  if (!PyIndex_Check(object)) {
    raise_type(std::string(argument) + ": expected an integer, got " + type_name(object));
  }
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object));
  if (!index) throw py::error_already_set();
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0) raise_overflow(std::string(argument) + ": does not fit 64 bits");
  return value;
}

bool truth_of(PyObject* object) {
  const int truth = PyObject_IsTrue(object);
  if (truth < 0) throw py::error_already_set();
  return truth != 0;
}

}  // namespace varlen::bindings
