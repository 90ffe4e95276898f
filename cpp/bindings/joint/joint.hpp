// Joint, the object: named columns that share their levels, and views of them.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/level.hpp"
#include "support/overlap.hpp"
#include "varlen/joint.hpp"
#include "varlen/pad.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// What views share: the columns and levels, owned or kept alive. Never changed once made.
struct Root {
  std::vector<std::string> names;
  std::vector<int> dims;  ///< below 0: left behind by an integer index before this root was made, taken whole
  std::vector<py::array> arrays;
  std::vector<Rows> rows;
  std::vector<py::object> owners;  ///< level d - 1: a Level, or an array of bounds not checked yet
  std::vector<Offsets> levels;
  std::vector<std::int64_t> counts;  ///< rows of each dim, depth + 1 of them
  py::object meta = py::none();  ///< what belongs to the names (vocabularies, units): carried along, not read
  bool trusted = true;           ///< every level is a Level

  [[nodiscard]] int depth() const { return static_cast<int>(levels.size()); }
  [[nodiscard]] Nest nest() const { return {levels.data(), counts.data(), depth()}; }
  [[nodiscard]] int find(std::string_view name) const;  ///< -1 where there is none

  /// A level that is made here, owned by a Level.
  void add_level(LevelRef level);
  void add_column(std::string name, int dim, py::array values);
  /// What reading this root reads: the columns, and the bounds that are not Levels.
  void add_memory(MemoryRead& read) const;
};

/// A few ranges by value: no allocation for up to three levels.
class Ranges {
 public:
  explicit Ranges(std::size_t count) : count_(count) {
    if (count_ > kInline) heap_ = std::make_unique<Range[]>(count_);
  }
  Ranges(const Range* from, std::size_t count) : Ranges(count) { std::copy_n(from, count_, data()); }
  Ranges(const Ranges& other) : Ranges(other.data(), other.count_) {}
  Ranges(Ranges&&) noexcept = default;
  Ranges& operator=(const Ranges&) = delete;
  Ranges& operator=(Ranges&&) noexcept = default;
  ~Ranges() = default;

  [[nodiscard]] Range* data() noexcept { return count_ > kInline ? heap_.get() : inline_.data(); }
  [[nodiscard]] const Range* data() const noexcept { return count_ > kInline ? heap_.get() : inline_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  Range& operator[](std::size_t d) noexcept { return data()[d]; }
  const Range& operator[](std::size_t d) const noexcept { return data()[d]; }

 private:
  static constexpr std::size_t kInline = 4;
  std::size_t count_;
  std::array<Range, kInline> inline_;
  std::unique_ptr<Range[]> heap_;
};

/// A view: `shift` dims were dropped by integer indices; ranges[d] is what is left of dim d, for d >= shift,
/// and of a dim left behind the row that was taken. depth() is -1 where every dim was indexed away.
class Joint {
 public:
  Joint(std::shared_ptr<const Root> root, int shift, Ranges ranges)
      : root_(std::move(root)), shift_(shift), ranges_(std::move(ranges)) {}

  /// All of a root.
  static Joint whole(std::shared_ptr<const Root> root);
  static Joint make(const std::vector<std::string>& names, const std::vector<int>& dims,
                    const py::sequence& values, const py::sequence& levels, std::int64_t count,
                    py::object meta);

  [[nodiscard]] const Root& root() const { return *root_; }
  [[nodiscard]] const std::shared_ptr<const Root>& shared_root() const { return root_; }
  [[nodiscard]] int shift() const { return shift_; }
  [[nodiscard]] int depth() const { return root_->depth() - shift_; }
  [[nodiscard]] std::int64_t size() const { return depth() < 0 ? 0 : range(0).size(); }
  /// The rows of dim d, d counted in the view.
  [[nodiscard]] Range range(int d) const { return ranges_[static_cast<std::size_t>(d + shift_)]; }
  [[nodiscard]] const Ranges& ranges() const { return ranges_; }
  /// The rows of a column, in its own array.
  [[nodiscard]] Range column_range(std::size_t column) const {
    const int d = root_->dims[column];
    return d < 0 ? Range{0, root_->rows[column].count} : ranges_[static_cast<std::size_t>(d)];
  }
  /// The dim of a column in the view; below 0 where an integer index left it behind.
  [[nodiscard]] int dim(std::size_t column) const { return root_->dims[column] - shift_; }
  [[nodiscard]] bool is_whole() const;
  /// Level d (1-based, counted in the view).
  [[nodiscard]] Offsets level(int d) const { return root_->levels[static_cast<std::size_t>(d + shift_ - 1)]; }
  [[nodiscard]] const Offsets* levels() const { return root_->levels.data() + shift_; }

