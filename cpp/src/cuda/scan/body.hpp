// How rows are scanned, whatever is joined: short sequences a thread each, long ones in parts that meet.
//
// Io reads and writes the words of a scan: read(places, words), write(place, word).
#pragma once

#include <cstdint>

#include "fold.hpp"
#include "support/launch.hpp"
#include "support/windows.hpp"

namespace varlen::cuda {

template <class Fold, class Io>
struct ScanBody {
  using Total = typename Fold::Total;
  using Word = typename Fold::Word;
  static_assert(sizeof(Total) % sizeof(std::uint64_t) == 0);
  static constexpr int kTotalWords = sizeof(Total) / sizeof(std::uint64_t);
  static constexpr bool kNoBarrier = false;

  struct BlockMemory {
    Word words[kWindowRoom];
    Total totals[kWindowThreads];
    WindowNews news;
  };

  Windows windows;
  Fold fold;
  Io io;
  View<std::uint64_t> chunk_totals;  ///< the totals of chunks, kTotalWords each
  bool reverse;
  bool totals_only;  ///< works out what is kept, and writes nothing else

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    BlockMemory& memory = *thread.template memory<BlockMemory>();
    windows.walk(thread, memory.news, Block<Thread>{*this, thread, memory});
  }

 private:
  template <class Thread>
  struct Block {
    const ScanBody& owner;
    Thread& thread;
    BlockMemory& memory;

    VARLEN_DEVICE void run_short(Windows::Tile tile, std::int64_t first, std::int64_t last, Range rows,
                                 const WindowNews& news) const {
      if (owner.totals_only) return;
      const Windows& windows = owner.windows;
      const Stretch stretch{rows.begin, 1, static_cast<int>(rows.end - rows.begin)};
      load(tile, stretch, &news);
      thread.sync();
      const auto count = static_cast<int>(last - first + 1) * windows.width;
      for (int item = thread.index(); item < count; item += kWindowThreads) {
        const int number = windows.row_of(item);
        const int column = item - number * windows.width;
        const std::int64_t start = windows.level.start(first + number);
        const auto length = static_cast<int>(windows.level.end(first + number) - start);
        if (length > windows.short_rows || column >= tile.width) continue;
        const auto top = static_cast<int>(start - rows.begin) + (owner.reverse ? length - 1 : 0);
        const int step = owner.reverse ? -windows.width : windows.width;
        run<true>(top * windows.width + column, step, length, 0, length, Word{}, owner.fold.start);
      }
      thread.sync();
      store(tile, stretch, &news);
      thread.sync();
    }

    VARLEN_DEVICE void chunk(Windows::Tile tile, const Chunk& chunk) const {
      const Windows& windows = owner.windows;
      if (owner.totals_only && chunk.k + 1 == chunk.count()) return;
      const int group = windows.row_of(thread.index());
      const int column = thread.index() - group * windows.width;
      const bool works = group < windows.groups && column < tile.width;
      Total carry = owner.totals_only ? owner.fold.identity : owner.fold.start;
      if (!owner.totals_only && chunk.k > 0) carry = join_kept(tile, chunk, group, column, works, carry);
      const std::int64_t end = chunk.end();
      for (std::int64_t t = chunk.begin(); t < end; t += windows.rows) {
        const auto rows = static_cast<int>(end - t < windows.rows ? end - t : windows.rows);
        const Stretch stretch{owner.reverse ? chunk.start + chunk.length - 1 - t : chunk.start + t,
                              owner.reverse ? -1 : 1, rows};
        load(tile, stretch, nullptr);
        thread.sync();
        const int from = group * windows.group_rows;
        const int row_limit = from + windows.group_rows;
        const int mine = !works || from >= rows ? 0 : (row_limit < rows ? row_limit : rows) - from;
        const int element = from * windows.width + column;
        const Word last = mine > 0 ? word_before(tile, stretch, t + from, from, column) : Word{};
        memory.totals[thread.index()] =
            run<false>(element, windows.width, mine, t + from, chunk.length, last, owner.fold.identity);
        thread.sync();
        Total prefix = carry;
        VARLEN_ROLLED for (int g = 0; g < group && works; ++g) prefix =
            owner.fold.join(prefix, total_of(g, column));
        if (owner.totals_only || t + rows < end) {
          carry = prefix;
          VARLEN_ROLLED for (int g = group; g < windows.groups && works; ++g) {
            carry = owner.fold.join(carry, total_of(g, column));
          }
        }
        if (owner.totals_only) {
          thread.sync();
          continue;
        }
        run<true>(element, windows.width, mine, t + from, chunk.length, last, prefix);
        thread.sync();
        store(tile, stretch, nullptr);
        thread.sync();
      }
      if (owner.totals_only && works && group == 0) {
        std::uint64_t words[kTotalWords];
        __builtin_memcpy(words, &carry, sizeof carry);
        const std::int64_t slot = windows.slot(chunk, chunk.k) * windows.columns + tile.first + column;
        for (int w = 0; w < kTotalWords; ++w) owner.chunk_totals[slot * kTotalWords + w] = words[w];
      }
    }

