#include "pieces.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <string>

#include "shape.hpp"
#include "support/arrays.hpp"
#include "support/outputs.hpp"
#include "support/overlap.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

// Objects are prefetched twice as far ahead as the dimensions that hang on them.
constexpr Py_ssize_t kPrefetchDistance = 8;
constexpr Py_intptr_t kNoShape[] = {0};

void prefetch(PyObject* const* items, Py_ssize_t i, Py_ssize_t count, const Api& api) noexcept {
  if (i + 2 * kPrefetchDistance < count) {
    const char* object = reinterpret_cast<const char*>(items[i + 2 * kPrefetchDistance]);
    __builtin_prefetch(object);
    __builtin_prefetch(object + 64);
  }
  if (i + kPrefetchDistance < count && Py_TYPE(items[i + kPrefetchDistance]) == api.PyArray_Type_) {
    __builtin_prefetch(fields_of(items[i + kPrefetchDistance])->dimensions);
  }
}

}  // namespace

Pieces::Pieces(PyObject* const* items, Py_ssize_t count, const char* name, std::int64_t* offsets,
               bool drop_empty)
    : items_(items),
      input_count_(count),
      count_(count),
      shape_(kNoShape),
      pieces_(reinterpret_cast<Piece*>(in_place_)) {
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
  normalise(items, name, drop_empty);
  if (!collect(own_.data(), offsets)) raise_type(name, "not arrays of one dtype");
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
    if (Py_TYPE(item) != api.PyArray_Type_ && !(is_array(item, api) && is_plain(item))) return false;
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

void Pieces::hold() {
  if (!keep_.empty()) return;
  keep_.reserve(static_cast<std::size_t>(input_count_));
  for (std::int64_t i = 0; i < input_count_; ++i)
    keep_.push_back(py::reinterpret_borrow<py::object>(items_[i]));
}

void Pieces::space(std::int64_t gap, std::vector<std::int64_t>& offsets) {
  const auto size_limit = 2 * static_cast<std::size_t>(count_) + 1;
  gap_.resize(static_cast<std::size_t>(gap * width_));
  offsets.resize(size_limit + 1);
  offsets[0] = 0;
  auto new_pieces = std::make_unique_for_overwrite<Piece[]>(size_limit);
  count_ = space_pieces(pieces_, count_, {gap_.data(), gap}, new_pieces.get(), offsets.data() + 1);
  total_ = offsets[static_cast<std::size_t>(count_)];
  heap_ = std::move(new_pieces);
  pieces_ = heap_.get();
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
  py::array to = out == nullptr ? empty(descr_, nd_, shape) : checked_out(out, *this, nd_, shape, -1);
  const std::int64_t bytes = total_ * width_;
  std::optional<GilRelease> gil_release;
  if (may_unlock(bytes, count_)) {
    hold();
    gil_release.emplace(bytes);
  }
  concat_pieces(pieces_, {offsets + 1, count_}, width_,
                reinterpret_cast<std::byte*>(fields_of(to.ptr())->data));
  return to;
}

py::array checked_out(PyObject* out, const Pieces& pieces, int nd, Py_intptr_t* shape, int wider) {
  const Api& api = Api::get();
  if (!is_array(out, api)) raise_type("out", "expected an array, got " + type_name(out));
  refuse_masked(out, "out");
  const auto* array = fields_of(out);
  PyObject* const descr = pieces.descr();
  bool fits = array->nd == nd;
  for (int axis = 0; fits && axis < nd; ++axis) {
    const Py_intptr_t size = array->dimensions[axis];
    fits = size == shape[axis] || (axis == wider && size > shape[axis]);
  }
  if (!fits) {
    raise_value("out", "has shape " + text_of(Extents(array->dimensions, array->dimensions + array->nd)) +
                           ", but " + text_of(Extents(shape, shape + nd)) + " is needed");
  }
  if (!api.PyArray_EquivTypes_(array->descr, descr)) {
    raise_type("out", "has dtype " + std::string(py::str(py::handle(array->descr))) + ", but " +
                          std::string(py::str(py::handle(descr))) + " is needed");
  }
  constexpr int kRequiredFlags = Api::NPY_ARRAY_C_CONTIGUOUS_ | Api::NPY_ARRAY_WRITEABLE_;
  if ((array->flags & kRequiredFlags) != kRequiredFlags)
    raise_value("out", "must be writeable and C-contiguous");
  if (wider >= 0) shape[wider] = array->dimensions[wider];
  auto result = py::reinterpret_borrow<py::array>(out);
  const Memory memory(result);
  for (std::int64_t i = 0; i < pieces.count(); ++i) {
    const Piece& piece = pieces.data()[i];
    if (memory.meets({piece.data, piece.data + piece.rows * pieces.width()})) raise_overlap("out");
  }
  return result;
}

}  // namespace varlen::bindings
