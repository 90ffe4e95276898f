#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/gather.hpp"

namespace varlen::cuda {

namespace {

struct GatherMap : InSequences {
  View<const Range> ranges;

  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Candidates& candidates, std::int64_t row) const {
    const std::int64_t k = sequence(candidates, row);
    return ranges[k].begin + row - level.start(k);
  }
};

}  // namespace

Error gather_rows(Stream stream, Rows values, const Range* ranges, const std::int64_t* ends, std::int64_t n,
                  std::int64_t total, std::byte* out) noexcept {
  return move_rows(stream, GatherMap{{ends_of({ends, n})}, {ranges, n}}, values, total, {}, out);
}

}  // namespace varlen::cuda
