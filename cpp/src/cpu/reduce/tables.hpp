// The tables of the folding loops, one for each instruction set that they are built for.
#pragma once

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "support/elements.hpp"
#include "support/prefetch.hpp"
#include "support/sequences.hpp"
#include "varlen/cast.hpp"
#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "varlen/reduce.hpp"
#include "varlen/views.hpp"

namespace varlen {

using ReduceAll = void (*)(const ReduceJob&, const Convert&, std::byte*, std::byte*) noexcept;

/// One function for each type that is folded; null for halves that are to be converted before.
struct ReduceTable {
  ReduceAll f16, bf16, f32, f64, i64, u64;
};

/// What is built for the baseline alone.
struct ReduceRest {
  struct Products {
    ReduceAll f32, f64, u64;
  } prod;
  ReduceAll norm;
};

/// The same as `reduce` where the values are a rectangle.
void reduce_slots(const ReduceJob& job, std::byte* scratch, std::byte* out) noexcept;

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

namespace baseline {
extern const ReduceRest kReduceRest;
extern const ReduceTable kReduceSums;
extern const ReduceTable kReduceMost;
extern const ReduceTable kReduceLeast;
extern const WhichTable kReduceWhich;
extern const ExtremeTable kReduceExtreme;
extern const BlocksTable kReduceBlocks;
}  // namespace baseline

namespace avx2 {
extern const ReduceTable kReduceSums;
extern const ReduceTable kReduceMost;
extern const ReduceTable kReduceLeast;
extern const WhichTable kReduceWhich;
extern const ExtremeTable kReduceExtreme;
extern const BlocksTable kReduceBlocks;
}  // namespace avx2

namespace avx512 {
extern const ReduceTable kReduceSums;
extern const ReduceTable kReduceMost;
extern const ReduceTable kReduceLeast;
extern const ExtremeTable kReduceExtreme;
}  // namespace avx512

}  // namespace varlen
