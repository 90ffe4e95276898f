// `_core.Joint` in C++: the model's Joint, with columns that are NumPy arrays.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "level/level.hpp"
#include "support/ndarray.hpp"
#include "support/overlap.hpp"
#include "varlen/model/joint.hpp"
#include "varlen/pad.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// The rows of an array that as_rows gave. May be made, copied and let go where the GIL is not held.
class ArrayValues final : public Values {
 public:
  explicit ArrayValues(py::array array);
  ArrayValues(const ArrayValues&) = delete;
  ArrayValues& operator=(const ArrayValues&) = delete;
  ~ArrayValues() override;

  [[nodiscard]] const py::array& array() const noexcept { return array_; }

  [[nodiscard]] std::optional<Type> type() const override;
  [[nodiscard]] std::int64_t element_bytes() const override { return array_.itemsize(); }
  [[nodiscard]] std::vector<std::int64_t> row_shape() const override;
  [[nodiscard]] std::string element_name() const override;
  [[nodiscard]] bool same_element(const Values& other) const override;
  [[nodiscard]] bool same_row(const Values& other) const override;
  [[nodiscard]] std::shared_ptr<Values> make(std::int64_t count, std::byte*& out) const override;
  [[nodiscard]] std::shared_ptr<const Values> part(Range rows) const override;

 private:
  py::array array_;
};

/// The whole array of a column, whatever the view.
const py::array& array_of(const Column& column) noexcept;
/// The rows of a column in this view.
py::array values_of(const Joint& joint, std::size_t column);
/// What reading this reads: the columns, and the bounds that are not Levels.
void add_memory(MemoryRead& read, const JointData& data);
/// What was given with the names.
py::object meta_of(const JointData& data);

struct DenseOptions {
  std::string padding_side;
  std::string truncate;
  py::object fill;  ///< None, or a dict from names to arrays of one row
  py::object out;   ///< None, or a dict from names to arrays that are written
  std::vector<std::int64_t> max_sizes;
  bool masks = true;
  bool empty_keys = false;  ///< keys without a leaf too
  std::int64_t max_bytes = -1;
};

py::dict joint_dense(const Joint& joint, const DenseOptions& options);

/// "right" or "left"; a ValueError that names the argument otherwise.
Side side_of(const std::string& text, const char* argument);

/// int, slice of step 1, tuple of ints with at most one final slice: `view` becomes that view of what it was.
/// False for any other index, and for too many ints; the view is then of no use.
bool narrow(Joint& view, PyObject* index);

/// `_core.Joint`, a type of its own making: an index makes one in a tenth of what a pybind11 class takes.
/// nullptr where `object` is none.
Joint* joint_of(PyObject* object) noexcept;
/// A new Python object.
py::object wrap(Joint joint);

}  // namespace varlen::bindings

template <>
struct pybind11::detail::type_caster<varlen::Joint> {
  static constexpr auto name = const_name("Joint");
  template <class T>
  using cast_op_type = pybind11::detail::cast_op_type<T>;

  bool load(handle source, bool) { return (value_ = varlen::bindings::joint_of(source.ptr())) != nullptr; }
  static handle cast(varlen::Joint&& joint, return_value_policy, handle) {
    return varlen::bindings::wrap(std::move(joint)).release();
  }
  static handle cast(const varlen::Joint& joint, return_value_policy, handle) {
    return varlen::bindings::wrap(joint).release();
  }
  explicit operator varlen::Joint*() { return value_; }
  explicit operator varlen::Joint&() { return *value_; }

 private:
  varlen::Joint* value_ = nullptr;
};
