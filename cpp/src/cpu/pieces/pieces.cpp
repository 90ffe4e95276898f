#include "varlen/pieces.hpp"

#include <algorithm>

#include "short.hpp"
#include "support/dispatch.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

/// Rows [begin, end) of the rectangle; whatever is written behind a row lies before `stop`.
void pad_range(const Piece* pieces, std::int64_t begin, std::int64_t end, std::int64_t slots,
               std::int64_t width, Side side, const FillPattern& fill, std::byte* out) noexcept {
  const std::int64_t row_bytes = slots * width;
  if (runs(Isa::avx2) && row_bytes <= kShortRow && width % 4 == 0 && fill.blocks) {
    begin = pad_short(pieces, begin, end, slots, width, side, fill, out);
  }
  std::byte* const stop = out + end * row_bytes;
  std::byte* row = out + begin * row_bytes;
  for (std::int64_t i = begin; i < end; ++i, row += row_bytes) {
    if (i + kPrefetchDistance < end) __builtin_prefetch(pieces[i + kPrefetchDistance].data);
    const std::int64_t bytes = pieces[i].rows * width;
    const std::int64_t gap = row_bytes - bytes;
    // Fill may run over into what is written next: the row itself, or the next one.
    const bool has_room = fill.blocks && row + row_bytes + 16 <= stop;
    if (side == Side::right) {
      copy_exact(row, pieces[i].data, bytes);
      has_room ? fill_over(row + bytes, gap, fill) : fill_exact(row + bytes, gap, fill);
    } else {
      has_room ? fill_over(row, gap, fill) : fill_exact(row, gap, fill);
      copy_exact(row + gap, pieces[i].data, bytes);
    }
  }
}

template <class Body>
void by_rows(std::int64_t n, std::int64_t row_bytes, Body body) noexcept {
  const std::int64_t chunks = std::min(n, chunks_for(n * row_bytes));
  parallel(chunks, [&](std::int64_t c) { body(n * c / chunks, n * (c + 1) / chunks); });
}

}  // namespace

void concat_pieces(const Piece* pieces, Offsets level, std::int64_t width, std::byte* out) noexcept {
  const std::int64_t total = level.total();
  const std::int64_t chunks = std::min(total, chunks_for(total * width));
  parallel(chunks, [&](std::int64_t c) {
    const std::int64_t from = total * c / chunks;
    const std::int64_t to = total * (c + 1) / chunks;
    std::int64_t i = std::upper_bound(level.ends, level.ends + level.count, from) - level.ends;
    std::int64_t place = from;
    const auto copy = [&] {
      const std::int64_t rows = std::min(level.end(i), to) - place;
      copy_exact(out + place * width, pieces[i].data + (place - level.start(i)) * width, rows * width);
      place += rows;
      ++i;
    };
    if (i < level.count && place > level.start(i)) copy();
    const std::int64_t last = std::upper_bound(level.ends, level.ends + level.count, to) - level.ends;
    if (runs(Isa::avx2) && width % 4 == 0 && (to - from) * width <= kShortPiece * (last - i)) {
      std::byte* next = out + place * width;
      i = concat_short(pieces, i, last, width, next, out + to * width);
      if (i > 0) place = std::max(place, level.end(i - 1));
    }
    while (i < level.count && place < to) {
      if (i + kPrefetchDistance < level.count) __builtin_prefetch(pieces[i + kPrefetchDistance].data);
      copy();
    }
  });
}

std::int64_t space_pieces(const Piece* pieces, std::int64_t n, Piece gap, Piece* output,
                          std::int64_t* ends) noexcept {
  std::int64_t count = 0;
  std::int64_t total = 0;
  const auto put = [&](const Piece& piece) {
    output[count] = piece;
    ends[count++] = total += piece.rows;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    if (pieces[i].rows == 0) continue;
    put(gap);
    put(pieces[i]);
  }
  if (count > 0) put(gap);
  return count;
}

void pad_pieces(const Piece* pieces, std::int64_t n, std::int64_t slots, std::int64_t width, Side side,
                const FillPattern& fill, std::byte* out) noexcept {
  by_rows(n, slots * width, [&](std::int64_t begin, std::int64_t end) {
    pad_range(pieces, begin, end, slots, width, side, fill, out);
  });
}

void mask_pieces(const Piece* pieces, std::int64_t n, std::int64_t slots, Side side,
                 std::byte* out) noexcept {
  by_rows(n, slots, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::byte* const row = out + i * slots;
      const auto rows = static_cast<std::size_t>(pieces[i].rows);
      const std::size_t gap = static_cast<std::size_t>(slots) - rows;
      std::memset(side == Side::right ? row : row + gap, 1, rows);
      std::memset(side == Side::right ? row + rows : row, 0, gap);
    }
  });
}

void cut_pieces(Piece* pieces, std::int64_t n, std::int64_t slots, std::int64_t width, Side side) noexcept {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t excess = pieces[i].rows - slots;
    if (excess <= 0) continue;
    if (side == Side::left) pieces[i].data += excess * width;
    pieces[i].rows = slots;
  }
}

}  // namespace varlen
