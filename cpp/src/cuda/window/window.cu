#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/window.hpp"

namespace varlen::cuda {

namespace {

/// The neighbours of the rows that are kept; output row: one place of one of them.
struct Neighbours {
  Ends level;
  InSequences centers;
  Divisor places;
  std::int64_t left;
  std::int64_t dilation;
  std::int64_t stride;
  std::int64_t farthest;  ///< places, to either side, that can still be inside a sequence

  [[nodiscard]] VARLEN_DEVICE Candidates scope(std::int64_t first, std::int64_t last) const {
    return centers.scope(places.quotient(first), places.quotient(last));
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Candidates& candidates, std::int64_t row) const {
    const std::int64_t center = places.quotient(row);
    const std::int64_t distance = row - center * places.divisor() - left;
    if (distance > farthest || distance < -farthest) return -1;
    const std::int64_t i = centers.sequence(candidates, center);
    const std::int64_t start = level.start(i);
    const std::int64_t from = (center - centers.level.start(i)) * stride + distance * dilation;
    return from >= 0 && from < level.end(i) - start ? start + from : -1;
  }
};

}  // namespace

Error seq2col(Stream stream, Rows values, Offsets level, Offsets centers, Window how, std::int64_t total,
              std::byte* out) noexcept {
  const std::int64_t rows = total * how.places();
  const Neighbours map{ends_of(level), {ends_of(centers)}, Divisor(how.places(), rows), how.left,
                       how.dilation,   how.stride,         values.count / how.dilation};
  return move_rows(stream, map, values, rows, {}, out);
}

}  // namespace varlen::cuda
