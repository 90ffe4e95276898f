// Ragged rows to a rectangle. Rows move by width: what the bytes mean is not known here.
// Shapes: `depth` ragged axes with sizes[0..depth) slots each, then width bytes a row. The output is written
// in ascending order; a sequence longer than its slots, or than it is to keep, is cut, never spilled. Empty
// sequences give fill; no sequences give nothing. Outputs do not overlap inputs. Nothing is read before
// values.data or past values.count rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

enum class Side : std::uint8_t { right, left };

/// How an output is stored: a call that writes several decides by the bytes of all of them.
enum class Stores : std::uint8_t { by_size, cached, past_caches };

struct Padding {
  Side side = Side::right;          ///< where the fill goes, at every axis
  Side cut = Side::right;           ///< which end a sequence loses when it is longer than its slots
  const std::byte* fill = nullptr;  ///< one row of the output; null is zero bytes
  std::int64_t period = 0;          ///< bytes of fill where it repeats inside a row; 0: all of the row
  Stores stores = Stores::by_size;
  const std::int64_t* keeps = nullptr;  ///< most rows of a sequence, of every axis; null: as many as slots
  Convert convert{};  ///< values only: elements change on their way, and width is the row's after that
};

/// From here on outputs go past the caches, which saves reading what is about to be overwritten: half of the
/// last cache, 32 MB at most. Below that the output would still be in the cache when it is used.
[[nodiscard]] std::int64_t past_caches_from() noexcept;

/// The stores for a call that writes this many bytes in all its outputs.
[[nodiscard]] inline Stores stores_for(std::int64_t bytes) noexcept {
  return bytes >= past_caches_from() ? Stores::past_caches : Stores::cached;
}

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

/// segments[k]: the rows of sequence k of those that were picked, `ranges[k]` under levels[0] of all. levels
/// holds those below, or nothing.
void pad_segments_of(const Range* ranges, std::int64_t n, const Offsets* levels, Rows values,
                     Segment* segments) noexcept;

/// out (n, sizes[0], ..., sizes[depth-1], width): output row i holds the rows of segments
/// [i * per_row, (i + 1) * per_row) one after another on the first axis. levels of each hold depth - 1.
void pad_segments(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                  const std::int64_t* sizes, Padding how, std::byte* out) noexcept;

/// The masks of pad and pad_segments: 1 where a row is, 0 where fill is. Same shapes, one byte a row.
void pad_mask(const Offsets* levels, int depth, Range rows, const std::int64_t* sizes, Padding how,
              std::byte* out) noexcept;
void pad_segments_mask(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                       const std::int64_t* sizes, Padding how, std::byte* out) noexcept;

/// Beside a mask: the place of each row in its sequence on the innermost axis, before any cut, and 0 where
/// fill is. out (rows.size(), sizes[0], ..., sizes[depth-1]). Threaded by output bytes.
void pad_positions(const Offsets* levels, int depth, Range rows, const std::int64_t* sizes, Padding how,
                   std::int64_t* out) noexcept;
/// The same of sequences that were picked: `ranges[k]` are the rows of output row k under levels[0] of all.
/// levels holds those below, or nothing.
void pad_picked_positions(const Range* ranges, std::int64_t n, const Offsets* levels, int depth,
                          const std::int64_t* sizes, Padding how, std::int64_t* out) noexcept;

/// The longest sequence of levels[d] under `rows`, for every d in [0, depth): the smallest sizes that cut
/// nothing.
void pad_sizes(const Offsets* levels, int depth, Range rows, std::int64_t* sizes) noexcept;

/// The same where a sequence of axis d keeps caps[d] rows at most: those that are cut have no say in the axes
/// below them.
void pad_kept_sizes(const Offsets* levels, int depth, Range rows, const std::int64_t* caps, Side cut,
                    std::int64_t* sizes) noexcept;

/// The way back. dense is (levels[0].count, sizes[0], ..., sizes[depth-1], width); out gets the rows that the
/// levels say are there, end to end: levels[depth-1].total() of them. Fill is not read but for what shares a
/// vector with data. No sequence is longer than its slots: unpad_check. Threaded by output bytes.
void unpad(const std::byte* dense, std::int64_t width, const Offsets* levels, int depth,
           const std::int64_t* sizes, Side side, std::byte* out) noexcept;

/// Fails with too_long at the first sequence of `level` that has more rows than slots.
Status unpad_check(Offsets level, std::int64_t slots) noexcept;

/// lengths[i] = how many of the slots of row i are set, which must be the first ones, or the last ones where
/// the side is left: not_prefix_mask at the first row that is otherwise. mask is (n, slots), one byte a slot.
Status lengths_from_mask(const std::byte* mask, std::int64_t n, std::int64_t slots, Side side,
                         std::int64_t* lengths) noexcept;

}  // namespace varlen
