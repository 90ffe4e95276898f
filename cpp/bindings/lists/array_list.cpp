// What people give as arrays made arrays of one dtype; what cannot be made one is named.
#include <algorithm>
#include <string>

#include "errors.hpp"
#include "lists.hpp"
#include "pieces.hpp"
#include "shape.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

bool is_text(const Items& items) {
  return std::all_of(items.data, items.data + items.size,
                     [](PyObject* item) { return PyUnicode_Check(item) || PyBytes_Check(item); });
}

/// Lists of numbers mostly: what NumPy would make text or objects of is none.
py::object array_of_item(const py::object& item, const std::string& name) {
  py::object array;
  refuse_cycles(item, name);
  try {
    array = numpy("asarray")(item);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    raise_value(name, "a list that is no rectangle of numbers");
  }
  if (!is_list(item.ptr())) return array;
  const char kind = py::detail::array_descriptor_proxy(fields_of(array.ptr())->descr)->kind;
  const bool is_mixed = kind == 'O' || ((kind == 'U' || kind == 'S') && !is_text(items_of(item.ptr())));
  if (is_mixed) raise_invalid_leaf(item.ptr(), name);
  return array;
}

py::object array_of(PyObject* item, const std::string& name) {
  if (never_a_number(item)) raise_type(name, "expected an array, got " + type_name(item));
  const auto self = py::reinterpret_borrow<py::object>(item);
  py::object array;
  if (is_array(item, Api::get())) {
    refuse_masked(item, name);
    array = self;
  } else if (!py::hasattr(self, "__array__") && py::hasattr(self, "__dlpack__")) {
    array = numpy("from_dlpack")(self);
  } else {
    array = array_of_item(self, name);
  }
  const auto* fields = fields_of(array.ptr());
  if (holds_objects(fields->descr)) raise_type(name, "arrays of Python objects cannot be moved as bytes");
  if (fields->nd == 0) raise_value(name, "expected at least one dimension, got a scalar");
  return array;
}

py::object common_of(const py::list& dtypes, const char* name) {
  try {
    return numpy("result_type")(*dtypes);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  const py::handle text(reinterpret_cast<PyObject*>(&PyUnicode_Type));
  const py::object texts = py::module_::import("builtins").attr("map")(text, dtypes);
  raise_type(name, "no dtype holds " + std::string(py::str(py::str(" and ").attr("join")(texts))));
}

std::string shape_text(const py::object& array) {
  return py::str(array.attr("shape"));
}

bool agree(const py::object& array, const py::object& first) {
  const auto* a = fields_of(array.ptr());
  const auto* b = fields_of(first.ptr());
  return a->nd == b->nd && std::equal(a->dimensions + 1, a->dimensions + a->nd, b->dimensions + 1);
}

bool has_elements(const py::object& array) {
  const auto* fields = fields_of(array.ptr());
  return std::find(fields->dimensions, fields->dimensions + fields->nd, 0) == fields->dimensions + fields->nd;
}

/// Without those that hold no elements; where none does, without those unlike the first.
void drop_empties(std::vector<py::object>& arrays, std::vector<std::size_t>& places) {
  const bool any = std::any_of(arrays.begin(), arrays.end(), has_elements);
  std::size_t array_count = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (any ? !has_elements(arrays[i]) : !agree(arrays[i], arrays[0])) continue;
    if (array_count != i) arrays[array_count] = std::move(arrays[i]);
    places[array_count++] = i;
  }
  arrays.resize(array_count);
  places.resize(array_count);
}

}  // namespace

