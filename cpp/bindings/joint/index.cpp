// Views by index: which steps an index of Python's means.
#include "support/index.hpp"

#include "joint.hpp"
#include "support/fastcall.hpp"

namespace varlen::bindings {

namespace joint_index {

bool is_int(PyObject* object) {
  return PyLong_CheckExact(object) || (is_integer(object) && !py::isinstance<py::array>(object));
}

bool is_plain_slice(PyObject* object, std::int64_t& begin, std::int64_t& end) {
  if (!PySlice_Check(object)) return false;
  const Slice slice = slice_of(object);
  begin = slice.start;
  end = slice.stop;
  return slice.step == 1;
}

}  // namespace joint_index

bool narrow(Joint& view, PyObject* index) {
  PyObject* const* items = &index;
  Py_ssize_t n = 1;
  if (PyTuple_Check(index)) {
    items = reinterpret_cast<PyTupleObject*>(index)->ob_item;
    n = PyTuple_GET_SIZE(index);
  }
  if (n > view.depth() + 1) return false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* item = items[k];
    std::int64_t begin = 0;
    std::int64_t end = 0;
    if (joint_index::is_int(item)) {
      view.drop(place_of(item, "index"), k);
    } else if (k + 1 == n && joint_index::is_plain_slice(item, begin, end)) {
      view.cut(begin, end);
    } else {
      return false;
    }
  }
  view.settle();
  return true;
}

}  // namespace varlen::bindings
