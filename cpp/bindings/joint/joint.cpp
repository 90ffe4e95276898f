// Columns that are arrays.
#include "joint.hpp"

#include <algorithm>

#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/keep.hpp"

namespace varlen::bindings {

namespace {

const ArrayValues& arrays_in(const Values& values) noexcept {
  return static_cast<const ArrayValues&>(values);  // a joint of Python's has no others
}

}  // namespace

ArrayValues::ArrayValues(py::array array) : array_(std::move(array)) {
  rows_ = rows_of(array_);
}

ArrayValues::~ArrayValues() {
  if (PyGILState_Check() != 0) return;
  const py::gil_scoped_acquire gil;
  array_.release().dec_ref();
}

std::optional<Type> ArrayValues::type() const {
  return type_of(array_.dtype());
}

std::vector<std::int64_t> ArrayValues::row_shape() const {
  return {array_.shape() + 1, array_.shape() + array_.ndim()};
}

std::string ArrayValues::element_name() const {
  return py::str(array_.dtype());
}

bool ArrayValues::same_element(const Values& other) const {
  const py::array& other_array = arrays_in(other).array();
  const auto* left = py::detail::array_proxy(array_.ptr())->descr;
  const auto* right = py::detail::array_proxy(other_array.ptr())->descr;
  if (left == right) return true;
  const HeldGil gil;
  return array_.dtype().equal(other_array.dtype());
}

bool ArrayValues::same_row(const Values& other) const {
  const py::array& other_array = arrays_in(other).array();
  return array_.ndim() == other_array.ndim() &&
         std::equal(array_.shape() + 1, array_.shape() + array_.ndim(), other_array.shape() + 1);
}

std::shared_ptr<Values> ArrayValues::make(std::int64_t count, std::byte*& out) const {
  const HeldGil gil;
  py::array result = rows_like(array_, count);
  out = bytes(result);
  return std::make_shared<ArrayValues>(std::move(result));
}

std::shared_ptr<const Values> ArrayValues::part(Range rows) const {
  const HeldGil gil;
  return std::make_shared<ArrayValues>(rows_between(array_, rows.begin, rows.end));
}

const py::array& array_of(const Column& column) noexcept {
  return arrays_in(*column.values).array();
}

py::array values_of(const Joint& joint, std::size_t column) {
  const py::array& all = array_of(joint.data().columns[column]);
  const Range r = joint.column_range(column);
  return r.begin == 0 && r.end == all.shape(0) ? all : rows_between(all, r.begin, r.end);
}

void add_memory(MemoryRead& read, const JointData& data) {
  for (const Column& column : data.columns) read.add(array_of(column));
  for (const JointLevel& level : data.levels) {
    if (level.owner != nullptr) read.add(py::reinterpret_borrow<py::array>(object_of(level.owner)));
  }
}

py::object meta_of(const JointData& data) {
  return data.meta == nullptr ? py::none() : py::reinterpret_borrow<py::object>(object_of(data.meta));
}

}  // namespace varlen::bindings
