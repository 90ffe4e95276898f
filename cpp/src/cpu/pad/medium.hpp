// Padded rows of some hundred bytes to some thousand, copied and filled in whole vectors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "small.hpp"
#include "support/pattern.hpp"

namespace varlen {

/// Measured: with AVX2 pad_medium is faster than memcpy and memset up to here, and as fast beyond.
inline constexpr std::int64_t kMediumRow = 16384;

/// As pad_small, for rows of up to kMediumRow bytes of values, not for masks, and a fill that repeats in a
/// vector. Stops at the first row around which not everything may be read and written whole, gives its
/// number, and moves out to where it goes.
std::int64_t pad_medium(const SmallRows& job, const Pattern& fill, std::byte*& out,
                        const std::byte* limit) noexcept;

}  // namespace varlen
