#include "fold.hpp"
#include "products.hpp"
#include "support/launch.hpp"
#include "support/windows.hpp"
#include "varlen/cuda/scan.hpp"

namespace varlen::cuda {

namespace {

template <class Fold>
struct ScanBody {
  using Total = typename Fold::Total;
  static constexpr bool kAlone = false;

  struct Shared {
    Word words[kWindowRoom];
    Total totals[kWindowThreads];
    WindowNews news;
  };

  Windows windows;
  Fold fold;
  Elements<const std::byte> in;
  Elements<std::byte> out;
  View<Total> kept;  ///< the totals of chunks
  bool exclusive;
  bool reverse;
  bool totals_only;  ///< works out what is kept, and writes nothing else

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    Shared& shared = *thread.template shared<Shared>();
    windows.walk(thread, shared.news, Block<Thread>{*this, thread, shared});
  }

 private:
  template <class Thread>
  struct Block {
    const ScanBody& of;
    Thread& thread;
    Shared& shared;

    VARLEN_DEVICE void together(Windows::Tile tile, std::int64_t first, std::int64_t last, Range rows,
                                const WindowNews& news) const {
      if (of.totals_only) return;
      const Windows& windows = of.windows;
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
        const auto top = static_cast<int>(start - rows.begin) + (of.reverse ? length - 1 : 0);
        const int step = of.reverse ? -windows.width : windows.width;
        run<true>(top * windows.width + column, step, length, 0, length, 0, of.fold.start);
      }
      thread.sync();
      store(tile, stretch, &news);
      thread.sync();
    }

    VARLEN_DEVICE void chunk(Windows::Tile tile, const Chunk& chunk) const {
      const Windows& windows = of.windows;
      if (of.totals_only && chunk.k + 1 == chunk.count()) return;
      const int group = windows.row_of(thread.index());
      const int column = thread.index() - group * windows.width;
      const bool works = group < windows.groups && column < tile.width;
      Total carry = of.totals_only ? of.fold.none : of.fold.start;
      if (!of.totals_only && chunk.k > 0) carry = join_kept(tile, chunk, group, column, works, carry);
      const std::int64_t end = chunk.end();
      for (std::int64_t t = chunk.begin(); t < end; t += windows.rows) {
        const auto rows = static_cast<int>(end - t < windows.rows ? end - t : windows.rows);
        const Stretch stretch{of.reverse ? chunk.start + chunk.length - 1 - t : chunk.start + t,
                              of.reverse ? -1 : 1, rows};
        load(tile, stretch, nullptr);
        thread.sync();
        const int from = group * windows.group_rows;
        const int most = from + windows.group_rows;
        const int mine = !works || from >= rows ? 0 : (most < rows ? most : rows) - from;
        const int at = from * windows.width + column;
        const Word last = mine > 0 ? word_before(tile, stretch, t + from, from, column) : 0;
        shared.totals[thread.index()] =
            run<false>(at, windows.width, mine, t + from, chunk.length, last, of.fold.none);
        thread.sync();
        Total before = carry;
        for (int g = 0; g < group && works; ++g) before = of.fold.join(before, total_of(g, column));
        if (of.totals_only || t + rows < end) {
          carry = before;
          for (int g = group; g < windows.groups && works; ++g) {
            carry = of.fold.join(carry, total_of(g, column));
          }
        }
        if (of.totals_only) {
          thread.sync();
          continue;
        }
        run<true>(at, windows.width, mine, t + from, chunk.length, last, before);
        thread.sync();
        store(tile, stretch, nullptr);
        thread.sync();
      }
      if (of.totals_only && works && group == 0) {
        of.kept[windows.slot(chunk, chunk.k) * windows.columns + tile.first + column] = carry;
      }
    }

   private:
    [[nodiscard]] VARLEN_DEVICE const Total& total_of(int group, int column) const {
      return shared.totals[group * of.windows.width + column];
    }

    /// a and then the totals of the chunks before this one: some of them a group, then the groups.
    [[nodiscard]] VARLEN_DEVICE Total join_kept(Windows::Tile tile, const Chunk& chunk, int group, int column,
                                                bool works, Total a) const {
      const Windows& windows = of.windows;
      const std::int64_t each = (chunk.k + windows.groups - 1) / windows.groups;
      const std::int64_t end = (group + 1) * each < chunk.k ? (group + 1) * each : chunk.k;
      Total own = of.fold.none;
      for (std::int64_t k = group * each; k < end && works; ++k) {
        own = of.fold.join(own, of.kept[windows.slot(chunk, k) * windows.columns + tile.first + column]);
      }
      shared.totals[thread.index()] = own;
      thread.sync();
      for (int g = 0; g < windows.groups && works; ++g) a = of.fold.join(a, total_of(g, column));
      thread.sync();
      return a;
    }

    /// The word of the row before row t of a sequence, which is row `from` of the stretch.
    [[nodiscard]] VARLEN_DEVICE Word word_before(Windows::Tile tile, Stretch stretch, std::int64_t t,
                                                 int from, int column) const {
      Word word = 0;
      if constexpr (Fold::kLooksBack) {
        if (from > 0) return shared.words[banked((from - 1) * of.windows.width + column)];
        if (t == 0) return word;
        const std::int64_t row = stretch.first - stretch.step;
        const std::int64_t at = row * of.windows.columns + tile.first + column;
        const std::int64_t places[1] = {at};
        Word words[1] = {};
        of.read(places, words);
        word = words[0];
      }
      return word;
    }

