// What the two builds of the loops inside sequences share.
#pragma once

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "support/prefetch.hpp"
#include "support/sequences.hpp"
#include "varlen/cast.hpp"
#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "varlen/sequence.hpp"
#include "varlen/views.hpp"

namespace varlen {

// Elements that are worked on at once, so that they and what is made of them stay in the first cache.
inline constexpr std::int64_t kWithinBlock = 2048;
// Columns of a tile, where sequences are longer than that.
inline constexpr std::int64_t kWithinTile = 256;

using WithinAll = void (*)(const SequenceJob&, std::byte*) noexcept;

struct SequenceTable {
  WithinAll f32, f64;
};

namespace baseline {
extern const SequenceTable kSequenceOps;
}  // namespace baseline

namespace avx2 {
extern const SequenceTable kSequenceOps;
}  // namespace avx2

namespace avx512 {
extern const SequenceTable kSequenceOps;
}  // namespace avx512

}  // namespace varlen
