#include "lists_pieces.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "lists_shape.hpp"
#include "raise.hpp"

namespace varlen::bindings {

namespace {

// Objects are prefetched twice as far ahead as the dimensions that hang on them.
constexpr Py_ssize_t kAhead = 8;
constexpr Py_intptr_t kNoShape[] = {0};

void prefetch(PyObject* const* items, Py_ssize_t i, Py_ssize_t count, const Api& api) noexcept {
  if (i + 2 * kAhead < count) {
    const char* object = reinterpret_cast<const char*>(items[i + 2 * kAhead]);
    __builtin_prefetch(object);
    __builtin_prefetch(object + 64);
  }
  if (i + kAhead < count && Py_TYPE(items[i + kAhead]) == api.PyArray_Type_) {
    __builtin_prefetch(fields_of(items[i + kAhead])->dimensions);
  }
}

py::object array_of(PyObject* item, const std::string& name) {
  if (never_a_number(item)) raise_type(name + ": expected an array, got " + type_name(item));
  const auto self = py::reinterpret_borrow<py::object>(item);
  py::object array;
  if (is_array(item, Api::get())) {
    array = self;
  } else if (!py::hasattr(self, "__array__") && py::hasattr(self, "__dlpack__")) {
    array = numpy("from_dlpack")(self);
  } else {
    array = numpy("asarray")(self);
  }
  const auto* fields = fields_of(array.ptr());
  if (holds_objects(fields->descr)) raise_type(name + ": arrays of Python objects cannot be moved as bytes");
  if (fields->nd == 0) raise_value(name + ": expected at least one dimension, got a scalar");
  return array;
}

std::string shape_text(const py::object& array) {
  return py::str(array.attr("shape"));
}

}  // namespace

Pieces::Pieces(PyObject* const* items, Py_ssize_t count, const char* name, std::int64_t* offsets)
    : items_(items), count_(count), shape_(kNoShape), pieces_(reinterpret_cast<Piece*>(in_place_)) {
  if (count > kInPlace) {
    heap_ = std::make_unique_for_overwrite<Piece[]>(static_cast<std::size_t>(count));
    pieces_ = heap_.get();
  }
  if (offsets != nullptr) offsets[0] = 0;
  if (count == 0) {
    keep_descr_ = dtype_of(Number::f64);
    descr_ = keep_descr_.ptr();
    width_ = 8;
    return;
  }
  if (collect(items, offsets)) return;
  normalise(items, name);
  if (!collect(own_.data(), offsets)) raise_type(std::string(name) + ": not arrays of one dtype");
}

std::int64_t Pieces::itemsize() const noexcept {
  return py::detail::array_descriptor2_proxy(descr_)->elsize;
}

bool Pieces::collect(PyObject* const* items, std::int64_t* offsets) {
  const Api& api = Api::get();
  if (!is_array(items[0], api)) return false;
  const auto* first = fields_of(items[0]);
  if (first->nd == 0 || holds_objects(first->descr) || is_swapped(first->descr)) return false;
  descr_ = first->descr;
  nd_ = first->nd;
  shape_ = first->dimensions;
  width_ = itemsize();
  for (int axis = 1; axis < nd_; ++axis) width_ *= shape_[axis];
  std::int64_t total = 0;
  std::int64_t longest = 0;
  for (Py_ssize_t i = 0; i < count_; ++i) {
    prefetch(items, i, count_, api);
    PyObject* item = items[i];
    if (Py_TYPE(item) != api.PyArray_Type_ && !is_array(item, api)) return false;
    const auto* array = fields_of(item);
    if (array->descr != descr_ && !api.PyArray_EquivTypes_(array->descr, descr_)) return false;
    if (array->nd != nd_ || (array->flags & Api::NPY_ARRAY_C_CONTIGUOUS_) == 0) return false;
    for (int axis = 1; axis < nd_; ++axis) {
      if (array->dimensions[axis] != shape_[axis]) return false;
    }
    const std::int64_t rows = array->dimensions[0];
    new (pieces_ + i) Piece{reinterpret_cast<const std::byte*>(array->data), rows};
    total += rows;
    longest = std::max(longest, rows);
    if (offsets != nullptr) offsets[i + 1] = total;
  }
  total_ = total;
  longest_ = longest;
  return true;
}

// Array-likes become arrays, other strides and dtypes contiguous arrays of the dtype that NumPy promotes to.
void Pieces::normalise(PyObject* const* items, const char* name) {
  std::vector<py::object> held;  // asarray may run Python code that changes the list
  held.reserve(static_cast<std::size_t>(count_));
  for (Py_ssize_t i = 0; i < count_; ++i) held.push_back(py::reinterpret_borrow<py::object>(items[i]));
  py::list dtypes;
  PyObject* last = nullptr;
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::string here = std::string(name) + "[" + std::to_string(i) + "]";
    const bool no_dtype = is_list(held[i].ptr()) && items_of(held[i].ptr()).size == 0;
    keep_.push_back(array_of(held[i].ptr(), here));
    const auto* array = fields_of(keep_[i].ptr());
    const auto* first = fields_of(keep_[0].ptr());
    if (array->nd != first->nd) {
      raise_value(here + ": has shape " + shape_text(keep_[i]) + ", but " + name + "[0] has " +
                  shape_text(keep_[0]) + ": the number of dimensions must agree");
    }
    if (!std::equal(array->dimensions + 1, array->dimensions + array->nd, first->dimensions + 1)) {
      raise_value(here + ": has shape " + shape_text(keep_[i]) + ", but " + name + "[0] has " +
                  shape_text(keep_[0]) + ": only the first dimension may differ");
    }
    if (!no_dtype && array->descr != last) dtypes.append(py::handle(array->descr));
    if (!no_dtype) last = array->descr;
  }
  keep_descr_ = dtypes.empty() ? py::object(dtype_of(Number::f64)) : numpy("result_type")(*dtypes);
  for (py::object& array : keep_) {
    array = numpy("asarray")(array, py::arg("dtype") = keep_descr_, py::arg("order") = "C");
    own_.push_back(array.ptr());
  }
}

