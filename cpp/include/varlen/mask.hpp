// Masks: which rows may look at which, a square over the rows of a level, filled inside the blocks of its
// sequences; and numbers in the place of what is masked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/copy.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// How many rows before itself, and behind, a row sees inside its own sequence.
struct AttentionWindow {
  std::int64_t left = 0;
  std::int64_t right = 0;
};

/// out (total, total) of `content.unit` bytes each: `content` where row i sees row j, `blank` elsewhere; both
/// of one unit. Every row sees itself. Written in ascending order, threaded by bytes; costs one filling of
/// it.
void block_mask(Offsets level, AttentionWindow window, const FillPattern& content, const FillPattern& blank,
                std::byte* out) noexcept;

/// out[i] = fill where mask[i] is not 0, values[i] elsewhere, `count` of `width` bytes each: 1, 2, 4 or 8.
/// Neither need be aligned, out does not overlap. Costs a copy, whatever the mask is; threaded by bytes.
void fill_masked(const std::byte* values, std::int64_t width, const std::uint8_t* mask, std::int64_t count,
                 const std::byte* fill, std::byte* out) noexcept;

}  // namespace varlen
