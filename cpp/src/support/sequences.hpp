// How the rows of sequences are shared among threads, whatever is worked out from them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "varlen/pool.hpp"
#include "varlen/views.hpp"

namespace varlen {

inline constexpr std::int64_t kReduceBlock = 4096;

// A sequence is folded in parts, as many as depend on its rows alone, so that threads may share them.
inline constexpr std::int64_t kReduceParts = 64;
inline constexpr std::int64_t kPartRows = 16 * kReduceBlock;
// From here on threads share a sequence; below it is too little to be worth it.
inline constexpr std::int64_t kGiantBytes = std::int64_t{4} << 20;

[[nodiscard]] inline std::int64_t part_rows(std::int64_t rows) noexcept {
  const std::int64_t parts = std::clamp<std::int64_t>((rows + kPartRows - 1) / kPartRows, 1, kReduceParts);
  const std::int64_t size = (rows + parts - 1) / parts;
  return (size + kReduceBlock - 1) / kReduceBlock * kReduceBlock;
}

/// body(share, sequences) for `shares` of all of them, about the same number of rows in each, by threads.
template <class Body>
void by_shares(Offsets level, std::int64_t shares, Body body) noexcept {
  const std::int64_t total = level.total();
  const auto cut = [&](std::int64_t c) {  // the first sequence that ends past a share of the rows
    if (c == shares) return level.count;
    return c == 0 ? 0
                  : std::upper_bound(level.ends, level.ends + level.count, total / shares * c) - level.ends;
  };
  parallel(shares, [&](std::int64_t c) { body(c, Range{cut(c), cut(c + 1)}); });
}

/// body(sequences) for shares of all of them, by threads where their rows, `width` bytes each, are worth it.
template <class Body>
void by_sequences(Offsets level, std::int64_t width, Body body) noexcept {
  by_shares(level, chunks_for(level.total() * width), [&](std::int64_t, Range share) { body(share); });
}

}  // namespace varlen
