// Which rows may look at which: a square over the rows of a level, filled inside the blocks of its sequences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/copy.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// How many rows before itself, and behind, a row sees inside its own sequence.
struct AttentionWindow {
  std::int64_t before = 0;
  std::int64_t behind = 0;
};

/// out (total, total) of `inside.unit` bytes each: `inside` where row i sees row j, `outside` elsewhere; both
/// of one unit. Every row sees itself. Written in ascending order, threaded by bytes; costs one filling of
/// it.
void block_mask(Offsets level, AttentionWindow window, const FillPattern& inside, const FillPattern& outside,
                std::byte* out) noexcept;

}  // namespace varlen
