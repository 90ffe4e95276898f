// Joint, the object: named columns that share their levels from the top down, and views of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varlen/batch.hpp"
#include "varlen/joint.hpp"
#include "varlen/model/level.hpp"
#include "varlen/model/values.hpp"
#include "varlen/pad.hpp"

namespace varlen {

/// One key.
struct Column {
  std::string name;
  int dim = 0;  ///< below 0: left behind by an integer index before this was made, taken whole
  std::shared_ptr<const Values> values;
};

/// A level of a joint: checked as a whole, or bounds that are checked where they are read.
struct JointLevel {
  Offsets view;
  std::optional<Level> memo;
  std::shared_ptr<const void> owner;  ///< of bounds that are not checked
};

/// What views share. Never changed once a Joint has it.
struct JointData {
  std::vector<Column> columns;
  std::vector<JointLevel> levels;    ///< level d - 1 of the dims is levels[d - 1]
  std::vector<Offsets> views;        ///< of the levels
  std::vector<std::int64_t> counts;  ///< rows of each dim, depth + 1 of them
  std::shared_ptr<const void> meta;  ///< what belongs to the names: carried along, not read
  bool trust = true;                 ///< every level is checked
  std::string file;                  ///< which the levels are of, where they are not checked

  [[nodiscard]] int depth() const noexcept { return static_cast<int>(levels.size()); }
  [[nodiscard]] Nest nest() const noexcept { return {views.data(), counts.data(), depth()}; }
  [[nodiscard]] int find(std::string_view name) const noexcept;  ///< -1 where there is none

  void add_level(Level level);
  /// Bounds in memory that `owner` keeps, as they lie in a file.
  void add_bounds(Offsets bounds, std::shared_ptr<const void> owner);
  void add_column(std::string name, int dim, std::shared_ptr<const Values> values);
};

/// An Error where two keys have one name.
void check_names(const JointData& data);

/// A few ranges by value: no allocation for up to three levels.
class DimRanges {
 public:
  explicit DimRanges(std::size_t count) : count_(count) {
    if (count_ > kInline) heap_ = std::make_unique<Range[]>(count_);
  }
  DimRanges(const Range* from, std::size_t count) : DimRanges(count) { std::copy_n(from, count_, data()); }
  DimRanges(const DimRanges& other) : DimRanges(other.data(), other.count_) {}
  DimRanges(DimRanges&&) noexcept = default;
  DimRanges& operator=(const DimRanges&) = delete;
  DimRanges& operator=(DimRanges&&) noexcept = default;
  ~DimRanges() = default;

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

/// A view: `shift` dims were dropped by integer indices; of each dim that is left, a range of its rows, and
/// of a dim left behind the row that was taken. depth() is -1 where every dim was indexed away. Copies share.
class Joint {
 public:
  /// All of `data`. An Error where levels and columns do not fit together. `count` rows where nothing tells.
  static Joint make(std::shared_ptr<JointData> data, std::int64_t count = -1);
  /// The same of data that is known to fit together.
  static Joint from_data(std::shared_ptr<const JointData> data);

  [[nodiscard]] const JointData& data() const noexcept { return *data_; }
  [[nodiscard]] const std::shared_ptr<const JointData>& shared_data() const noexcept { return data_; }
  [[nodiscard]] int shift() const noexcept { return shift_; }
  [[nodiscard]] int depth() const noexcept { return data_->depth() - shift_; }
  [[nodiscard]] std::int64_t size() const noexcept { return depth() < 0 ? 0 : range(0).size(); }
  /// The rows of dim d, d counted in the view.
  [[nodiscard]] Range range(int d) const noexcept { return ranges_[place(d)]; }
  /// The rows of a column, in its own values.
  [[nodiscard]] Range column_range(std::size_t column) const noexcept {
    const int d = data_->columns[column].dim;
    return d < 0 ? Range{0, data_->columns[column].values->rows().count}
                 : ranges_[static_cast<std::size_t>(d)];
  }
  /// The dim of a column in the view; below 0 where an integer index left it behind.
  [[nodiscard]] int dim(std::size_t column) const noexcept { return data_->columns[column].dim - shift_; }
  [[nodiscard]] bool is_whole() const noexcept;
  /// Level d (1-based, counted in the view) as it lies under the whole.
  [[nodiscard]] Offsets offsets(int d) const noexcept { return data_->views[place(d) - 1]; }
  [[nodiscard]] const Offsets* levels() const noexcept { return data_->views.data() + shift_; }

