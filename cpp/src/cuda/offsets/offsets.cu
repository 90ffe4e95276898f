#include "support/each.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/offsets.hpp"

namespace varlen::cuda {

namespace {

struct Lengths {
  Ends level;

  [[nodiscard]] VARLEN_DEVICE Nothing scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t value(Nothing, std::int64_t i) const { return level.length(i); }
};

struct NarrowOffsets {
  Ends level;

  [[nodiscard]] VARLEN_DEVICE Nothing scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::int32_t value(Nothing, std::int64_t i) const {
    return static_cast<std::int32_t>(level.start(i));
  }
};

struct RowIds : InSequences {
  [[nodiscard]] VARLEN_DEVICE std::int64_t value(const Among& among, std::int64_t row) const {
    return sequence(among, row);
  }
};

struct Positions : InSequences {
  [[nodiscard]] VARLEN_DEVICE std::int64_t value(const Among& among, std::int64_t row) const {
    return row - level.start(sequence(among, row));
  }
};

}  // namespace

Error lengths_of(Stream stream, Offsets level, std::int64_t* lengths) noexcept {
  return write_each(stream, Lengths{ends_of(level)}, level.count, lengths);
}

Error offsets_of(Stream stream, Offsets level, std::int32_t* offsets) noexcept {
  return write_each(stream, NarrowOffsets{ends_of(level)}, level.count + 1, offsets);
}

Error row_ids_of(Stream stream, Offsets level, std::int64_t total, std::int64_t* row_ids) noexcept {
  return write_each(stream, RowIds{ends_of(level)}, total, row_ids);
}

Error positions_of(Stream stream, Offsets level, std::int64_t total, std::int64_t* positions) noexcept {
  return write_each(stream, Positions{ends_of(level)}, total, positions);
}

}  // namespace varlen::cuda
