// Rows that change places inside their sequence: reversed, shifted, turned round. Rows move by width. Values
// and outputs are level.total() rows; outputs do not overlap inputs, each byte of them is written once, and
// work is cut by bytes, so that threads share a long sequence.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/views.hpp"

namespace varlen {

/// The rows of each sequence, last to first.
void reverse_rows(Rows values, Offsets level, std::byte* out) noexcept;

/// How far the rows of a sequence move, towards its end where that is above 0: one number for all sequences,
/// or, where `step` is 1, one for each.
struct Moves {
  const std::int64_t* distances = nullptr;
  std::int64_t step = 0;

  [[nodiscard]] std::int64_t distance_of(std::int64_t i) const noexcept { return distances[i * step]; }
};

/// Row t of a sequence goes to place t + by. What leaves the sequence is lost, and `fill`, one row (null:
/// zero bytes), is put where none arrives.
void shift_rows(Rows values, Offsets level, Moves moves, const std::byte* fill, std::byte* out) noexcept;

/// Row t of a sequence goes to place t + by, counted round and round.
void roll_rows(Rows values, Offsets level, Moves moves, std::byte* out) noexcept;

}  // namespace varlen
