// What moves rows on the host: see concat.hpp, gather.hpp, span_rows.hpp, pad.hpp, expand.hpp, shift.hpp and
// mask.hpp.
#include <cstring>

#include "varlen/concat.hpp"
#include "varlen/copy.hpp"
#include "varlen/expand.hpp"
#include "varlen/gather.hpp"
#include "varlen/host.hpp"
#include "varlen/pad.hpp"
#include "varlen/reduce.hpp"
#include "varlen/span_rows.hpp"

namespace varlen::host {

using cuda::Error;
using cuda::Stream;

Error concat(Stream, const ConcatBlock* blocks, const ConcatBlock*, std::int64_t n, std::byte* out) noexcept {
  varlen::concat(blocks, n, out);
  return 0;
}

Error interleave(Stream, const Part* parts, const Part*, std::int64_t n, std::int64_t width, Offsets result,
                 std::int64_t, std::byte* out) noexcept {
  varlen::interleave(parts, n, width, result, out);
  return 0;
}

Error gather_rows(Stream, Rows values, const Range* ranges, const std::int64_t* ends, std::int64_t n,
                  std::int64_t, std::byte* out) noexcept {
  varlen::gather_rows(values, ranges, ends, n, out);
  return 0;
}

Error take_rows(Stream, Rows values, const std::int64_t* rows, std::int64_t n, std::byte* out) noexcept {
  varlen::take_rows(values, rows, n, out);
  return 0;
}

Error insert_rows(Stream, Rows values, const std::int64_t* targets, std::int64_t n, const std::byte* new_rows,
                  std::byte* out) noexcept {
  varlen::insert_rows(values, targets, n, new_rows, out);
  return 0;
}

Error remove_rows(Stream, Rows all, const std::int64_t* targets, std::int64_t n, std::byte* rest,
                  std::byte* removals) noexcept {
  varlen::remove_rows(all, targets, n, rest, removals);
  return 0;
}

Error pad_mask(Stream, const Offsets* levels, int depth, Range rows, const std::int64_t* sizes,
               const Padding& how, std::byte* out) noexcept {
  varlen::pad_mask(levels, depth, rows, sizes, how, out);
  return 0;
}

/// Rectangles of the host that cut have no way back.
Error unpad(Stream, const std::byte* dense, std::int64_t width, const Offsets* levels, int depth,
            const std::int64_t* sizes, const Padding& how, std::int64_t, std::byte* out) noexcept {
  varlen::unpad(dense, width, levels, depth, sizes, how.side, out);
  return 0;
}

Error expand(Stream, Offsets level, std::int64_t, Rows rows, std::byte* out) noexcept {
  varlen::expand(level, rows, out);
  return 0;
}

Error expand_end(Stream, Offsets level, std::int64_t, Rows rows, bool last, std::byte* out) noexcept {
  varlen::expand_end(level, rows, last, out);
  return 0;
}

/// Places of the host are wide.
Error expand_which(Stream, Offsets level, std::int64_t, const std::byte* rows, std::int64_t columns,
                   std::int64_t size, cuda::WhichRows which, std::byte* out) noexcept {
  varlen::expand_which(level, rows, columns, size, which.wide, out);
  return 0;
}

Error divide_by_lengths(Stream, Type type, Offsets level, std::int64_t columns, const std::byte* rows,
                        std::byte* out) noexcept {
  const std::int64_t bytes = level.count * columns * size_of(type);
  if (out != rows && bytes > 0) std::memcpy(out, rows, static_cast<std::size_t>(bytes));
  varlen::divide_by_lengths(type, level, columns, out);
  return 0;
}

Error reverse_rows(Stream, Rows values, Offsets level, std::byte* out) noexcept {
  varlen::reverse_rows(values, level, out);
  return 0;
}

/// A fill of the host is a row.
Error shift_rows(Stream, Rows values, Offsets level, Moves moves, cuda::Fill fill, std::byte* out) noexcept {
  varlen::shift_rows(values, level, moves, fill.data, out);
  return 0;
}

Error roll_rows(Stream, Rows values, Offsets level, Moves moves, std::byte* out) noexcept {
  varlen::roll_rows(values, level, moves, out);
  return 0;
}

Error block_mask(Stream, Offsets level, std::int64_t, AttentionWindow window, std::int64_t unit,
                 const std::byte* content, const std::byte* blank, std::byte* out) noexcept {
  varlen::block_mask(level, window, FillPattern(content, unit), FillPattern(blank, unit), out);
  return 0;
}

}  // namespace varlen::host