    /// Rows of a column that lie `step` apart, joined to `a`; written in the place of what was read.
    template <bool writes>
    VARLEN_DEVICE Total run(int at, int step, int rows, std::int64_t t, std::int64_t length, Word last,
                            Total a) const {
      for (int r = 0; r < rows; ++r, at += step) {
        Word& word = shared.words[banked(at)];
        const Word x = word;
        Total next;
        if constexpr (Fold::kLooksBack) {
          next = of.fold.add(a, x, last, t + r, length);
          last = x;
        } else {
          next = of.fold.add(a, x);
        }
        if (writes) word = of.fold.give(of.exclusive ? a : next);
        a = next;
      }
      return a;
    }

    VARLEN_DEVICE void load(Windows::Tile tile, Stretch stretch, const WindowNews* news) const {
      of.windows.template each<8>(thread, tile, stretch, news,
                                  [&](const int(&elements)[8], const std::int64_t(&places)[8]) {
                                    Word words[8] = {};
                                    of.read(places, words);
                                    VARLEN_UNROLLED for (int j = 0; j < 8; ++j) {
                                      if (places[j] >= 0) shared.words[banked(elements[j])] = words[j];
                                    }
                                  });
    }

    VARLEN_DEVICE void store(Windows::Tile tile, Stretch stretch, const WindowNews* news) const {
      of.windows.template each<1>(thread, tile, stretch, news,
                                  [&](const int(&elements)[1], const std::int64_t(&places)[1]) {
                                    if (places[0] < 0) return;
                                    const Word word = shared.words[banked(elements[0])];
                                    if constexpr (Fold::kFloats) {
                                      of.out.write(places[0], bits_as<double>(word));
                                    } else {
                                      of.out.write_whole(places[0], word);
                                    }
                                  });
    }
  };

  template <int n>
  VARLEN_DEVICE void read(const std::int64_t (&places)[n], Word (&words)[n]) const {
    if (Fold::kFloats || (Fold::kLooksBack && is_float_type(in.type()))) {
      double numbers[n] = {};
      in.read(places, numbers);
      VARLEN_UNROLLED for (int j = 0; j < n; ++j) words[j] = bits_as<Word>(numbers[j]);
    } else {
      in.read_whole(places, words);
    }
  }
};

template <class Fold>
Error run_scan(Stream stream, const ScanJob& job, std::int64_t total, Type result, std::byte* scratch,
               std::byte* out) noexcept {
  using Body = ScanBody<Fold>;
  const Windows windows(job.level, total, job.columns);
  const std::int64_t numbers = total * job.columns;
  Body body{windows,
            Fold(job),
            {job.values, numbers, job.type},
            {out, numbers, result},
            {},
            job.exclusive && !Fold::kLooksBack,
            job.reverse,
            false};
  const Grid grid{windows.blocks(), kWindowThreads, sizeof(typename Body::Shared)};
  if (windows.has_chunks(job.longest)) {
    body.kept = {reinterpret_cast<typename Fold::Total*>(scratch), windows.slots() * job.columns};
    body.totals_only = true;
    if (const Error error = launch(stream, grid, body); error != 0) return error;
    body.totals_only = false;
  }
  return launch(stream, grid, body);
}

}  // namespace

std::int64_t scan_scratch(const ScanJob& job, std::int64_t total) noexcept {
  if (total == 0 || job.columns <= 0) return 0;
  const Windows windows(job.level, total, job.columns);
  constexpr std::int64_t kMost = sizeof(Scaled);
  return windows.has_chunks(job.longest) ? windows.slots() * job.columns * kMost : 0;
}

Error scan_products(Stream stream, const ScanJob& job, std::int64_t total, Type result, std::byte* scratch,
                    std::byte* out) noexcept {
  return run_scan<ProdOfReals>(stream, job, total, result, scratch, out);
}

Error scan(Stream stream, const ScanJob& job, std::int64_t total, std::byte* scratch,
           std::byte* out) noexcept {
  if (total == 0 || job.columns <= 0) return 0;
  if (!is_float_type(job.type)) {
    const bool is_extreme = job.op == Scan::max || job.op == Scan::min;
    const Type wide = is_unsigned_type(job.type) ? Type::u64 : Type::i64;
    return run_scan<FoldOfWholes>(stream, job, total, is_extreme ? job.type : wide, scratch, out);
  }
  switch (job.op) {
    case Scan::sum:
      return run_scan<SumOfReals>(stream, job, total, job.type, scratch, out);
    case Scan::prod:
      return scan_products(stream, job, total, job.type, scratch, out);
    default:
      return run_scan<EndOfReals>(stream, job, total, job.type, scratch, out);
  }
}

Error scan_which(Stream stream, const ScanJob& job, std::int64_t total, std::byte* scratch,
                 std::int64_t* which) noexcept {
  if (total == 0 || job.columns <= 0) return 0;
  return run_scan<WhichFold>(stream, job, total, Type::i64, scratch, reinterpret_cast<std::byte*>(which));
}

}  // namespace varlen::cuda
