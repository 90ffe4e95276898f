// Picking sequences: any order, any number of times. Outputs do not overlap inputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// index[k], negatives counted from the end, to the range of that single row in [0, count).
/// Fails with index_out_of_range at the first bad position.
Status gather_index(const std::int64_t* index, std::int64_t n, std::int64_t count, Range* ranges) noexcept;

/// ranges of one dim to the ranges of the dim below it, and ends[k] = how many rows ranges [0, k] give below.
/// `limit` is how many rows the lower dim has. Fails with decreasing, beyond_total (where = row) or overflow.
Status gather_descend(Offsets level, const Range* ranges, std::int64_t n, std::int64_t limit, Range* below,
                      std::int64_t* ends) noexcept;

/// The ends of every row in every range, one range after another, counted anew from 0: a level of its own.
/// `ends` and `below` are what gather_descend gave; out holds the sum of the ranges' sizes.
/// Fails with decreasing at the first row that does not fit.
Status gather_ends(Offsets level, const Range* ranges, const Range* below, const std::int64_t* ends,
                   std::int64_t n, std::int64_t* out) noexcept;

/// The rows of every range, one range after another. ends[k] = rows in ranges [0, k]. Threaded by bytes.
void gather_rows(Rows values, const Range* ranges, const std::int64_t* ends, std::int64_t n,
                 std::byte* out) noexcept;

}  // namespace varlen
