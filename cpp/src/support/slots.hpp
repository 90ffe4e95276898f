// Rows of a dim over the slots below them: what joints and batches share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "varlen/views.hpp"

namespace varlen {

/// The first row of the deepest dim under row i, through depth levels. What a level says is held inside the
/// next one: levels that were not copied may be written by another thread after they were checked.
inline std::int64_t first_slot(const Offsets* levels, int depth, std::int64_t i) noexcept {
  for (int d = 0; d < depth; ++d) {
    i = levels[d].start(d == 0 ? i : std::clamp<std::int64_t>(i, 0, levels[d].count));
  }
  return i;
}

/// The first row of `rows` whose slots may reach past `slot`: rows before it end at or before it.
inline std::int64_t row_of_slot(const Offsets* levels, int depth, Range rows, std::int64_t slot) noexcept {
  std::int64_t low = rows.begin;
  std::int64_t high = rows.end;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (first_slot(levels, depth, middle + 1) <= slot) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// `fill` is one row; zero bytes where it is null.
inline void fill_rows(std::byte* out, std::int64_t count, std::int64_t width,
                      const std::byte* fill) noexcept {
  if (fill == nullptr) {
    std::memset(out, 0, static_cast<std::size_t>(count * width));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(out + i * width, fill, static_cast<std::size_t>(width));
}

}  // namespace varlen