py::object as_common(const py::object& array, const py::object& dtype, const std::string& name) {
  const py::object from = array.attr("dtype");
  const char kind = py::reinterpret_borrow<py::dtype>(from).kind();
  const char to = py::reinterpret_borrow<py::dtype>(dtype).kind();
  if (kind != to && (kind == 'M' || kind == 'm' || to == 'M' || to == 'm')) {
    raise_type(name, std::string(py::str(from)) + " beside others of " + std::string(py::str(dtype)) +
                         "; no dtype holds both");
  }
  const py::object out = numpy("asarray")(array, py::arg("dtype") = dtype, py::arg("order") = "C");
  const bool is_whole = (kind == 'i' || kind == 'u') && (to == 'f' || to == 'c');
  if ((kind != 'M' && kind != 'm' && !is_whole) || Api::get().PyArray_EquivTypes_(from.ptr(), dtype.ptr())) {
    return out;
  }
  const py::array flat = numpy("ravel")(array);
  std::int64_t bad = -1;
  if (is_whole) {
    const bool is_long = dtype.attr("itemsize").cast<int>() > (to == 'c' ? 16 : 8);  // long double holds all
    const auto number = number_of(from.attr("newbyteorder")("=").ptr());
    const py::array native_array = flat.attr("astype")(from.attr("newbyteorder")("="));
    const auto* const data = data_of(native_array);
    bad = is_long ? -1 : first_rounded(*number, data, width_of(*number), native_array.size(), Number::f64);
  } else {
    const py::object round_trip = numpy("ravel")(out).attr("astype")(from).attr("view")("i8");
    const py::object mismatch = numpy("not_equal")(round_trip, flat.attr("view")("i8"));
    if (mismatch.attr("any")().cast<bool>()) bad = numpy("argmax")(mismatch).cast<std::int64_t>();
  }
  if (bad < 0) return out;
  const std::string path = flat.size() == 1 ? name : name + "[" + std::to_string(bad) + "]";
  const py::object leaf = flat.attr("__getitem__")(bad);
  raise_rounded(path, is_whole ? leaf.attr("item")() : leaf, py::str(dtype));
}

// Array-likes become arrays, other strides and dtypes contiguous arrays of the dtype that NumPy promotes to.
void Pieces::normalise(PyObject* const* items, const char* name, bool drop_empty) {
  std::vector<py::object> objects;  // asarray may run Python code that changes the list
  objects.reserve(static_cast<std::size_t>(count_));
  for (Py_ssize_t i = 0; i < count_; ++i) objects.push_back(py::reinterpret_borrow<py::object>(items[i]));
  std::vector<std::size_t> places;  // of those that count, in the list
  const auto place_name = [&](std::size_t k) {
    return std::string(name) + "[" + std::to_string(places[k]) + "]";
  };
  for (std::size_t i = 0; i < objects.size(); ++i) {
    places.push_back(i);
    keep_.push_back(array_of(objects[i].ptr(), place_name(i)));
  }
  if (drop_empty) drop_empties(keep_, places);
  count_ = static_cast<std::int64_t>(keep_.size());
  py::list dtypes;
  PyObject* last = nullptr;
  for (std::size_t k = 0; k < keep_.size(); ++k) {
    if (!agree(keep_[k], keep_[0])) {
      const bool axes = fields_of(keep_[k].ptr())->nd != fields_of(keep_[0].ptr())->nd;
      raise_value(place_name(k),
                  "has shape " + shape_text(keep_[k]) + ", but " + place_name(0) + " has " +
                      shape_text(keep_[0]) + ": " +
                      (axes ? "the number of dimensions must agree" : "only the first dimension may differ"));
    }
    PyObject* const item = objects[places[k]].ptr();
    PyObject* const descr = fields_of(keep_[k].ptr())->descr;
    const bool no_dtype = is_list(item) && items_of(item).size == 0;
    if (!no_dtype && descr != last) dtypes.append(py::handle(descr));
    if (!no_dtype) last = descr;
  }
  keep_descr_ = dtypes.empty() ? py::object(dtype_of(Number::f64)) : common_of(dtypes, name);
  for (std::size_t k = 0; k < keep_.size(); ++k) {
    keep_[k] = as_common(keep_[k], keep_descr_, place_name(k));
    own_.push_back(keep_[k].ptr());
  }
}

}  // namespace varlen::bindings
