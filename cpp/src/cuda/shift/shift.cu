#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/shift.hpp"

namespace varlen::cuda {

namespace {

struct Reversed : InSequences {
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Among& among, std::int64_t row) const {
    const std::int64_t i = sequence(among, row);
    return level.start(i) + level.end(i) - 1 - row;
  }
};

/// How far: `all`, or what is there for each sequence.
struct Distance {
  View<const std::int64_t> each;
  std::int64_t all = 0;

  [[nodiscard]] VARLEN_DEVICE std::int64_t of(std::int64_t i) const {
    return each.data != nullptr ? each[i] : all;
  }
};

struct Shifted : InSequences {
  Distance by;

  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Among& among, std::int64_t row) const {
    const std::int64_t i = sequence(among, row);
    const std::int64_t start = level.start(i);
    const std::int64_t place = row - start;
    const std::int64_t by_i = by.of(i);  // any number: only one inside the sequence is taken off
    return by_i <= place && by_i > place - (level.end(i) - start) ? row - by_i : -1;
  }
};

struct Rolled : InSequences {
  Distance by;

  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Among& among, std::int64_t row) const {
    const std::int64_t i = sequence(among, row);
    const std::int64_t start = level.start(i);
    const std::int64_t length = level.end(i) - start;
    std::int64_t by_i = by.of(i);
    if (by_i <= -length || by_i >= length) by_i %= length;
    const std::int64_t place = row - start - by_i;
    return start + (place < 0 ? place + length : place >= length ? place - length : place);
  }
};

Distance distance_of(Moves moves, std::int64_t count) noexcept {
  if (moves.step == 0) return {{}, *moves.by};
  return {{moves.by, count}, 0};
}

}  // namespace

Error reverse_rows(Stream stream, Rows values, Offsets level, std::byte* out) noexcept {
  return move_rows(stream, Reversed{{ends_of(level)}}, values, values.count, {}, out);
}

Error shift_rows(Stream stream, Rows values, Offsets level, Moves moves, Fill fill, std::byte* out) noexcept {
  const Shifted map{{ends_of(level)}, distance_of(moves, level.count)};
  return move_rows(stream, map, values, values.count, blank_of(fill), out);
}

Error roll_rows(Stream stream, Rows values, Offsets level, Moves moves, std::byte* out) noexcept {
  const Rolled map{{ends_of(level)}, distance_of(moves, level.count)};
  return move_rows(stream, map, values, values.count, {}, out);
}

}  // namespace varlen::cuda
