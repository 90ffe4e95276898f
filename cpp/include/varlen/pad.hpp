// Ragged rows to a rectangle. Rows move by width: what the bytes mean is not known here.
// Shapes: `depth` ragged axes with sizes[0..depth) slots each, then width bytes a row. Every byte of the
// output is written once, in ascending order; a sequence longer than its slots is cut, never spilled.
// Empty sequences give fill; no sequences give nothing. Outputs do not overlap inputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/views.hpp"

namespace varlen {

enum class Side : std::uint8_t { right, left };

struct Padding {
  Side side = Side::right;          ///< where the fill goes, at every axis
  Side cut = Side::right;           ///< which end a sequence loses when it is longer than its slots
  const std::byte* fill = nullptr;  ///< width bytes; null is zero bytes
};

/// Consecutive rows that sit under one output row: what a window of a sequence is.
/// levels[0] gives each of `rows` its sequence on the next axis; depth 1 needs no levels.
struct Segment {
  const Offsets* levels = nullptr;
  Rows values;
  Range rows;
};

/// out (rows.size(), sizes[0], ..., sizes[depth-1], width): sequence i of levels[0], for i in rows.
/// levels holds depth entries, depth >= 1. Threaded by output bytes; the same bytes for any number.
void pad(const Offsets* levels, int depth, Range rows, Rows values, const std::int64_t* sizes, Padding how,
         std::byte* out) noexcept;

/// out (n, sizes[0], ..., sizes[depth-1], width): output row i holds the rows of segments
/// [i * per_row, (i + 1) * per_row) one after another on the first axis. levels of each hold depth - 1.
void pad_segments(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                  const std::int64_t* sizes, Padding how, std::byte* out) noexcept;

/// The masks of pad and pad_segments: 1 where a row is, 0 where fill is. Same shapes, one byte a row.
void pad_mask(const Offsets* levels, int depth, Range rows, const std::int64_t* sizes, Padding how,
              std::byte* out) noexcept;
void pad_segments_mask(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                       const std::int64_t* sizes, Padding how, std::byte* out) noexcept;

/// The longest sequence of levels[d] under `rows`, for every d in [0, depth): the smallest sizes that cut
/// nothing.
void pad_sizes(const Offsets* levels, int depth, Range rows, std::int64_t* sizes) noexcept;

}  // namespace varlen
