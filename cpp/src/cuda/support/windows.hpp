// How a grid is cut into blocks where rows of a sequence depend on each other, whatever the lengths are.
//
// The rows of all sequences, with one place more for every sequence, are cut into windows. A block gets those
// sequences that begin in its window: short ones, which it takes together out of shared memory, a thread a
// sequence and column; and the chunks of long ones that begin there, by all of its threads one after the
// other. So a giant sequence and many empty ones are spread over blocks alike, and how a sequence is cut
// depends on its length alone: its numbers are the same alone and in any batch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "divisor.hpp"
#include "launch.hpp"
#include "varlen/views.hpp"
#include "view.hpp"

namespace varlen::cuda {

/// Threads of a block: few, so that those of many blocks wait for memory at once.
constexpr int kWindowThreads = 64;
/// Elements of a window, and of the longest sequence that is short.
constexpr int kWindowElements = 2048;
constexpr int kShortElements = 512;
/// A place of each row is left free behind this many, so that threads reach different banks.
constexpr int kBank = 32;
constexpr int kWindowRoom = (kWindowElements + kShortElements) / kBank * (kBank + 1);
/// Long sequences that begin in one window.
constexpr int kMostLong = 6;
/// Chunks of one sequence: more rows than these are of a window each make the chunks longer.
constexpr std::int64_t kMostChunks = 1024;

/// Where an element of a window lies in shared memory.
[[nodiscard]] VARLEN_DEVICE int bank_place(int element) {
  return element + element / kBank;
}

/// Rows of one sequence that a block takes: those from `begin` to `end` of its `length`, the k-th of
/// `chunks`.
struct Chunk {
  std::int64_t sequence;
  std::int64_t start;  ///< first row of the sequence
  std::int64_t length;
  std::int64_t rows;  ///< of a chunk
  std::int64_t k;