void Pieces::hold() {
  if (!keep_.empty()) return;
  keep_.reserve(static_cast<std::size_t>(count_));
  for (std::int64_t i = 0; i < count_; ++i) keep_.push_back(py::reinterpret_borrow<py::object>(items_[i]));
}

void Pieces::rebase(const py::object& values) {
  const auto* array = fields_of(values.ptr());
  descr_ = array->descr;
  width_ = itemsize();
  for (int axis = 1; axis < nd_; ++axis) width_ *= shape_[axis];
  const auto* data = reinterpret_cast<const std::byte*>(array->data);
  for (std::int64_t i = 0; i < count_; ++i) {
    pieces_[i].data = data;
    data += pieces_[i].rows * width_;
  }
}

py::array Pieces::flat(const std::int64_t* offsets, PyObject* out) {
  Py_intptr_t shape[kMaxDepth];
  std::copy(shape_, shape_ + nd_, shape);
  shape[0] = total_;
  py::array to = out == nullptr ? empty(descr_, nd_, shape) : checked_out(out, descr_, nd_, shape, -1);
  const std::int64_t bytes = total_ * width_;
  std::optional<Unlocked> unlocked;
  if (may_unlock(bytes, count_)) {
    hold();
    unlocked.emplace(bytes);
  }
  concat_pieces(pieces_, {offsets + 1, count_}, width_,
                reinterpret_cast<std::byte*>(fields_of(to.ptr())->data));
  return to;
}

py::array checked_out(PyObject* out, PyObject* descr, int nd, Py_intptr_t* shape, int wider) {
  const Api& api = Api::get();
  if (!is_array(out, api)) raise_type("out: expected an array, got " + type_name(out));
  const auto* array = fields_of(out);
  bool fits = array->nd == nd;
  for (int axis = 0; fits && axis < nd; ++axis) {
    const Py_intptr_t size = array->dimensions[axis];
    fits = size == shape[axis] || (axis == wider && size > shape[axis]);
  }
  if (!fits) {
    std::string text;
    for (int axis = 0; axis < nd; ++axis) text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
    raise_value("out: has shape " + shape_text(py::reinterpret_borrow<py::object>(out)) + ", but (" + text +
                ") is needed");
  }
  if (!api.PyArray_EquivTypes_(array->descr, descr)) {
    raise_type("out: has dtype " + std::string(py::str(py::handle(array->descr))) + ", but " +
               std::string(py::str(py::handle(descr))) + " is needed");
  }
  constexpr int kNeeded = Api::NPY_ARRAY_C_CONTIGUOUS_ | Api::NPY_ARRAY_WRITEABLE_;
  if ((array->flags & kNeeded) != kNeeded) raise_value("out: must be writeable and C-contiguous");
  if (wider >= 0) shape[wider] = array->dimensions[wider];
  return py::reinterpret_borrow<py::array>(out);
}

}  // namespace varlen::bindings
