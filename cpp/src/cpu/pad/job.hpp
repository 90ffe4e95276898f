// What one call pads: its shape, and what becomes of a row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "varlen/pad.hpp"

namespace varlen {

struct PadJob {
  int depth;
  const std::int64_t* sizes;
  Padding how;
  std::int64_t width;  ///< bytes of a row as it is written
  bool mask;

  /// Most rows of a sequence of an axis.
  [[nodiscard]] std::int64_t slot_limit(int axis) const noexcept {
    return how.keeps == nullptr ? sizes[axis] : std::min(sizes[axis], how.keeps[axis]);
  }

  /// Bytes of one slot of an axis; axis -1 is a whole output row.
  [[nodiscard]] std::int64_t slot_bytes(int axis) const noexcept {
    std::int64_t bytes = width;
    for (int a = axis + 1; a < depth; ++a) bytes *= sizes[a];
    return bytes;
  }
};

}  // namespace varlen
