// Padded rows of at most kSmallRow bytes: no branch a row. The row's bytes are read whole, wherever the
// values end, and mixed with the fill under a mask that starts or stops where they do. A store may run into
// the next row, which is written after it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/pad.hpp"

namespace varlen {

inline constexpr std::int64_t kSmallRow = 128;

struct SmallRows {
  Offsets level;  ///< the innermost level: every sequence of it becomes one padded row
  Range rows;
  const std::byte* data = nullptr;  ///< where the row `first` of the values is
  std::int64_t first = 0;
  const std::byte* begin = nullptr;  ///< what may be read, a whole padded row or nothing
  const std::byte* end = nullptr;
  std::int64_t width = 1;  ///< bytes of one value row, as it is written
  std::int64_t slots = 0;
  std::int64_t slot_limit = 0;  ///< slots that a sequence fills at most
  bool left = false;
  bool cut_left = false;
  bool mask = false;                ///< no values: ones where they would be
  const std::byte* fill = nullptr;  ///< a padded row of nothing but fill, and 16 bytes more
};

/// Writes rows.size() rows of slots * width <= kSmallRow bytes at out. Never writes at or past limit.
void pad_small(const SmallRows& job, std::byte* out, const std::byte* limit) noexcept;

}  // namespace varlen
