#include "support/move.hpp"
#include "varlen/cuda/expand.hpp"

namespace varlen::cuda {

namespace {

/// Sequences that rows lie in, found between those of the first and the last.
struct Sequences {
  std::int64_t first, last;
};

struct ToEveryRow {
  Ends level;

  [[nodiscard]] VARLEN_DEVICE Sequences scope(std::int64_t first, std::int64_t last) const {
    const std::int64_t begin = level.holding(first, 0, level.count() - 1);
    return {begin, level.holding(last, begin, level.count() - 1)};
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Sequences& among, std::int64_t row) const {
    return level.holding(row, among.first, among.last);
  }
};

struct ToOneEnd : ToEveryRow {
  bool to_last;

  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Sequences& among, std::int64_t row) const {
    const std::int64_t i = level.holding(row, among.first, among.last);
    return row == (to_last ? level.end(i) - 1 : level.start(i)) ? i : -1;
  }
};

Ends ends_of(Offsets level) noexcept {
  return {{level.ends, level.count}};
}

}  // namespace

Error expand(Stream stream, Offsets level, std::int64_t total, Rows rows, std::byte* out) noexcept {
  return move_rows(stream, ToEveryRow{ends_of(level)}, rows, total, {}, out);
}

Error expand_end(Stream stream, Offsets level, std::int64_t total, Rows rows, bool last,
                 std::byte* out) noexcept {
  return move_rows(stream, ToOneEnd{{ends_of(level)}, last}, rows, total, {}, out);
}

}  // namespace varlen::cuda
