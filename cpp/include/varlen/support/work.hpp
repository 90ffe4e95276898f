// How pairs of sequences are shared among threads by the work that each of them is, and the memory for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "varlen/views.hpp"

namespace varlen {

/// Sequences for one thread at a time, and where in the scratch memory its bytes begin.
struct WorkShare {
  Range sequences;
  std::int64_t scratch = 0;
};

/// Made before the work, for the caller allocates what it needs: `bytes`, aligned to kAlignment.
struct WorkShares {
  static constexpr std::size_t kLimit = 64;
  static constexpr std::int64_t kAlignment = 64;

  std::array<WorkShare, kLimit> items{};
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  std::int64_t work = 0;  ///< about the bytes that could be moved in the same time
};

}  // namespace varlen