  [[nodiscard]] Joint row(std::int64_t i) const;
  [[nodiscard]] Joint slice(std::int64_t begin, std::int64_t end) const;
  /// int, slice of step 1, tuple of ints with at most one final slice: becomes that view of what it was.
  /// False for any other index, and for too many ints; the view is then of no use.
  [[nodiscard]] bool narrow(PyObject* index);
  [[nodiscard]] Joint take(py::handle index) const;

  [[nodiscard]] py::array values(std::size_t column) const;
  [[nodiscard]] py::array bounds(int d) const;
  [[nodiscard]] LevelRef make_level(int d) const;
  /// A root of its own that holds just this view: values shared, levels shared where they are whole.
  [[nodiscard]] std::shared_ptr<Root> compact() const;

  [[nodiscard]] Joint select(const std::vector<std::string>& names) const;
  /// The same columns under other names, as many as there are.
  [[nodiscard]] Joint rename(const std::vector<std::string>& names) const;
  /// The same columns with another `meta`.
  [[nodiscard]] Joint with_meta(py::object meta) const;
  /// One more column at `dim`, or another one of that name.
  [[nodiscard]] Joint with_column(const std::string& name, int dim, py::handle values, py::object meta) const;
  [[nodiscard]] Joint unsqueeze() const;
  [[nodiscard]] Joint squeeze() const;
  [[nodiscard]] Joint flatten(const std::string& spread) const;

  /// Refuses a damaged level under this view. Nothing to do for Levels.
  void check() const;
  /// The same view over levels that nobody else can write: itself where it stands on Levels, else over copies
  /// of the bounds that it needs, which were checked. What reads bounds more than once starts here.
  [[nodiscard]] Joint settled() const;

 private:
  /// Dim 0 becomes row i of it and is dropped; deeper dims than the next are not known until descend().
  /// `position` is where the index stood in a tuple: errors name it.
  void drop_to(std::int64_t i, Py_ssize_t position);
  void cut_to(std::int64_t begin, std::int64_t end);
  void descend(int from, int to);

  std::shared_ptr<const Root> root_;
  int shift_;
  Ranges ranges_;
};

/// One after another (stack: each becomes one row of a new outer dim, and keys that an integer index left
/// behind in all of them come back as rows of it).
Joint joint_concat(const std::vector<const Joint*>& parts, bool stack);

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

/// A Status of joint_* to an exception that names the level.
void raise_level(Status status, int level);

/// "right" or "left"; a ValueError that names the argument otherwise.
Side side_of(const std::string& text, const char* argument);

/// `_core.Joint`, a type of its own making: an index makes one in a tenth of what a pybind11 class takes.
/// nullptr where `object` is none.
Joint* joint_of(PyObject* object) noexcept;
/// A new Python object.
py::object wrap(Joint joint);

}  // namespace varlen::bindings

template <>
struct pybind11::detail::type_caster<varlen::bindings::Joint> {
  static constexpr auto name = const_name("Joint");
  template <class T>
  using cast_op_type = pybind11::detail::cast_op_type<T>;

  bool load(handle source, bool) { return (value_ = varlen::bindings::joint_of(source.ptr())) != nullptr; }
  static handle cast(varlen::bindings::Joint&& joint, return_value_policy, handle) {
    return varlen::bindings::wrap(std::move(joint)).release();
  }
  static handle cast(const varlen::bindings::Joint& joint, return_value_policy, handle) {
    return varlen::bindings::wrap(joint).release();
  }
  explicit operator varlen::bindings::Joint*() { return value_; }
  explicit operator varlen::bindings::Joint&() { return *value_; }

 private:
  varlen::bindings::Joint* value_ = nullptr;
};
