#include <algorithm>

#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/pad.hpp"

namespace varlen::cuda {

namespace {

/// A ragged axis of a rectangle.
struct Axis {
  Ends level;
  Divisor unit_slots;  ///< slots of the axes below it, all together
  std::int64_t slots;  ///< of one sequence
  std::int64_t keep;   ///< most children of a sequence
};

/// The slots of a rectangle, and the rows of values that go there.
struct Slots {
  Axis axes[kMostDepth];
  Divisor unit_slots;  ///< slots of a sequence, on all axes
  int depth;
  std::int64_t begin;  ///< the first sequence
  bool fill_left;
  bool cut_left;
  View<const std::int64_t> sequences;  ///< null: one after another
  View<std::uint8_t> mask;             ///< null: none
  View<std::int64_t> positions;        ///< null: none

  [[nodiscard]] VARLEN_DEVICE NoScope scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(NoScope, std::int64_t row) const { return find(row).row; }
  /// What is said of a slot beside its row.
  VARLEN_DEVICE void note(std::int64_t slot) const {
    if (mask.data == nullptr && positions.data == nullptr) return;
    const Match match = find(slot);
    if (mask.data != nullptr) mask[slot] = match.row >= 0 ? 1 : 0;
    if (positions.data != nullptr) positions[slot] = match.position;
  }

 private:
  struct Match {
    std::int64_t row;  ///< -1: none
    std::int64_t position;
  };

  [[nodiscard]] VARLEN_DEVICE Match find(std::int64_t row) const {
    std::int64_t unit = unit_slots.quotient(row);
    row -= unit * unit_slots.divisor();
    if (sequences.data == nullptr) {
      unit += begin;
    } else {
      unit = sequences[unit];
      const std::int64_t count = axes[0].level.count();
      if (unit < 0) unit += count;
      if (unit < 0 || unit >= count) return {-1, 0};
    }
    std::int64_t position = 0;
    for (int d = 0; d < depth; ++d) {
      const Axis& axis = axes[d];
      const std::int64_t slot = axis.unit_slots.quotient(row);
      row -= slot * axis.unit_slots.divisor();
      const std::int64_t start = axis.level.start(unit);
      const std::int64_t length = axis.level.end(unit) - start;
      const std::int64_t keep_count = length < axis.keep ? length : axis.keep;
      const std::int64_t place = fill_left ? slot - (axis.slots - keep_count) : slot;
      if (place < 0 || place >= keep_count) return {-1, 0};
      position = (cut_left ? length - keep_count : 0) + place;
      unit = start + position;
    }
    return {unit, position};
  }
};

/// The axes of a rectangle of so many slots.
template <class Rectangle>
void set_axes(Rectangle& rectangle, const Offsets* levels, int depth, const std::int64_t* sizes,
              const std::int64_t* keeps, std::int64_t slots) noexcept {
  rectangle.depth = depth;
  std::int64_t unit_slots = 1;
  for (int d = depth - 1; d >= 0; --d) {
    const std::int64_t keep = keeps != nullptr ? std::min(keeps[d], sizes[d]) : sizes[d];
    rectangle.axes[d] = {ends_of(levels[d]), Divisor(unit_slots, slots), sizes[d], keep};
    unit_slots *= std::max<std::int64_t>(sizes[d], 1);  // rows that were all cut have no slot to be divided
  }
  rectangle.unit_slots = Divisor(unit_slots, slots);
}

Slots slots_of(const Offsets* levels, int depth, Range rows, const std::int64_t* sizes, const Padding& how,
               std::int64_t slots) noexcept {
  Slots result{};
  set_axes(result, levels, depth, sizes, how.keeps, slots);
  result.begin = rows.begin;
  result.fill_left = how.side == Side::left;
  result.cut_left = how.cut == Side::left;
  return result;
}

std::int64_t count_slots(Range rows, const std::int64_t* sizes, int depth) noexcept {
  std::int64_t slots = rows.size();
  for (int d = 0; d < depth; ++d) slots *= sizes[d];
  return slots;
}

/// The rows of values, and the slots of a rectangle where they are; those that were cut have none.
struct Cells {
  Axis axes[kMostDepth];
  Divisor unit_slots;
  int depth;
  bool fill_left;
  bool cut_left;

  [[nodiscard]] VARLEN_DEVICE Candidates scope(std::int64_t first, std::int64_t last) const {
    return InSequences{axes[depth - 1].level}.scope(first, last);
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Candidates& candidates, std::int64_t row) const {
    std::int64_t cell = 0;
    std::int64_t unit = row;
    for (int d = depth - 1; d >= 0; --d) {
      const Axis& axis = axes[d];
      const bool inner = d == depth - 1;
      const std::int64_t parent = axis.level.holding(unit, inner ? candidates.first : 0,
                                                     inner ? candidates.last : axis.level.count() - 1);
      const std::int64_t start = axis.level.start(parent);
      const std::int64_t length = axis.level.end(parent) - start;
      const std::int64_t keep_count = length < axis.keep ? length : axis.keep;
      const std::int64_t place = unit - start - (cut_left ? length - keep_count : 0);
      if (place < 0 || place >= keep_count) return -1;
      cell += axis.unit_slots.divisor() * (fill_left ? place + axis.slots - keep_count : place);
      unit = parent;
    }
    return cell + unit_slots.divisor() * unit;
  }
};

}  // namespace

Error pad(Stream stream, const Offsets* levels, int depth, Range rows, Rows values, const std::int64_t* sizes,
          const Padding& how, const PadMore& extras, std::byte* out) noexcept {
  const std::int64_t slots = count_slots(rows, sizes, depth);
  if (slots == 0) return 0;
  Slots map = slots_of(levels, depth, rows, sizes, how, slots);
  map.sequences = {extras.sequences, rows.size()};
  map.mask = {reinterpret_cast<std::uint8_t*>(extras.mask), slots};
  map.positions = {extras.positions, slots};
  if (values.width == 0) return note_rows(stream, map, slots);
  return move_rows(stream, map, values, slots,
                   blank_of({how.fill, how.period > 0 ? how.period : values.width}), out);
}

Error pad_mask(Stream stream, const Offsets* levels, int depth, Range rows, const std::int64_t* sizes,
               const Padding& how, std::byte* out) noexcept {
  const std::int64_t slots = count_slots(rows, sizes, depth);
  if (slots == 0) return 0;
  Slots map = slots_of(levels, depth, rows, sizes, how, slots);
  map.mask = {reinterpret_cast<std::uint8_t*>(out), slots};
  return note_rows(stream, map, slots);
}

Error unpad(Stream stream, const std::byte* dense, std::int64_t width, const Offsets* levels, int depth,
            const std::int64_t* sizes, const Padding& how, std::int64_t total, std::byte* out) noexcept {
  Cells cells{};
  if (total == 0) return 0;
  const std::int64_t count = count_slots({0, levels[0].count}, sizes, depth);
  set_axes(cells, levels, depth, sizes, how.keeps, count);
  cells.fill_left = how.side == Side::left;
  cells.cut_left = how.cut == Side::left;
  return move_rows(stream, cells, {dense, count, width}, total, {}, out);
}

}  // namespace varlen::cuda
