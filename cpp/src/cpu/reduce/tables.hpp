// What the two builds of the folding loops share.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "ahead.hpp"
#include "varlen/cast.hpp"
#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "varlen/reduce.hpp"
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
  const std::int64_t each = (rows + parts - 1) / parts;
  return (each + kReduceBlock - 1) / kReduceBlock * kReduceBlock;
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
  by_shares(level, chunks_for(level.total() * width), [&](std::int64_t, Range some) { body(some); });
}

using ReduceAll = void (*)(const ReduceJob&, const Convert&, std::byte*, std::byte*) noexcept;

/// One function for each type of floats that numbers are folded in.
struct ReduceFloats {
  ReduceAll f32, f64;
};

/// What is built for the baseline alone.
struct ReduceRest {
  struct Products {
    ReduceAll f32, f64, u64;
  } prod;
  ReduceAll norm, sum;
  struct Ends {
    ReduceAll max, min;
  } i64, u64;
};

/// any and all.
void reduce_truth(const ReduceJob& job, std::byte* out) noexcept;

/// Of sequences `some`: values, columns, what was found, where it goes.
using WhichOf = void (*)(Offsets, Range, const std::byte*, std::int64_t, const std::byte*, Places) noexcept;

/// Whole numbers by width.
struct WhichTable {
  WhichOf w1, w2, w4, w8, f16, bf16, f32, f64;
};

/// Of sequences `some`, but those that threads share: extremes and their places.
using ExtremeOf = void (*)(const ReduceJob&, Range, std::byte*, Places) noexcept;

struct ExtremeTable {
  struct Ends {
    ExtremeOf max, min;
  } f32, f64;
};

/// Groups `some`, and of each sequence the share `part` of `parts` of its numbers.
using BlocksOf = void (*)(const BlocksJob&, Range, std::int64_t, std::int64_t, std::byte*) noexcept;

struct BlocksTable {
  BlocksOf f32, f64, u64;
};

namespace plain {
extern const ReduceRest kReduceRest;
extern const ReduceFloats kReduceSums;
extern const ReduceFloats kReduceMost;
extern const ReduceFloats kReduceLeast;
extern const WhichTable kReduceWhich;
extern const ExtremeTable kReduceExtreme;
extern const BlocksTable kReduceBlocks;
}  // namespace plain

namespace broad {
extern const ReduceFloats kReduceSums;
extern const ReduceFloats kReduceMost;
extern const ReduceFloats kReduceLeast;
extern const WhichTable kReduceWhich;
extern const ExtremeTable kReduceExtreme;
extern const BlocksTable kReduceBlocks;
}  // namespace broad

}  // namespace varlen
