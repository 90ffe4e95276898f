// Shape, the object: the positions of some dims, one inside the other, and how values of them lie.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "varlen/model/dim.hpp"
#include "varlen/model/level.hpp"
#include "varlen/model/memory.hpp"

namespace varlen {

class Shape;
using ShapeRef = std::shared_ptr<const Shape>;

/// A dim of a shape. Two of a shape are equal only where their priorities differ.
struct Axis {
  Dim dim;
  std::int64_t priority = 0;
};

/// Dims in the order in which values lie in memory; the first one goes slowest. What a dim is over comes
/// before it. Up to the last dim whose lengths differ, the ragged part, valid positions lie end to end as
/// rows; the dims behind it, all of one size, are axes of a row.
///
///     [batch, time, feature]   values (sum of the lengths of time, feature)
///     [batch, heads, time]     values (heads * sum of the lengths of time,)
///     [batch, feature]         values (batch, feature)
///
/// Immutable and shared: equal dims with the same lengths have one shape, as long as it lives.
class Shape {
 public:
  /// An Error where a dim has no lengths, is there twice, or comes before what it is over; LengthMismatch
  /// where it is over other lengths than those of the dims before it.
  static ShapeRef of(const std::vector<Axis>& axes, const char* argument = "dims");
  /// The order nearest to the given one in which a shape can have these dims, as places in `axes`. With
  /// `is_static_last` dims that no other is over come behind those whose lengths differ.
  static std::vector<std::size_t> arrange(const std::vector<Axis>& axes, bool is_static_last);

  [[nodiscard]] std::size_t rank() const noexcept { return axes_.size(); }
  [[nodiscard]] const std::vector<Axis>& axes() const noexcept { return axes_; }
  /// How many dims are in the ragged part.
  [[nodiscard]] std::size_t ragged() const noexcept { return ragged_; }
  /// Positions of the first k dims.
  [[nodiscard]] std::int64_t count(std::size_t k) const noexcept { return counts_[k]; }
  /// So many for each position of the dims before it; of a ragged one the longest.
  [[nodiscard]] std::int64_t extent(std::size_t k) const noexcept { return extents_[k]; }
  /// Whether the dims that it is over say how many.
  [[nodiscard]] bool is_ragged(std::size_t k) const noexcept { return levels_[k].has_value(); }
  /// How many positions of the dims from `first` up to `end` each position of the dims before has.
  [[nodiscard]] Level span(std::size_t first, std::size_t end) const;
  /// The shape that an array of values has.
  [[nodiscard]] std::vector<std::int64_t> array_shape() const;
  /// Where a dim is, rank() where it is not. Of two that are equal the one of this priority, or, where 0 is
  /// asked for, the one of the greatest.
  [[nodiscard]] std::size_t find(const Axis& axis) const noexcept;
  /// Where the same dim of a related shape is: that of its priority, else as `find`.
  [[nodiscard]] std::size_t place_of(const Axis& axis) const noexcept;

  /// How an array of values of one shape becomes one that broadcasts against the values of another, which has
  /// all its dims: axes are transposed, then the first ones made one of rows, then rows taken, then the
  /// result has another shape.
  struct Alignment {
    std::vector<std::size_t> permutation;         ///< or none
    std::vector<std::int64_t> flat;               ///< the shape with an axis of rows; or none
    std::optional<Level> repeats;                 ///< each row so often; or
    std::optional<Scratch<std::int64_t>> places;  ///< rows that are taken; or neither
    std::vector<std::int64_t> shape;              ///< or none
  };
  /// LengthMismatch where lengths differ; a dim that has one extent goes with lengths up to it. Error where
  /// this shape lacks a dim of the other.
  [[nodiscard]] Alignment alignment_of(const Shape& other) const;

  /// The shape of all dims of both: that of one of them where it has all.
  static ShapeRef union_of(const ShapeRef& a, const ShapeRef& b);

  /// Positions brought together that differ only in some dims.
  struct Group {
    std::vector<std::size_t> permutation;  ///< or none: axes of the array first
    std::size_t front = 0;                 ///< so many dims (transposed) count positions
    Level level;                           ///< as many sequences as `rest` has positions of those
    std::optional<Scratch<std::int64_t>>
        order;  ///< positions in the order of the sequences; none: as they lie
    ShapeRef rest;
  };
  /// What is left without some dims. A dim that was over one of them is as long as the longest.
  [[nodiscard]] Group group(const std::vector<bool>& is_reduced) const;

  // How positions count up, one dim inside the other: so many each, or what offsets say.
  struct Step {
    std::int64_t extent = 0;
    const std::int64_t* offsets = nullptr;
    [[nodiscard]] std::int64_t first(std::int64_t row) const noexcept {
      return offsets == nullptr ? row * extent : offsets[row];
    }
    [[nodiscard]] std::int64_t length(std::int64_t row) const noexcept {
      return offsets == nullptr ? extent : offsets[row + 1] - offsets[row];
    }
  };
  /// That of each dim; it looks at memory of this shape.
  [[nodiscard]] std::vector<Step> steps() const;

  /// An object that a language's binding keeps for this shape, so that one shape is one object there. Not
  /// owned, not looked at.
  [[nodiscard]] void* companion() const noexcept { return companion_.load(std::memory_order_acquire); }
  void set_companion(void* object) const noexcept { companion_.store(object, std::memory_order_release); }

 private:
  Shape(const std::vector<Axis>& axes, const char* argument);

  void add(const Axis& axis, const char* argument);
  [[nodiscard]] Level level_over(const DimValues& values) const;
  [[nodiscard]] Step step(std::size_t k) const;
  /// The axes of an array of values, where dims lie in this order; none where that is how they lie.
  [[nodiscard]] std::vector<std::size_t> transposition(const std::vector<std::size_t>& order) const;

  std::vector<Axis> axes_;
  std::vector<std::int64_t> counts_{1};
  std::vector<std::int64_t> extents_;
  std::vector<std::optional<Level>> levels_;  ///< of ragged ones
  std::size_t ragged_ = 0;
  mutable std::atomic<void*> companion_{nullptr};
  mutable std::mutex spanning_;
  mutable std::vector<std::optional<Level>> spans_;  ///< that were asked for, by first and end
};

}  // namespace varlen
