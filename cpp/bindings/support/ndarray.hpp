// The one door to NumPy: ndarray objects field by field, where the checks of py::array would cost more than
// the work itself.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "varlen/numbers.hpp"

namespace varlen::bindings {

namespace py = pybind11;

using Api = py::detail::npy_api;

/// The fields of an ndarray; `object` must be one.
inline const py::detail::PyArray_Proxy* fields_of(PyObject* object) noexcept {
  return py::detail::array_proxy(object);
}

inline bool is_array(PyObject* object, const Api& api) noexcept {
  return Py_TYPE(object) == api.PyArray_Type_ || PyType_IsSubtype(Py_TYPE(object), api.PyArray_Type_) != 0;
}

/// Uninitialised (or on `data`, which `base` owns), of the given descr, C-contiguous where strides is
/// nullptr.
py::array make_array(PyObject* descr, int nd, const Py_intptr_t* shape, const Py_intptr_t* strides = nullptr,
                     void* data = nullptr, PyObject* base = nullptr);

/// The plain number that a dtype is, native byte order; nothing for other dtypes.
std::optional<Number> number_of(PyObject* descr) noexcept;

/// The dtype of a plain number.
py::dtype dtype_of(Number number);

/// Numbers whose bytes are in the other order than this machine's.
inline bool is_swapped(PyObject* descr) noexcept {
  const char order = py::detail::array_descriptor_proxy(descr)->byteorder;
  return order == '<' || order == '>';  // native order is '='
}

/// Holds Python objects, or records that do.
bool holds_objects(PyObject* descr) noexcept;

/// TypeError for a dtype that was asked for and that holds objects: nothing here counts references.
void refuse_objects(PyObject* descr, const std::string& argument);

/// Whether an array has no mask that would be lost. Arrays of NumPy's own type cost one comparison.
bool is_plain(PyObject* array);

/// TypeError for a masked array.
void refuse_masked(PyObject* array, std::string_view argument);

/// numpy.<name>, looked up once a call: for slow paths.
py::object numpy(const char* name);

}  // namespace varlen::bindings
