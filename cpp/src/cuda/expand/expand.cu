#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/expand.hpp"

namespace varlen::cuda {

namespace {

struct ToEveryRow : InSequences {
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Candidates& candidates, std::int64_t row) const {
    return sequence(candidates, row);
  }
};

struct ToOneEnd : InSequences {
  bool to_last;

  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Candidates& candidates, std::int64_t row) const {
    const std::int64_t i = sequence(candidates, row);
    return row == (to_last ? level.end(i) - 1 : level.start(i)) ? i : -1;
  }
};

}  // namespace

Error expand(Stream stream, Offsets level, std::int64_t total, Rows rows, std::byte* out) noexcept {
  return move_rows(stream, ToEveryRow{ends_of(level)}, rows, total, {}, out);
}

Error expand_end(Stream stream, Offsets level, std::int64_t total, Rows rows, bool last,
                 std::byte* out) noexcept {
  return move_rows(stream, ToOneEnd{{ends_of(level)}, last}, rows, total, {}, out);
}

}  // namespace varlen::cuda
