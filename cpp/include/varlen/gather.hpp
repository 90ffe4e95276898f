// Picking sequences, and parts of them: any order, any number of times. Outputs do not overlap inputs.
// A choice is n ranges of rows and ends[k] = how many rows ranges [0, k] hold; empty ranges are legal.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// index[k], negatives counted from the end, to the range of that single row in [0, count).
/// Fails with index_out_of_range at the first bad position.
Status gather_index(const std::int64_t* index, std::int64_t n, std::int64_t count, Range* ranges) noexcept;

/// Whether all of the n numbers are from 0 to below `count`.
bool gather_in_range(const std::int64_t* numbers, std::int64_t n, std::int64_t count) noexcept;

/// How many bytes of a mask are not 0.
std::int64_t gather_count(const std::uint8_t* mask, std::int64_t n) noexcept;

/// The first `count` places of a mask that are not 0, ascending, and how many were found. index holds one
/// entry more than count.
std::int64_t gather_mask(const std::uint8_t* mask, std::int64_t n, std::int64_t count,
                         std::int64_t* index) noexcept;

/// The rows of a checked level that a mask marks, in order, at most `count` of them, and ends[i] = how many
/// sequences [0, i] have left. A mark is a byte that is not 0, one a row. out holds `count` rows; returns how
/// many were written. One pass over mask and rows; one thread, as erase_rows.
std::int64_t gather_marked(Rows values, Offsets level, const std::uint8_t* mask, std::int64_t count,
                           std::byte* out, std::int64_t* ends) noexcept;

/// out[k] = row ids[k] of sequence sequences[k], negatives counted from its end. False where one of them is
/// outside, which ends it. Offsets are prefetched.
bool gather_inside(Offsets level, const std::int64_t* sequences, const std::int64_t* ids, std::int64_t n,
                   std::int64_t* out) noexcept;

/// The same where numbers units.start(i) to units.end(i) are of sequence i: both levels have as many.
bool gather_inside(Offsets level, Offsets units, const std::int64_t* ids, std::int64_t* out) noexcept;

/// A Python slice as PySlice_Unpack gives it; step is not 0.
struct Slice {
  std::int64_t start = 0;
  std::int64_t stop = 0;
  std::int64_t step = 1;

  /// What it picks of `length` items: `size` of them from `first`, step apart.
  struct Pick {
    std::int64_t first = 0;
    std::int64_t size = 0;
  };
  [[nodiscard]] Pick resolve(std::int64_t length) const noexcept;
};

/// index[k] = pick.first + k * step, for k in [0, pick.size).
void gather_steps(Slice::Pick pick, std::int64_t step, std::int64_t* index) noexcept;

/// Sequence index[k] of a checked level: its rows, and ends. One pass, offsets prefetched; threaded.
/// Fails with index_out_of_range or overflow at the first bad position.
Status gather_sequences(Offsets level, const std::int64_t* index, std::int64_t n, Range* ranges,
                        std::int64_t* ends) noexcept;

/// Every sequence of a checked level: ranges holds level.count.
void gather_all(Offsets level, Range* ranges) noexcept;

/// What `window` gives of each of the n sequences `ranges` of a level: its rows, and ends. In place is fine.
/// Where window.step is not 1, a range begins at the first row picked and is as long as the pick.
void gather_windows(const Range* ranges, std::int64_t n, Slice window, Range* out,
                    std::int64_t* ends) noexcept;

/// The rows of windows of any step, one by one: index holds ends[n - 1].
void gather_strided(const Range* ranges, const std::int64_t* ends, std::int64_t n, std::int64_t step,
                    std::int64_t* index) noexcept;

/// index[k] = row `place` of sequence ranges[k], negatives counted from its end.
/// Fails with index_out_of_range: where = k, value = the sequence's length.
Status gather_column(const Range* ranges, std::int64_t n, std::int64_t place, std::int64_t* index) noexcept;

/// ranges of one dim to the ranges of the dim below it, and ends[k] = how many rows ranges [0, k] give below.
/// `limit` is how many rows the lower dim has. Fails with decreasing, beyond_total (where = row) or overflow.
Status gather_descend(Offsets level, const Range* ranges, std::int64_t n, std::int64_t limit, Range* children,
                      std::int64_t* ends) noexcept;

/// The ends of every row in every range, one range after another, counted anew from 0: a level of its own.
/// `ends` and `children` are what gather_descend gave; out holds the sum of the ranges' sizes.
/// Fails with decreasing at the first row that does not fit.
Status gather_ends(Offsets level, const Range* ranges, const Range* children, const std::int64_t* ends,
                   std::int64_t n, std::int64_t* out) noexcept;

/// The rows of every range, one range after another. Threaded by bytes.
void gather_rows(Rows values, const Range* ranges, const std::int64_t* ends, std::int64_t n,
                 std::byte* out) noexcept;

}  // namespace varlen
