// Lists of views: rows [begin, end) of an array that they share.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <vector>

#include "support/ndarray.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// An array, of any dtype and strides.
inline PyObject* array_argument(PyObject* values) {
  if (!is_array(values, Api::get())) raise_type("values", "expected an array, got " + type_name(values));
  if (fields_of(values)->nd == 0) raise_value("values", "expected at least one dimension, got a scalar");
  return values;
}

/// To be filled.
inline py::object new_list(std::int64_t size) {
  auto list = py::reinterpret_steal<py::object>(PyList_New(static_cast<Py_ssize_t>(size)));
  if (!list) throw py::error_already_set();
  return list;
}

/// Makes a view of the array that it is made for, which has at least one dimension.
class Views {
 public:
  explicit Views(PyObject* values) : values_(values), array_(fields_of(values)), api_(Api::get()) {
    shape_.assign(array_->dimensions, array_->dimensions + array_->nd);
    contiguous_ = (array_->flags & Api::NPY_ARRAY_C_CONTIGUOUS_) != 0;
    writeable_ = array_->flags & Api::NPY_ARRAY_WRITEABLE_;
  }

  py::object operator()(std::int64_t begin, std::int64_t end) const {
    shape_[0] = static_cast<Py_intptr_t>(end - begin);
    Py_INCREF(array_->descr);
    PyObject* const view = api_.PyArray_NewFromDescr_(
        api_.PyArray_Type_, array_->descr, array_->nd, shape_.data(), contiguous_ ? nullptr : array_->strides,
        array_->data + begin * array_->strides[0], writeable_, nullptr);
    if (view == nullptr) throw py::error_already_set();
    Py_INCREF(values_);
    py::detail::array_proxy(view)->base = values_;
    return py::reinterpret_steal<py::object>(view);
  }

 private:
  PyObject* values_;
  const py::detail::PyArray_Proxy* array_;
  const Api& api_;
  mutable std::vector<Py_intptr_t> shape_;
  bool contiguous_ = false;
  int writeable_ = 0;
};

}  // namespace varlen::bindings
