#include "arrays.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "device.hpp"
#include "dtypes.hpp"
#include "ndarray.hpp"
#include "outputs.hpp"
#include "raise.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

/// What is wrong with numbers that NumPy made objects of.
[[noreturn]] void raise_no_ints(const py::array& array, const std::string& argument) {
  std::int64_t index = 0;
  for (const py::handle item : array.attr("flat")) {
    const std::string place = "position " + std::to_string(index++) + " holds ";
    if (!PyLong_Check(item.ptr()) || PyBool_Check(item.ptr())) {
      raise_type(argument, place + type_name(item) + ", not an integer");
    }
    int overflow = 0;
    (void)PyLong_AsLongLongAndOverflow(item.ptr(), &overflow);
    if (overflow != 0) {
      raise_overflow(argument, place + std::string(py::str(item)) + ", which does not fit 64 bits");
    }
  }
  raise_type(argument, "expected integers, got dtype object");
}

bool is_int64(const py::array& array) {
  return array.dtype().kind() == 'i' && array.itemsize() == 8 && array.dtype().byteorder() == '=';
}

}  // namespace

void refuse_cycles(py::handle nested, std::string_view argument) {
  const auto is_list = [](PyObject* object) { return PyList_Check(object) || PyTuple_Check(object); };
  // Most lists hold numbers: they need not be remembered, which takes longer than to look at them again.
  const auto holds_lists = [&](PyObject* list) {
    PyObject* const* const items = PySequence_Fast_ITEMS(list);
    return std::any_of(items, items + PySequence_Fast_GET_SIZE(list), is_list);
  };
  if (!is_list(nested.ptr())) return;
  struct Step {
    PyObject* list;
    Py_ssize_t next;
  };
  std::vector<Step> path{{nested.ptr(), 0}};
  std::unordered_map<PyObject*, bool> open{{nested.ptr(), true}};  // false: all of it was looked at
  while (!path.empty()) {
    auto& [list, next] = path.back();
    if (next >= PySequence_Fast_GET_SIZE(list)) {
      open[list] = false;
      path.pop_back();
      continue;
    }
    PyObject* const child = PySequence_Fast_ITEMS(list)[next++];
    if (!is_list(child) || !holds_lists(child)) continue;
    const auto [entry, is_new] = open.try_emplace(child, true);
    if (is_new) {
      path.push_back({child, 0});
    } else if (entry->second) {
      std::string place(argument);
      for (const Step& step : path) place.append("[").append(std::to_string(step.next - 1)).append("]");
      raise_value(place, "a list that contains itself");
    }
  }
}

/// The numbers of an array of a device that NumPy does not read: CuPy's `get`, Numba's `copy_to_host`.
py::object brought_to_host(py::handle object) {
  if (!PyList_Check(object.ptr()) && py::hasattr(object, "__cuda_array_interface__")) {
    for (const char* const way : {"get", "copy_to_host"}) {
      if (py::hasattr(object, way)) return object.attr(way)();
    }
  }
  return py::reinterpret_borrow<py::object>(object);
}

py::array array_of(py::handle object, const char* argument) {
  refuse_cycles(object, argument);
  try {
    return numpy("asarray")(brought_to_host(object)).cast<py::array>();
  } catch (py::error_already_set& error) {
    const bool is_about_it = error.matches(PyExc_ValueError) || error.matches(PyExc_TypeError) ||
                             error.matches(PyExc_RuntimeError);
    if (!is_about_it) throw;
    const std::string reason = py::str(error.value());
    if (error.matches(PyExc_TypeError)) raise_type(argument, reason);
    raise_value(argument, reason);
  }
}

Ints as_ints(py::handle object, const char* argument) {
  py::array array;
  if (is_device_array(object.ptr())) {
    py::object readable = readable_array(object);
    if (!readable) raise_type(argument, "lies on a device; give it on the CPU");
    array = std::move(readable);
  } else if (py::isinstance<py::array>(object)) {
    refuse_masked(object.ptr(), argument);
    array = py::reinterpret_borrow<py::array>(object);
  } else {
    array = array_of(object, argument);
    if (array.size() == 0 && array.ndim() == 1) array = empty_ints(0);  // [] has no dtype of its own
  }
  if (array.ndim() == 0 && (array.dtype().kind() != 'i' && array.dtype().kind() != 'u')) {
    raise_type(argument, "expected an array or a list of integers, got " + type_name(object.ptr()));
  }
  if (array.ndim() != 1) {
    raise_value(argument, "expected one dimension, got " + std::to_string(array.ndim()));
  }
  const char kind = array.dtype().kind();
  if (kind == 'O') raise_no_ints(array, argument);
  if (kind != 'i' && kind != 'u') {
    raise_type(argument, "expected integers, got dtype " + str_of(array.dtype()));
  }
  if (!is_int64(array) || (array.flags() & py::array::c_style) == 0) {
    const bool may_not_fit = kind == 'u' && array.itemsize() == 8;
    if (may_not_fit && array.size() > 0 &&
        array.attr("max")().cast<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
      raise_overflow(argument, "holds a number beyond 63 bits");
    }
    array = array.attr("astype")(py::dtype::of<std::int64_t>()).cast<py::array>();
    if ((array.flags() & py::array::c_style) == 0) array = array.attr("copy")().cast<py::array>();
  }
  return {array, static_cast<const std::int64_t*>(array.data()), static_cast<std::int64_t>(array.size())};
}