  [[nodiscard]] Joint row(std::int64_t i) const;
  [[nodiscard]] Joint slice(std::int64_t begin, std::int64_t end) const;
  /// Steps of an index: dim 0 becomes row i of it and is dropped; dim 0 becomes rows [begin, end), clipped.
  /// `position` is where the step stood in the index. settle() ends it: no dim below is known before.
  void drop(std::int64_t i, std::int64_t position);
  void cut(std::int64_t begin, std::int64_t end);
  void settle();
  /// Rows in the order of an index, negatives from the end, as columns of their own.
  [[nodiscard]] Joint take(const std::int64_t* index, std::int64_t n) const;

  /// Level d of the view: the very one where the view is whole.
  [[nodiscard]] Level level(int d) const;
  /// Its ends, counted from 0: range(d - 1).size() of them.
  void bounds(int d, std::int64_t* out) const;
  /// The rows of a column in this view, shared.
  [[nodiscard]] std::shared_ptr<const Values> values(std::size_t column) const;
  /// Just this view: values shared, levels shared where they are whole.
  [[nodiscard]] std::shared_ptr<JointData> compact() const;

  [[nodiscard]] Joint select(const std::vector<std::string>& names) const;
  /// The same columns under other names, as many as there are.
  [[nodiscard]] Joint rename(const std::vector<std::string>& names) const;
  /// The same columns with another `meta`.
  [[nodiscard]] Joint with_meta(std::shared_ptr<const void> meta) const;
  /// One more column at `dim`, or another one of that name.
  [[nodiscard]] Joint with_column(const std::string& name, int dim, std::shared_ptr<const Values> values,
                                  std::shared_ptr<const void> meta) const;
  [[nodiscard]] Joint unsqueeze() const;
  [[nodiscard]] Joint squeeze() const;
  /// The two deepest dims made one. `fill_row` gives one row of a column for the slots that stay empty; none,
  /// or a null row, is zero bytes.
  using FillRow = std::function<std::shared_ptr<const Values>(const std::string& name, const Values& values)>;
  [[nodiscard]] Joint flatten(FillMode mode, const FillRow& fill_row = {}) const;

  /// Refuses a damaged level under this view. Nothing to do where all were checked.
  void check() const;
  /// The same view over levels that nobody else can write: itself where all were checked, else over copies of
  /// the bounds that it needs, which are checked. What reads bounds more than once starts here.
  [[nodiscard]] Joint settle_levels() const;

 private:
  Joint(std::shared_ptr<const JointData> data, int shift, DimRanges ranges)
      : data_(std::move(data)), shift_(shift), ranges_(std::move(ranges)) {}
  void descend(int from, int to);
  /// Where dim `d` of this view lies among those of the data.
  [[nodiscard]] std::size_t place(int d) const noexcept {
    return static_cast<std::size_t>(d) + static_cast<std::size_t>(shift_);
  }

  std::shared_ptr<const JointData> data_;
  int shift_;
  DimRanges ranges_;
};

/// One after another (stack: each becomes one row of a new outer dim, and keys that an integer index left
/// behind in all of them come back as rows of it).
[[nodiscard]] Joint joint_concat(const std::vector<const Joint*>& parts, bool stack);

/// Throws for a Status about a level, which may be of a file.
void throw_if_level(Status status, int level, const std::string& file = {});

}  // namespace varlen
