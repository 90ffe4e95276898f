#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/shift.hpp"

namespace varlen::cuda {

namespace {

/// How far: `all`, or what is there for each sequence.
struct Distance {
  View<const std::int64_t> each;
  std::int64_t all = 0;

  [[nodiscard]] VARLEN_DEVICE std::int64_t of(std::int64_t i) const {
    return each.data != nullptr ? each[i] : all;
  }
};

enum class Way : std::uint8_t { reverse, shift, roll };

/// One map for all ways: a branch that a whole launch takes costs less than kernels of their own.
struct Moved : InSequences {
  Way way;
  Distance by;

  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Among& among, std::int64_t row) const {
    const std::int64_t i = sequence(among, row);
    const std::int64_t start = level.start(i);
    const std::int64_t end = level.end(i);
    if (way == Way::reverse) return start + end - 1 - row;
    const std::int64_t length = end - start;
    std::int64_t far = by.of(i);
    if (way == Way::shift) {
      // Any number: only one inside the sequence is taken off.
      return far <= row - start && far > row - end ? row - far : -1;
    }
    if (far <= -length || far >= length) far %= length;
    const std::int64_t place = row - start - far;
    return start + (place < 0 ? place + length : place >= length ? place - length : place);
  }
};

Distance distance_of(Moves moves, std::int64_t count) noexcept {
  if (moves.step == 0) return {{}, *moves.by};
  return {{moves.by, count}, 0};
}

}  // namespace

Error reverse_rows(Stream stream, Rows values, Offsets level, std::byte* out) noexcept {
  return move_rows(stream, Moved{{ends_of(level)}, Way::reverse, {}}, values, values.count, {}, out);
}

Error shift_rows(Stream stream, Rows values, Offsets level, Moves moves, Fill fill, std::byte* out) noexcept {
  const Moved map{{ends_of(level)}, Way::shift, distance_of(moves, level.count)};
  return move_rows(stream, map, values, values.count, blank_of(fill), out);
}

Error roll_rows(Stream stream, Rows values, Offsets level, Moves moves, std::byte* out) noexcept {
  const Moved map{{ends_of(level)}, Way::roll, distance_of(moves, level.count)};
  return move_rows(stream, map, values, values.count, {}, out);
}

}  // namespace varlen::cuda
