// Which rows may look at which: a square over the rows of a level, filled inside the blocks of its sequences.
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

}  // namespace varlen
