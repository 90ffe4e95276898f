// Rows that lie in sequences: which one, found between those of the first and the last row of a tile.
#pragma once

#include <cstdint>

#include "varlen/views.hpp"
#include "view.hpp"

namespace varlen::cuda {

/// The scope of what needs none.
struct NoScope {};

/// The sequences from `first` to `last`.
struct Candidates {
  std::int64_t first, last;
};

/// Of maps and values whose elements are the rows of a level.
struct InSequences {
  Ends level;

  [[nodiscard]] VARLEN_DEVICE Candidates scope(std::int64_t first, std::int64_t last) const {
    const std::int64_t begin = level.holding(first, 0, level.count() - 1);
    return {begin, level.holding(last, begin, level.count() - 1)};
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t sequence(const Candidates& candidates, std::int64_t row) const {
    return level.holding(row, candidates.first, candidates.last);
  }
};

[[nodiscard]] inline Ends ends_of(Offsets level) noexcept {
  return {{level.ends, level.count}};
}

}  // namespace varlen::cuda