   private:
    [[nodiscard]] VARLEN_DEVICE const Total& total_of(int group, int column) const {
      return memory.totals[group * owner.windows.width + column];
    }

    /// a and then the totals of the chunks before this one: some of them a group, then the groups.
    [[nodiscard]] VARLEN_DEVICE Total join_kept(Windows::Tile tile, const Chunk& chunk, int group, int column,
                                                bool works, Total a) const {
      const Windows& windows = owner.windows;
      const std::int64_t share = (chunk.k + windows.groups - 1) / windows.groups;
      const std::int64_t end = (group + 1) * share < chunk.k ? (group + 1) * share : chunk.k;
      Total own = owner.fold.identity;
      VARLEN_ROLLED for (std::int64_t k = group * share; k < end && works; ++k) {
        std::uint64_t words[kTotalWords];
        const std::int64_t slot = windows.slot(chunk, k) * windows.columns + tile.first + column;
        for (int w = 0; w < kTotalWords; ++w) words[w] = owner.chunk_totals[slot * kTotalWords + w];
        Total total;
        __builtin_memcpy(&total, words, sizeof total);
        own = owner.fold.join(own, total);
      }
      memory.totals[thread.index()] = own;
      thread.sync();
      VARLEN_ROLLED for (int g = 0; g < windows.groups && works; ++g) a =
          owner.fold.join(a, total_of(g, column));
      thread.sync();
      return a;
    }

    /// The word of the row before row t of a sequence, which is row `from` of the stretch.
    [[nodiscard]] VARLEN_DEVICE Word word_before(Windows::Tile tile, Stretch stretch, std::int64_t t,
                                                 int from, int column) const {
      Word word{};
      if constexpr (Fold::kLooksBack) {
        if (from > 0) return memory.words[bank_place((from - 1) * owner.windows.width + column)];
        if (t == 0) return word;
        const std::int64_t row = stretch.first - stretch.step;
        const std::int64_t element = row * owner.windows.columns + tile.first + column;
        const std::int64_t places[1] = {element};
        Word words[1] = {};
        owner.io.read(places, words);
        word = words[0];
      }
      return word;
    }

    /// Rows of a column that lie `step` apart, joined to `a`; written in the place of what was read.
    template <bool writes>
    VARLEN_DEVICE Total run(int element, int step, int rows, std::int64_t t, std::int64_t length, Word last,
                            Total a) const {
      for (int r = 0; r < rows; ++r, element += step) {
        Word& word = memory.words[bank_place(element)];
        const Word x = word;
        Total next;
        if constexpr (Fold::kLooksBack) {
          next = owner.fold.add(a, x, last, t + r, length);
          last = x;
        } else {
          next = owner.fold.add(a, x);
        }
        if (writes) word = owner.fold.give(a, next, x);
        a = next;
      }
      return a;
    }

    VARLEN_CALLED void load(Windows::Tile tile, Stretch stretch, const WindowNews* news) const {
      owner.windows.template share<8>(thread, tile, stretch, news,
                                      [&](const int(&elements)[8], const std::int64_t(&places)[8]) {
                                        Word words[8] = {};
                                        owner.io.read(places, words);
                                        VARLEN_UNROLLED for (int j = 0; j < 8; ++j) {
                                          if (places[j] >= 0)
                                            memory.words[bank_place(elements[j])] = words[j];
                                        }
                                      });
    }

    VARLEN_DEVICE void store(Windows::Tile tile, Stretch stretch, const WindowNews* news) const {
      owner.windows.template share<1>(thread, tile, stretch, news,
                                      [&](const int(&elements)[1], const std::int64_t(&places)[1]) {
                                        if (places[0] < 0) return;
                                        owner.io.write(places[0], memory.words[bank_place(elements[0])]);
                                      });
    }
  };
};

/// One launch, or two where a sequence is more than a chunk; `scratch` is kTotalWords words a slot and
/// column.
template <class Fold, class Io>
Error run_scan(Stream stream, const ScanJob& job, std::int64_t total, const Io& io, bool reverse,
               std::byte* scratch) noexcept {
  using Body = ScanBody<Fold, Io>;
  const Windows windows(job.level, total, job.columns);
  Body body{windows, Fold(job), io, {}, reverse, false};
  const Grid grid{windows.blocks(), kWindowThreads, sizeof(typename Body::BlockMemory)};
  if (windows.has_chunks(job.longest)) {
    body.chunk_totals = {reinterpret_cast<std::uint64_t*>(scratch),
                         windows.slots() * job.columns * Body::kTotalWords};
    body.totals_only = true;
    if (const Error error = launch(stream, grid, body); error != 0) return error;
    body.totals_only = false;
  }
  return launch(stream, grid, body);
}

/// Bytes of scratch for that.
template <class Fold>
[[nodiscard]] std::int64_t scratch_of_scan(const ScanJob& job, std::int64_t total) noexcept {
  if (total == 0 || job.columns <= 0) return 0;
  const Windows windows(job.level, total, job.columns);
  constexpr std::int64_t kTotal = sizeof(typename Fold::Total);
  return windows.has_chunks(job.longest) ? windows.slots() * job.columns * kTotal : 0;
}

}  // namespace varlen::cuda
