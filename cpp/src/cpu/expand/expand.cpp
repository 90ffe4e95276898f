#include "varlen/expand.hpp"

#include <algorithm>
#include <cstring>

#include "support/dispatch.hpp"
#include "support/read_once.hpp"
#include "support/writers.hpp"
#include "varlen/copy.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

/// What one thread writes: rows [begin, end) of the output, sequence after sequence.
struct Share {
  Offsets level;
  Range rows;

  /// The first sequence with rows here.
  [[nodiscard]] std::int64_t first() const noexcept {
    return std::upper_bound(level.ends, level.ends + level.count, rows.begin) - level.ends;
  }

  /// body(i, [begin, end)) for each sequence i that has rows here.
  template <class Body>
  void visit(Body body) const noexcept {
    const std::int64_t* const ends = level.ends;
    std::int64_t i = first();
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

/// A row of W <= 8 bytes, as often as a vector holds it.
template <int W>
Vec repeat(const std::byte* row) noexcept {
  using Two = std::uint64_t __attribute__((vector_size(16)));
  std::uint64_t x = 0;
  std::memcpy(&x, row, W);
  for (int bits = 8 * W; bits < 64; bits *= 2) x |= x << bits;
  const Two pair = Two{} + x;
  return reinterpret_cast<Vec>(pair);
}

/// Rows that repeat within kWideBytes bytes: vectors run over the end of a sequence, and the next writes
/// there again. One pair of them is written whatever the length, so that no branch waits for short ones.
template <int W>
void expand_short(const Share& share, const std::byte* rows, std::byte* out) noexcept {
  const std::int64_t* const ends = share.level.ends;
  const std::byte* const limit = out + share.rows.end * W;
  std::int64_t row = share.rows.begin;
  for (std::int64_t i = share.first(); row < share.rows.end; ++i) {
    const std::byte* const from = rows + i * W;
    Vec first, second;
    if constexpr (W >= 16) {
      first = load(from);
      second = load(from + (W - 16));
    } else {
      first = second = repeat<W>(from);
    }
    const std::int64_t end = std::min(share.rows.end, ends[i]);
    std::byte* const to = out + row * W;
    const std::int64_t bytes = (end - row) * W;
    row = end;
    if (limit - to >= bytes + kWideBytes) {
      std::int64_t position = 0;
      do {
        store(to + position, first);
        store(to + position + 16, second);
        position += kWideBytes;
      } while (position < bytes);
    } else {
      for (std::int64_t position = 0; position < bytes; position += W) std::memcpy(to + position, from, W);
    }
  }
}

// Up to here a row takes less time than a branch that was guessed wrong.
constexpr std::int64_t kFromSources = 128;

/// body(sources, [begin, end)) for blocks of rows: sources[r - begin] is what row r of the output repeats.
/// Where each comes from is written down first, eight at once, so that no branch waits for how often a row
/// stands.
template <class Body>
[[gnu::always_inline]] inline void by_sources(const Share& share, const std::byte* rows, std::int64_t width,
                                              Body body) noexcept {
  constexpr std::int64_t kBlock = 512;
  using Sources = std::uint64_t __attribute__((vector_size(64)));
  constexpr auto kAtOnce = static_cast<std::int64_t>(sizeof(Sources) / sizeof(const std::byte*));
  const std::byte* sources[kBlock + kAtOnce];
  const std::int64_t* const ends = share.level.ends;
  std::int64_t i = share.first();
  for (std::int64_t row = share.rows.begin; row < share.rows.end;) {
    const Range block{row, std::min(share.rows.end, row + kBlock)};
    for (;; ++i) {
      const Sources addresses = Sources{} + reinterpret_cast<std::uintptr_t>(rows + i * width);
      const std::int64_t end = std::min(block.end, ends[i]);
      do {
        std::memcpy(sources + (row - block.begin), &addresses, sizeof addresses);
        row += kAtOnce;
      } while (row < end);
      row = end;
      if (row == block.end) break;
    }
    body(static_cast<const std::byte* const*>(sources), block);
  }
}

/// Rows of kWideBytes to kFromSources bytes.
VARLEN_LOOP void expand_medium(const Share& share, const std::byte* rows, std::int64_t width,
                               std::byte* out) noexcept {
  by_sources(share, rows, width, [&](const std::byte* const* sources, Range block) {
    std::byte* to = out + block.begin * width;
    for (std::int64_t r = 0; r < block.size(); ++r, to += width) {
      for (std::int64_t position = 0; position < width - kWideBytes; position += kWideBytes)
        detail::move_fixed<kWideBytes>(to + position, sources[r] + position);
      detail::move_fixed<kWideBytes>(to + width - kWideBytes, sources[r] + width - kWideBytes);
    }
  });
}

// Vectors of a row that stay in registers while it is repeated.
constexpr std::int64_t kRegisters = 12;

/// Rows of Vectors - 2 to Vectors vectors, which are read once a sequence. Measured on 15 MB of rows of 384
/// bytes: 0.8 of the time of a copy a row.
template <int Vectors>
VARLEN_LOOP void expand_held(const Share& share, const std::byte* rows, std::int64_t width,
                             std::byte* out) noexcept {
  const std::int64_t* const ends = share.level.ends;
  const auto place = [width](int v) __attribute__((always_inline)) {
    return v < Vectors - 2 ? v * kWideBytes
                           : std::min(v * kWideBytes, width - kWideBytes);  // the last may lap over
  };
  std::int64_t row = share.rows.begin;
  std::byte* to = out + row * width;
  for (std::int64_t i = share.first(); row < share.rows.end; ++i) {
    const std::byte* const from = rows + i * width;
    Wide vectors[Vectors];
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) std::memcpy(&vectors[v], from + place(v), kWideBytes);
    for (const std::int64_t end = std::min(share.rows.end, ends[i]); row < end; ++row, to += width) {
#pragma GCC unroll 16
      for (int v = 0; v < Vectors; ++v) std::memcpy(to + place(v), &vectors[v], kWideBytes);
    }
  }
}

/// Rows of any other width.
void expand_long(const Share& share, const std::byte* rows, std::int64_t width, std::byte* out) noexcept {
  share.visit([&](std::int64_t i, Range mine) {
    const std::byte* const row = rows + i * width;
    for (std::int64_t r = mine.begin; r < mine.end; ++r) copy_exact(out + r * width, row, width);
  });
}

// Rows that are no whole lines are put together out of two; from here on that is little beside the rest.
constexpr std::int64_t kPastFrom = 128;

/// Whether rows are whole lines, and begin where lines do.
bool are_lines(std::int64_t width, const std::byte* out) noexcept {
  return width % Pattern::kLine == 0 &&
         reinterpret_cast<std::uintptr_t>(out) % static_cast<std::uintptr_t>(Pattern::kLine) == 0;
}

/// Whether rows go past the caches.
bool goes_past(std::int64_t bytes, std::int64_t width, const std::byte* out) noexcept {
  return stores_for(bytes) == Stores::past_caches && (width >= kPastFrom || are_lines(width, out));
}

void expand_past(const Share& share, Rows rows, std::byte* out) noexcept {
  const std::int64_t width = rows.width;
  if (width <= kFromSources && are_lines(width, out)) {
    by_sources(share, rows.data, width, [&](const std::byte* const* sources, Range block) {
      for (std::int64_t r = 0; r < block.size(); ++r)
        PastCaches::lines(out + (block.begin + r) * width, sources[r], width);
    });
    PastCaches::fence();
    return;
  }
  const std::byte* const end = rows.data + rows.count * width;
  const Pattern blank(nullptr, 0);
  PastCaches to(out + share.rows.begin * width, out + share.rows.end * width, blank);
  share.visit([&](std::int64_t i, Range mine) {
    const std::byte* const row = rows.data + i * width;
    for (std::int64_t r = mine.begin; r < mine.end; ++r) to.copy(row, width, rows.data, end);
  });
  to.finish();
}

}  // namespace

