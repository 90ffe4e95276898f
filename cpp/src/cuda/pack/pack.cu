#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/pack.hpp"

namespace varlen::cuda {

namespace {

/// Row `step` of the sequence of a column; -1 where it has none.
struct Columns {
  Ends level;
  View<const std::int64_t> indices;

  [[nodiscard]] VARLEN_DEVICE std::int64_t row(std::int64_t step, std::int64_t column) const {
    const std::int64_t i = indices[column];
    const std::int64_t start = level.start(i);
    return step < level.end(i) - start ? start + step : -1;
  }
};

struct PadMap {
  Columns columns;
  Divisor slots;  ///< of a step

  [[nodiscard]] VARLEN_DEVICE NoScope scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(NoScope, std::int64_t slot) const {
    const std::int64_t step = slots.quotient(slot);
    return columns.row(step, slot - step * slots.divisor());
  }
};

struct PackMap {
  Columns columns;
  InSequences steps;

  [[nodiscard]] VARLEN_DEVICE Candidates scope(std::int64_t first, std::int64_t last) const {
    return steps.scope(first, last);
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Candidates& candidates, std::int64_t slot) const {
    const std::int64_t step = steps.sequence(candidates, slot);
    return columns.row(step, slot - steps.level.start(step));
  }
};

/// The slots of the rows of sequences.
struct FromBlock : InSequences {
  View<const std::int64_t> columns;
  Ends steps;           ///< of packed rows
  std::int64_t padded;  ///< slots of a step; 0: packed

  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Candidates& candidates, std::int64_t row) const {
    const std::int64_t i = sequence(candidates, row);
    const std::int64_t step = row - level.start(i);
    return (padded > 0 ? step * padded : steps.start(step)) + columns[i];
  }
};

}  // namespace

Error pack(Stream stream, Steps steps, Rows values, Offsets level, const std::int64_t* indices, Fill fill,
           std::byte* out) noexcept {
  const Columns columns{ends_of(level), {indices, steps.columns}};
  if (!steps.is_padded()) {
    return move_rows(stream, PackMap{columns, {ends_of(steps.packed)}}, values, steps.total, {}, out);
  }
  const std::int64_t slots = steps.count * steps.columns;
  if (slots == 0) return 0;
  return move_rows(stream, PadMap{columns, Divisor(steps.columns, slots)}, values, slots, blank_of(fill),
                   out);
}

Error unpack(Stream stream, Steps steps, const std::byte* block, std::int64_t width, Offsets level,
             const std::int64_t* columns, std::int64_t total, std::byte* out) noexcept {
  const std::int64_t rows = steps.is_padded() ? steps.count * steps.columns : steps.total;
  const FromBlock map{
      ends_of(level), {columns, level.count}, ends_of(steps.packed), steps.is_padded() ? steps.columns : 0};
  return move_rows(stream, map, {block, rows, width}, total, {}, out);
}

}  // namespace varlen::cuda
