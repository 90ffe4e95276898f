// Spans that a caller names. `groups` is a level over them: those of group i lie in sequence i, and their
// numbers count from its first row. As many groups as sequences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// Pairs (begin, end), group by group, to ranges of rows, and ends[s] = how many rows spans [0, s] hold.
/// Fails with index_out_of_range or decreasing (the end is before the begin), where = span, value = its
/// sequence's length, or overflow.
Status span_ranges(Offsets level, Offsets groups, const std::int64_t* pairs, Range* ranges,
                   std::int64_t* ends) noexcept;

/// sizes[i] rows from row firsts[i] of sequence i on, one span a sequence, to ranges of rows and ends. Fails
/// with negative_length, where = the sequence, or index_out_of_range, value = its length.
Status span_cut(Offsets level, const std::int64_t* firsts, const std::int64_t* sizes, Range* ranges,
                std::int64_t* ends) noexcept;

/// Places in sequences to rows. With `allows_end`, a place may be a sequence's length, and those of a group
/// must not decrease. Fails with index_out_of_range, where = entry, value = its sequence's length, or
/// decreasing.
Status span_rows(Offsets level, Offsets groups, const std::int64_t* places, bool allows_end,
                 std::int64_t* rows) noexcept;

/// out: rows[0], rows[1], ... of the values, each one of them. Threaded by bytes.
void take_rows(Rows values, const std::int64_t* rows, std::int64_t n, std::byte* out) noexcept;

/// Whether rows never decrease and lie in [0, total]: what span_rows gives with `allows_end`. Fails with
/// index_out_of_range or decreasing, where = entry.
Status span_between(const std::int64_t* rows, std::int64_t n, std::int64_t total) noexcept;

/// ends of a level whose sequence i has the rows of both sequences i. Fails with overflow.
Status span_grown(Offsets level, Offsets groups, std::int64_t* ends) noexcept;

/// Copies values, row k of `new_rows` (zero bytes where it is null) put in front of row targets[k]; in this
/// order where several are. out: values.count + n rows. `targets` is what span_between lets pass. Threaded by
/// bytes.
void insert_rows(Rows values, const std::int64_t* targets, std::int64_t n, const std::byte* new_rows,
                 std::byte* out) noexcept;

/// The way back: row k that was put in goes to removals[k], the others to rest. Rows `all` are both.
void remove_rows(Rows all, const std::int64_t* targets, std::int64_t n, std::byte* rest,
                 std::byte* removals) noexcept;

}  // namespace varlen
