#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/shift.hpp"

namespace varlen::cuda {

namespace {

/// How far: `all`, or what is there for each sequence.
struct Distance {
  View<const std::int64_t> per_sequence;
  std::int64_t all = 0;

  [[nodiscard]] VARLEN_DEVICE std::int64_t lookup(std::int64_t i) const {
    return per_sequence.data != nullptr ? per_sequence[i] : all;
  }
};

enum class Way : std::uint8_t { reverse, shift, roll };

/// One map for all ways: a branch that a whole launch takes costs less than kernels of their own.
struct ShiftMap : InSequences {
  Way way;
  Distance distances;

  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Candidates& candidates, std::int64_t row) const {
    const std::int64_t i = sequence(candidates, row);
    const std::int64_t start = level.start(i);
    const std::int64_t end = level.end(i);
    if (way == Way::reverse) return start + end - 1 - row;
    const std::int64_t length = end - start;
    std::int64_t far = distances.lookup(i);
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
  if (moves.step == 0) return {{}, *moves.distances};
  return {{moves.distances, count}, 0};
}

}  // namespace

Error reverse_rows(Stream stream, Rows values, Offsets level, std::byte* out) noexcept {
  return move_rows(stream, ShiftMap{{ends_of(level)}, Way::reverse, {}}, values, values.count, {}, out);
}

Error shift_rows(Stream stream, Rows values, Offsets level, Moves moves, Fill fill, std::byte* out) noexcept {
  const ShiftMap map{{ends_of(level)}, Way::shift, distance_of(moves, level.count)};
  return move_rows(stream, map, values, values.count, blank_of(fill), out);
}

Error roll_rows(Stream stream, Rows values, Offsets level, Moves moves, std::byte* out) noexcept {
  const ShiftMap map{{ends_of(level)}, Way::roll, distance_of(moves, level.count)};
  return move_rows(stream, map, values, values.count, {}, out);
}

}  // namespace varlen::cuda
