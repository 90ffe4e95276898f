// Edit distances (Levenshtein) between sequence i of one level and sequence i of another.
//
// Keys of 64 bits, compared by equality alone. Bit-parallel (Myers 1999, by blocks of 64 rows as Hyyro 2003):
// ceil(m / 64) n steps for a pair of lengths m and n, in memory of m + n. Counts of the kinds of edits cost m
// n steps. A pair is the work of one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/support/work.hpp"
#include "varlen/views.hpp"

namespace varlen {

struct EditJob {
  Offsets a;
  Offsets b;  ///< as many sequences
  const std::int64_t* a_keys = nullptr;
  const std::int64_t* b_keys = nullptr;
  bool mixed_signs = false;  ///< one side is unsigned: keys with the highest bit differ from all of the other
  bool wants_counts = false;
  std::int64_t low = 0;    ///< the smallest of all keys
  std::int64_t range = 0;  ///< how many numbers there are from it to the largest, where they are few; else 0
};

/// The longest sequence that is compared.
inline constexpr std::int64_t kEditLimit = (std::int64_t{1} << 31) - 2;

/// Fills in low and range: few numbers need no table of keys.
void find_range(EditJob& job) noexcept;

[[nodiscard]] WorkShares edit_shares(const EditJob& job) noexcept;

/// distances[i]: the fewest substitutions, insertions and deletions that make sequence i of a from that of b.
/// counts (n, 3), where the job asks for them: of the three, with the fewest substitutions among such ways.
void edit_distance(const EditJob& job, const WorkShares& shares, std::byte* scratch, std::int64_t* distances,
                   std::int64_t* counts) noexcept;

}  // namespace varlen
