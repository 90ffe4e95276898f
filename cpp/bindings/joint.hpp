// Joint, the object: named columns that share their levels, and views of them.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "level.hpp"
#include "varlen/joint.hpp"
#include "varlen/pad.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// What views share: the columns and levels, owned or kept alive. Never changed once made.
struct Root {
  std::vector<std::string> names;
  std::vector<int> dims;
  std::vector<py::array> arrays;
  std::vector<Rows> rows;
  std::vector<py::object> owners;  ///< level d - 1: a Level, or an array of bounds not checked yet
  std::vector<Offsets> levels;
  std::vector<std::int64_t> counts;  ///< rows of each dim, depth + 1 of them
  bool trusted = true;               ///< every level is a Level

  [[nodiscard]] int depth() const { return static_cast<int>(levels.size()); }
  [[nodiscard]] Nest nest() const { return {levels.data(), counts.data(), depth()}; }
  [[nodiscard]] int find(const std::string& name) const;  ///< -1 where there is none

  /// A level that is made here, owned by a Level.
  void add_level(std::shared_ptr<Level> level);
  void add_column(std::string name, int dim, py::array values);
};

/// A view: `shift` dims were dropped by integer indices; ranges[d] is what is left of dim d, for d >= shift,
/// and of a dim left behind the row that was taken.
class Joint {
 public:
  Joint(std::shared_ptr<const Root> root, int shift, std::vector<Range> ranges)
      : root_(std::move(root)), shift_(shift), ranges_(std::move(ranges)) {}

  /// All of a root.
  static Joint whole(std::shared_ptr<const Root> root);
  static Joint make(const std::vector<std::string>& names, const std::vector<int>& dims,
                    const py::sequence& values, const py::sequence& levels, std::int64_t count);

  [[nodiscard]] const Root& root() const { return *root_; }
  [[nodiscard]] const std::shared_ptr<const Root>& shared_root() const { return root_; }
  [[nodiscard]] int shift() const { return shift_; }
  [[nodiscard]] int depth() const { return root_->depth() - shift_; }
  [[nodiscard]] std::int64_t size() const;
  /// The rows of dim d, d counted in the view.
  [[nodiscard]] Range range(int d) const { return ranges_[static_cast<std::size_t>(d + shift_)]; }
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  /// Level d (1-based, counted in the view).
  [[nodiscard]] Offsets level(int d) const { return root_->levels[static_cast<std::size_t>(d + shift_ - 1)]; }
  [[nodiscard]] const Offsets* levels() const { return root_->levels.data() + shift_; }

  [[nodiscard]] Joint row(std::int64_t i) const;
  [[nodiscard]] Joint slice(std::int64_t begin, std::int64_t end) const;
  /// int, slice of step 1, tuple of ints with at most one final slice; nullptr for anything else.
  [[nodiscard]] std::unique_ptr<Joint> get(py::handle index) const;
  [[nodiscard]] Joint take(py::handle index) const;

  [[nodiscard]] py::array values(int column) const;
  [[nodiscard]] py::array bounds(int d) const;
  [[nodiscard]] std::shared_ptr<Level> make_level(int d) const;
  /// A root of its own that holds just this view: values shared, levels shared where they are whole.
  [[nodiscard]] std::shared_ptr<Root> compact() const;

  [[nodiscard]] Joint select(const std::vector<std::string>& names) const;
  [[nodiscard]] Joint unsqueeze() const;
  [[nodiscard]] Joint squeeze() const;
  [[nodiscard]] Joint flatten(const std::string& spread) const;

  /// Refuses a damaged level under this view, before anything is made of it. Nothing to do for Levels.
  void check() const;

 private:
  std::shared_ptr<const Root> root_;
  int shift_;
  std::vector<Range> ranges_;
};

/// One after another (stack: each becomes one row of a new outer dim).
Joint joint_concat(const std::vector<const Joint*>& parts, bool stack);

py::dict joint_dense(const Joint& joint, const std::string& side, const std::string& truncate,
                     py::object fill, const std::vector<std::int64_t>& max_sizes, bool masks,
                     std::int64_t max_bytes);

/// A Status of joint_* to an exception that names the level.
void raise_level(Status status, int level);

/// "right" or "left"; a ValueError that names the argument otherwise.
Side side_of(const std::string& text, const char* argument);

}  // namespace varlen::bindings
