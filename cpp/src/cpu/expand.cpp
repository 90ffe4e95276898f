#include "varlen/expand.hpp"

#include <algorithm>
#include <cstring>

#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "wide.hpp"

namespace varlen {
namespace {

/// What one thread writes: rows [begin, end) of the output, sequence after sequence.
struct Share {
  Offsets level;
  Range rows;

  /// body(i, [begin, end)) for each sequence i that has rows here.
  template <class Body>
  void each(Body body) const noexcept {
    const std::int64_t* const ends = level.ends;
    std::int64_t i = std::upper_bound(ends, ends + level.count, rows.begin) - ends;
    for (std::int64_t row = rows.begin; row < rows.end; ++i) {
      const std::int64_t end = std::min(rows.end, ends[i]);
      if (end > row) body(i, Range{row, end});
      row = end;
    }
  }
};

/// Cut by rows of the output, so that threads share a long sequence.
template <class Body>
void by_share(Offsets level, std::int64_t width, Body body) noexcept {
  const std::int64_t total = level.total();
  const std::int64_t chunks = chunks_for(total * width);
  const auto cut = [&](std::int64_t c) { return c == chunks ? total : total / chunks * c; };
  parallel(chunks, [&](std::int64_t c) { body(Share{level, {cut(c), cut(c + 1)}}); });
}

/// A row that repeats within a vector: vectors run over the end of a sequence, and the next writes there
/// again.
VARLEN_WIDE void expand_short(const Share& share, const std::byte* rows, std::int64_t width,
                              std::byte* out) noexcept {
  const std::byte* const limit = out + share.rows.end * width;
  share.each([&](std::int64_t i, Range mine) {
    std::byte pattern[kOver];
    for (std::int64_t at = 0; at < kOver; at += width) {
      std::memcpy(pattern + at, rows + i * width, static_cast<std::size_t>(width));
    }
    std::byte* to = out + mine.begin * width;
    const std::int64_t bytes = mine.size() * width;
    if (limit - to >= bytes + kOver) {
      fill_over(to, bytes, pattern);
      return;
    }
    for (std::int64_t at = 0; at < bytes; at += width) {
      std::memcpy(to + at, pattern, static_cast<std::size_t>(width));
    }
  });
}

void expand_long(const Share& share, const std::byte* rows, std::int64_t width, std::byte* out) noexcept {
  share.each([&](std::int64_t i, Range mine) {
    const std::byte* const row = rows + i * width;
    for (std::int64_t r = mine.begin; r < mine.end; ++r) copy_exact(out + r * width, row, width);
  });
}

}  // namespace

void expand(Offsets level, Rows rows, std::byte* out) noexcept {
  const std::int64_t width = rows.width;
  if (width <= 0) return;
  const bool repeats = width <= kOver && kOver % width == 0;
  by_share(level, width, [&](const Share& share) {
    repeats ? expand_short(share, rows.data, width, out) : expand_long(share, rows.data, width, out);
  });
}

void expand_end(Offsets level, Rows rows, bool last, std::byte* out) noexcept {
  const std::int64_t width = rows.width;
  if (width <= 0) return;
  by_share(level, width, [&](const Share& share) {
    share.each([&](std::int64_t i, Range mine) {
      const std::int64_t at = last ? level.end(i) - 1 : level.start(i);
      std::memset(out + mine.begin * width, 0, static_cast<std::size_t>(mine.size() * width));
      if (at >= mine.begin && at < mine.end) copy_exact(out + at * width, rows.data + i * width, width);
    });
  });
}

void expand_which(Offsets level, const std::byte* rows, std::int64_t columns, std::int64_t size,
                  const std::int64_t* which, std::byte* out) noexcept {
  const std::int64_t width = columns * size;
  if (width <= 0) return;
  by_share(level, width, [&](const Share& share) {
    share.each([&](std::int64_t i, Range mine) {
      std::memset(out + mine.begin * width, 0, static_cast<std::size_t>(mine.size() * width));
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t at = level.start(i) + which[i * columns + c];
        if (at < mine.begin || at >= mine.end) continue;
        const std::int64_t to = at * width + c * size;
        std::memcpy(out + to, rows + (i * columns + c) * size, static_cast<std::size_t>(size));
      }
    });
  });
}

}  // namespace varlen
