#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/window.hpp"

namespace varlen::cuda {

namespace {

/// The neighbours of the rows that are kept; output row: one place of one of them.
struct Neighbours {
  Ends level;
  InSequences kept;
  Divisor places;
  std::int64_t left;
  std::int64_t dilation;
  std::int64_t stride;
  std::int64_t farthest;  ///< places, to either side, that can still be inside a sequence

  [[nodiscard]] VARLEN_DEVICE Among scope(std::int64_t first, std::int64_t last) const {
    return kept.scope(places.quotient(first), places.quotient(last));
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Among& among, std::int64_t row) const {
    const std::int64_t center = places.quotient(row);
    const std::int64_t beside = row - center * places.by() - left;
    if (beside > farthest || beside < -farthest) return -1;
    const std::int64_t i = kept.sequence(among, center);
    const std::int64_t start = level.start(i);
    const std::int64_t from = (center - kept.level.start(i)) * stride + beside * dilation;
    return from >= 0 && from < level.end(i) - start ? start + from : -1;
  }
};

}  // namespace

Error seq2col(Stream stream, Rows values, Offsets level, Offsets kept, Window how, std::int64_t total,
              std::byte* out) noexcept {
  const std::int64_t rows = total * how.places();
  const Neighbours map{ends_of(level), {ends_of(kept)}, Divisor(how.places(), rows), how.left,
                       how.dilation,   how.stride,      values.count / how.dilation};
  return move_rows(stream, map, values, rows, {}, out);
}

}  // namespace varlen::cuda
