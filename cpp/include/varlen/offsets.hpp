// One level: from lengths, row ids or given offsets to checked ends, and back to what people ask of it.
// Zero sequences and empty sequences are legal everywhere. Inputs and outputs do not overlap.
#pragma once

#include <cstdint>

#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// What one pass over a level tells.
struct LevelStats {
  std::int64_t longest = 0;
  std::int64_t shortest = 0;
};

/// offsets[0] = 0, offsets[i + 1] = offsets[i] + lengths[i]. T is any integer type; offsets holds n + 1.
/// Fails with negative_length or overflow at the first bad row. One pass, which `stats` comes out of too.
template <class T>
Status offsets_from_lengths(const T* lengths, std::int64_t n, std::int64_t* offsets,
                            LevelStats* stats = nullptr) noexcept;

/// offsets from the sorted row id of each of total rows, for n sequences. offsets holds n + 1.
/// Fails with row_ids_unsorted or row_ids_range at the first bad position.
Status offsets_from_row_ids(const std::int64_t* row_ids, std::int64_t total, std::int64_t n,
                            std::int64_t* offsets) noexcept;

/// offsets[i] = numbers[i] - numbers[0], for n + 1 of them; `first` is numbers[0]. T is int32 or int64. Fails
/// with decreasing or beyond_total where they fall, begin below 0 or end beyond limit. One pass.
template <class T>
Status rebase_offsets(const T* numbers, std::int64_t n, std::int64_t limit, std::int64_t* offsets,
                      std::int64_t* first) noexcept;

/// Ends are at least 0 and never decrease; the last is at most limit (no limit below 0).
Status check_ends(Offsets level, std::int64_t limit) noexcept;

/// The longest and the shortest sequence; 0 and 0 where there is none.
LevelStats level_stats(Offsets level) noexcept;

/// lengths[i] = level.length(i).
void lengths_of(Offsets level, std::int64_t* lengths) noexcept;

/// The same, and the offsets, count + 1 of them, as int32: only where no number is beyond it.
void lengths_of(Offsets level, std::int32_t* lengths) noexcept;
void offsets_of(Offsets level, std::int32_t* offsets) noexcept;

/// row_ids[j] = the sequence that row j is in; row_ids holds level.total().
void row_ids_of(Offsets level, std::int64_t* row_ids) noexcept;

/// positions[j] = the place of row j inside its sequence; positions holds level.total().
void positions_of(Offsets level, std::int64_t* positions) noexcept;

}  // namespace varlen