Ints as_own_ints(py::handle object, const char* argument) {
  Ints numbers = as_ints(object, argument);
  py::array own = empty_ints(numbers.count);
  if (numbers.count > 0)
    std::memcpy(own.mutable_data(), numbers.data, static_cast<std::size_t>(own.nbytes()));
  return {own, static_cast<const std::int64_t*>(own.data()), numbers.count};
}

py::array as_rows(py::handle object, const char* argument) {
  if (is_device_array(object.ptr())) {
    raise_type(argument, "lies on a device, and there is no kernel for that; give it on the CPU");
  }
  if (!py::isinstance<py::array>(object)) {
    raise_type(argument, "expected an array, got " + type_name(object));
  }
  refuse_masked(object.ptr(), argument);
  auto array = py::reinterpret_borrow<py::array>(object);
  if (array.ndim() == 0) raise_value(argument, "expected at least one dimension, got a scalar");
  if (holds_objects(fields_of(array.ptr())->descr)) {
    raise_type(argument, "arrays of Python objects cannot be moved as bytes");
  }
  if ((array.flags() & py::array::c_style) == 0) array = array.attr("copy")("C").cast<py::array>();
  return array;
}

std::int64_t row_bytes(const py::array& array) {
  std::int64_t bytes = array.itemsize();
  for (py::ssize_t axis = 1; axis < array.ndim(); ++axis) bytes *= array.shape(axis);
  return bytes;
}

Rows rows_of(const py::array& array) {
  return {data_of(array), array.shape(0), row_bytes(array)};
}

py::array empty(PyObject* descr, int nd, const py::ssize_t* shape) {
  std::int64_t bytes = py::reinterpret_borrow<py::dtype>(descr).itemsize();
  bool fits = true;
  for (int axis = 0; axis < nd; ++axis) fits = fits && checked_mul(bytes, shape[axis], bytes);
  if (!fits || bytes < kLarge || holds_objects(descr)) return make_array(descr, nd, shape);
  return large_empty(py::reinterpret_borrow<py::dtype>(descr), Extents(shape, shape + nd), bytes);
}

py::array empty(const py::dtype& dtype, const Extents& shape) {
  return empty(dtype.ptr(), static_cast<int>(shape.size()), shape.data());
}

py::array rows_like(const py::array& like, std::int64_t count) {
  Extents shape = shape_of(like);
  shape[0] = count;
  return empty(fields_of(like.ptr())->descr, static_cast<int>(like.ndim()), shape.data());
}

py::array empty_ints(std::int64_t n) {
  const py::ssize_t shape[] = {n};
  return empty(py::dtype::of<std::int64_t>().ptr(), 1, shape);
}

py::array rows_between(const py::array& array, std::int64_t begin, std::int64_t end) {
  // Straight through the C API: slicing by a Python slice object takes five times as long.
  const auto& api = py::detail::npy_api::get();
  const auto* fields = py::detail::array_proxy(array.ptr());
  if (array.ndim() > 32) return array[py::slice(begin, end, 1)].cast<py::array>();
  Py_intptr_t shape[32];
  std::copy_n(array.shape(), array.ndim(), shape);
  shape[0] = end - begin;
  Py_INCREF(fields->descr);
  auto out = py::reinterpret_steal<py::array>(
      api.PyArray_NewFromDescr_(api.PyArray_Type_, fields->descr, static_cast<int>(array.ndim()), shape,
                                nullptr, fields->data + begin * row_bytes(array),
                                fields->flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_, nullptr));
  if (!out) throw py::error_already_set();
  if (api.PyArray_SetBaseObject_(out.ptr(), array.inc_ref().ptr()) < 0) throw py::error_already_set();
  return out;
}

py::array frozen(py::array array) {
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

}  // namespace varlen::bindings