void expand(Offsets level, Rows rows, std::byte* out) noexcept {
  const std::int64_t width = rows.width;
  if (width <= 0) return;
  const bool past = goes_past(level.total() * width, width, out);
  by_share(level, width, [&](const Share& share) {
    switch (width) {
      case 1:
        return expand_short<1>(share, rows.data, out);
      case 2:
        return expand_short<2>(share, rows.data, out);
      case 4:
        return expand_short<4>(share, rows.data, out);
      case 8:
        return expand_short<8>(share, rows.data, out);
      case 16:
        return expand_short<16>(share, rows.data, out);
      case 32:
        return expand_short<32>(share, rows.data, out);
      default:
        if (past) return expand_past(share, rows, out);
        if (width < kWideBytes || width > kRegisters * kWideBytes)
          return expand_long(share, rows.data, width, out);
        if (width <= kFromSources) return best<expand_medium>(share, rows.data, width, out);
        if (width <= 6 * kWideBytes) return best<expand_held<6>>(share, rows.data, width, out);
        if (width <= 8 * kWideBytes) return best<expand_held<8>>(share, rows.data, width, out);
        if (width <= 10 * kWideBytes) return best<expand_held<10>>(share, rows.data, width, out);
        best<expand_held<kRegisters>>(share, rows.data, width, out);
    }
  });
}

void expand_end(Offsets level, Rows rows, bool last, std::byte* out) noexcept {
  const std::int64_t width = rows.width;
  if (width <= 0) return;
  by_share(level, width, [&](const Share& share) {
    share.visit([&](std::int64_t i, Range mine) {
      const std::int64_t position = last ? level.end(i) - 1 : level.start(i);
      std::memset(out + mine.begin * width, 0, static_cast<std::size_t>(mine.size() * width));
      if (position >= mine.begin && position < mine.end)
        copy_exact(out + position * width, rows.data + i * width, width);
    });
  });
}

void expand_which(Offsets level, const std::byte* rows, std::int64_t columns, std::int64_t size,
                  const std::int64_t* which, std::byte* out) noexcept {
  const std::int64_t width = columns * size;
  if (width <= 0) return;
  by_share(level, width, [&](const Share& share) {
    share.visit([&](std::int64_t i, Range mine) {
      std::memset(out + mine.begin * width, 0, static_cast<std::size_t>(mine.size() * width));
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t place = read_once(which + i * columns + c);
        if (!is_inside(place, level.length(i))) continue;
        const std::int64_t position = level.start(i) + place;
        if (position < mine.begin || position >= mine.end) continue;
        const std::int64_t to = position * width + c * size;
        std::memcpy(out + to, rows + (i * columns + c) * size, static_cast<std::size_t>(size));
      }
    });
  });
}

}  // namespace varlen