  [[nodiscard]] VARLEN_DEVICE std::int64_t count() const { return (length + rows - 1) / rows; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t begin() const { return k * rows; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t end() const {
    return begin() + rows < length ? begin() + rows : length;
  }
};

/// A long sequence that begins in a window; -1: none.
struct LongSequence {
  std::int64_t number, begin, end;
};

/// What the threads of a block tell each other about their window.
struct WindowNews {
  std::int64_t last;              ///< sequence that begins in it
  LongSequence longs[kMostLong];  ///< in the order of their rows, with gaps

  [[nodiscard]] VARLEN_DEVICE bool has_long() const {
    bool has = false;
    VARLEN_ROLLED for (int k = 0; k < kMostLong; ++k) has |= longs[k].number >= 0;
    return has;
  }
  /// Whether a row is one of theirs.
  [[nodiscard]] VARLEN_DEVICE bool is_long(std::int64_t row) const {
    bool is = false;
    VARLEN_ROLLED for (int k = 0; k < kMostLong; ++k) {
      is |= longs[k].number >= 0 && row >= longs[k].begin && row < longs[k].end;
    }
    return is;
  }
};

/// Rows in the order in which they are gone through.
struct Stretch {
  std::int64_t first;
  std::int64_t step;  ///< 1 or -1
  int rows;
};

struct Windows {
  Ends level;
  std::int64_t total = 0;
  std::int64_t columns = 1;
  std::int64_t rows = 1;  ///< of a window, and of a chunk
  int tiles = 1;          ///< of columns
  int width = 1;          ///< columns of a tile, the last may have fewer
  int groups = 1;         ///< threads that share a column of a chunk
  int group_rows = 1;     ///< rows that each takes
  int short_rows = 1;     ///< most rows of a short sequence
  Divisor by_rows;
  std::uint32_t width_factor = 0;
  Divisor by_tiles;

  // Exact for numbers of elements, and widths of at most kWindowThreads.
  static constexpr int kFactorBits = 20;

  /// Columns of one block.
  struct Tile {
    std::int64_t first;
    int width;
  };

  Windows() = default;
  Windows(Offsets offsets, std::int64_t all_rows, std::int64_t all_columns) noexcept
      : level{{offsets.ends, offsets.count}}, total(all_rows), columns(all_columns) {
    tiles = static_cast<int>(blocks_for(columns, kWindowThreads));
    width = static_cast<int>(blocks_for(columns, tiles));
    groups = kWindowThreads / width;
    group_rows = kWindowElements / (width * groups);
    short_rows = kShortElements / width;
    rows = std::int64_t{group_rows} * groups;
    by_rows = Divisor(rows, total + offsets.count);
    width_factor = (1U << kFactorBits) / static_cast<std::uint32_t>(width) + 1;
    by_tiles = Divisor(tiles, count() * tiles);
  }

  [[nodiscard]] std::int64_t count() const noexcept { return blocks_for(total + level.ends.count, rows); }
  [[nodiscard]] std::int64_t blocks() const noexcept { return count() * tiles; }
  /// Whether some sequence is more than one chunk, the longest being as long as this.
  [[nodiscard]] bool has_chunks(std::int64_t longest) const noexcept { return longest > rows; }
  /// Places where a number a column can be kept for each chunk.
  [[nodiscard]] std::int64_t slots() const noexcept { return 2 * count(); }

  /// The row in which an element of a window lies.
  [[nodiscard]] VARLEN_DEVICE int row_of(int element) const {
    return static_cast<int>((static_cast<std::uint32_t>(element) * width_factor) >> kFactorBits);
  }

  /// The place of chunk k of the sequence of a chunk.
  [[nodiscard]] VARLEN_DEVICE std::int64_t slot(const Chunk& piece, std::int64_t k) const {
    const std::int64_t window = by_rows.quotient(piece.start + piece.sequence + k * piece.rows);
    return 2 * window + (k == 0 ? 1 : 0);
  }

  [[nodiscard]] VARLEN_DEVICE Tile tile(std::int64_t number) const {
    const std::int64_t first = number * width;
    const std::int64_t left = columns - first;
    return {first, left < width ? static_cast<int>(left) : width};
  }

  [[nodiscard]] VARLEN_DEVICE Chunk chunk(std::int64_t sequence, std::int64_t k) const {
    const std::int64_t start = level.start(sequence);
    const std::int64_t length = level.end(sequence) - start;
    const std::int64_t limit = rows * kMostChunks;
    return {sequence, start, length, rows * ((length + limit - 1) / limit), k};
  }

  /// The first sequence that begins at a place or behind it.
  [[nodiscard]] VARLEN_DEVICE std::int64_t first_from(std::int64_t place) const {
    std::int64_t low = 0;
    std::int64_t high = level.count();
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (level.start(middle) + middle < place) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// body.run_short(tile, first sequence, last sequence, rows of the short ones, news), where some begin in
  /// the window of this block, and body.chunk(tile, chunk) for each chunk that does. All threads come to
  /// both.
  template <class Thread, class Body>
  VARLEN_DEVICE void walk(Thread& thread, WindowNews& news, const Body& body) const {
    const std::int64_t window = by_tiles.quotient(thread.block());
    const Tile block_tile = tile(thread.block() - window * tiles);
    const std::int64_t begin = window * rows;
    const std::int64_t end = begin + rows;
    const std::int64_t first = first_from(begin);
    const bool begins = first < level.count() && level.start(first) + first < end;
    if (begins) {
      if (thread.index() < kMostLong) news.longs[thread.index()].number = -1;
      thread.sync();
      const std::int64_t row = level.start(first);
      for (std::int64_t i = first + thread.index(); i < level.count(); i += kWindowThreads) {
        const std::int64_t start = level.start(i);
        if (start + i >= end) break;
        const std::int64_t next = level.end(i);
        if (next - start > short_rows)
          news.longs[static_cast<int>(start - row) / short_rows] = {i, start, next};
        if (i + 1 == level.count() || next + i + 1 >= end) news.last = i;
      }
      thread.sync();
      const std::int64_t last = news.last;
      const bool ends_short = level.length(last) <= short_rows;
      body.run_short(block_tile, first, last, Range{row, ends_short ? level.end(last) : level.start(last)},
                     news);
    }
    // First the one that began in a window before. One call in a loop, for the code of each is long.
    VARLEN_ROLLED for (int k = -1; k < (begins ? kMostLong : 0); ++k) {
      const std::int64_t sequence = k < 0 ? first - 1 : news.longs[k].number;
      if (sequence < 0) continue;
      Chunk one = chunk(sequence, 0);
      if (k < 0) {
        if (one.length <= short_rows) continue;
        const std::int64_t place = one.start + one.sequence;
        one.k = (begin - place + one.rows - 1) / one.rows;
        if (one.begin() >= one.length || place + one.begin() >= end) continue;
      }
      body.chunk(block_tile, one);
    }
  }

  /// body(elements of the window, where they lie in memory) for a tile of some rows, several a thread at a
  /// time; -1 where one is none, or of a long sequence where there is news of them.
  template <int at_once, class Thread, class Body>
  VARLEN_DEVICE void share(Thread& thread, Tile tile, Stretch stretch, const WindowNews* news,
                           const Body& body) const {
    const int count = stretch.rows * width;
    const WindowNews* const longs = news != nullptr && news->has_long() ? news : nullptr;
    VARLEN_ROLLED for (int begin = thread.index(); begin < count; begin += at_once * kWindowThreads) {
      int elements[at_once];
      std::int64_t places[at_once];
      VARLEN_UNROLLED for (int j = 0; j < at_once; ++j) {
        elements[j] = begin + j * kWindowThreads;
        places[j] = elements[j] < count ? place(elements[j], tile, stretch, longs) : -1;
      }
      body(elements, places);
    }
  }

 private:
  /// Where an element of the window lies in memory.
  [[nodiscard]] VARLEN_DEVICE std::int64_t place(int element, Tile tile, Stretch stretch,
                                                 const WindowNews* longs) const {
    const int r = row_of(element);
    const int column = element - r * width;
    const std::int64_t row = stretch.first + r * stretch.step;
    if (column >= tile.width || (longs != nullptr && longs->is_long(row))) return -1;
    return row * columns + tile.first + column;
  }
};

}  // namespace varlen::cuda
