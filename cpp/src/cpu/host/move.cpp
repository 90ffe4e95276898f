// What moves rows on the host: see expand.hpp, shift.hpp and mask.hpp.
#include <cstring>

#include "varlen/copy.hpp"
#include "varlen/expand.hpp"
#include "varlen/host.hpp"
#include "varlen/reduce.hpp"

namespace varlen::host {

using cuda::Error;
using cuda::Stream;

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
                 const std::byte* inside, const std::byte* outside, std::byte* out) noexcept {
  varlen::block_mask(level, window, FillPattern(inside, unit), FillPattern(outside, unit), out);
  return 0;
}

}  // namespace varlen::host
