#include <cmath>
#include <limits>
#include <type_traits>

#include "support/elements.hpp"
#include "support/launch.hpp"
#include "support/windows.hpp"
#include "varlen/cuda/softmax.hpp"

namespace varlen::cuda {

namespace {

/// What some rows of a column come to: the largest, and the sum of what is added up. On the ways back the
/// largest is 0.
struct alignas(16) SoftSum {
  double maximum;
  double sum;
};

/// What turns a number of a column into its result.
template <class C>
struct SoftScale {
  C maximum;
  C factor;  ///< 1 over the sum, its logarithm, or on the ways back the sum itself
};

/// Numbers are of type C where they are computed with; sums are double.
template <class C>
struct SoftmaxBody {
  static constexpr bool kNoBarrier = false;

  /// X and, once it is known, exp; dY and Y on the ways back.
  struct Pair {
    C a, b;
  };
  struct BlockMemory {
    Pair pairs[kWindowRoom];
    SoftSum sums[kWindowThreads];
    SoftScale<C> scales[kWindowThreads];  ///< of the columns
    WindowNews news;
  };

  Windows windows;
  Softmax op;
  C temperature;
  Elements<const std::byte> input;
  Elements<const std::byte> result;
  Elements<std::byte> out;
  View<SoftSum> chunk_sums;  ///< of the chunks
  bool sums_only;            ///< works out what is kept, and writes nothing else

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    BlockMemory& memory = *thread.template memory<BlockMemory>();
    windows.walk(thread, memory.news, Block<Thread>{*this, thread, memory});
  }

 private:
  static constexpr C kLowest = -std::numeric_limits<C>::infinity();

  [[nodiscard]] VARLEN_DEVICE bool is_back() const {
    return op == Softmax::back_softmax || op == Softmax::back_log_softmax;
  }
  [[nodiscard]] VARLEN_DEVICE C soften(C x) const { return temperature == 1 ? x : x / temperature; }
  /// What is added up. Where all are -inf that is 0, so that other rows of the sequence decide.
  [[nodiscard]] VARLEN_DEVICE C summand(const Pair& pair, C maximum) const {
    if (op == Softmax::back_softmax) return pair.a == 0 ? C{0} : pair.a * pair.b;
    if (op == Softmax::back_log_softmax) return pair.a;
    if (maximum == kLowest) return is_nan(pair.a) ? pair.a : C{0};
    return exp_of(soften(pair.a - maximum));
  }
  [[nodiscard]] VARLEN_DEVICE SoftScale<C> scale_of(C maximum, double sum) const {
    if (op == Softmax::softmax) return {maximum, static_cast<C>(1 / sum)};
    return {maximum, static_cast<C>(op == Softmax::log_softmax ? log(sum) : sum)};
  }
  [[nodiscard]] VARLEN_DEVICE C finish(const Pair& pair, const SoftScale<C>& scale, bool has_exp) const {
    switch (op) {
      case Softmax::softmax:
        return (has_exp ? pair.b : exp_of(soften(pair.a - scale.maximum))) * scale.factor;
      case Softmax::log_softmax:
        return soften(pair.a - scale.maximum) - scale.factor;
      case Softmax::back_softmax:
        return pair.a == scale.factor ? C{0} : soften(pair.b * (pair.a - scale.factor));
      default:
        return soften(scale.factor == 0 ? pair.a : pair.a - exp_of(pair.b) * scale.factor);
    }
  }
  /// A sum beside a larger largest.
  [[nodiscard]] VARLEN_DEVICE double rescale(const SoftSum& sum, double maximum) const {
    return sum.maximum == maximum
               ? sum.sum
               : sum.sum * exp_of((sum.maximum - maximum) / static_cast<double>(temperature));
  }

  template <class Thread>
  struct Block {
    const SoftmaxBody& owner;
    Thread& thread;
    BlockMemory& memory;

    VARLEN_DEVICE void run_short(Windows::Tile tile, std::int64_t first, std::int64_t last, Range rows,
                                 const WindowNews& news) const {
      if (owner.sums_only) return;
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
        const int cell = static_cast<int>(start - rows.begin) * windows.width + column;
        const C maximum = largest(cell, length);
        const SoftScale<C> scale = owner.scale_of(maximum, sum(cell, length, maximum));
        for (int r = 0; r < length; ++r) {
          Pair& pair = pair_at(cell + r * windows.width);
          pair.a = owner.finish(pair, scale, true);
        }
      }
      thread.sync();
      share<1>(tile, stretch, &news, [&](const int(&elements)[1], const std::int64_t(&places)[1]) {
        if (places[0] >= 0) owner.out.write(places[0], pair_at(elements[0]).a);
      });
      thread.sync();
    }

    VARLEN_DEVICE void chunk(Windows::Tile tile, const Chunk& chunk) const {
      const Windows& windows = owner.windows;
      const bool is_one = chunk.count() == 1;
      if (owner.sums_only && is_one) return;
      const int group = windows.row_of(thread.index());
      const int column = thread.index() - group * windows.width;
      const bool works = group < windows.groups && column < tile.width;
      SoftSum carry{static_cast<double>(owner.is_back() ? C{0} : kLowest), 0};
      if (!owner.sums_only && !is_one) {
        carry = join_kept(tile, chunk, group, column, works);
        set_scale(group, column, works, carry);
        thread.sync();
      }
      const std::int64_t end = chunk.end();
      for (std::int64_t t = chunk.begin(); t < end; t += windows.rows) {
        const auto rows = static_cast<int>(end - t < windows.rows ? end - t : windows.rows);
        const Stretch stretch{chunk.start + t, 1, rows};
        load(tile, stretch, nullptr);
        thread.sync();
        if (owner.sums_only || is_one) {
          const int from = group * windows.group_rows;
          const int maximum = from + windows.group_rows;
          const int mine = !works || from >= rows ? 0 : (maximum < rows ? maximum : rows) - from;
          carry = join(carry, sum_of_groups(from * windows.width + column, mine, column, works));
          if (is_one) set_scale(group, column, works, carry);
          thread.sync();
        }
        if (owner.sums_only) continue;
        share<1>(tile, stretch, nullptr, [&](const int(&elements)[1], const std::int64_t(&places)[1]) {
          if (places[0] < 0) return;
          const int in_row = elements[0] - windows.row_of(elements[0]) * windows.width;
          owner.out.write(places[0], owner.finish(pair_at(elements[0]), memory.scales[in_row], is_one));
        });
        thread.sync();
      }
      if (owner.sums_only && works && group == 0)
        owner.chunk_sums[kept_at(tile, chunk, chunk.k, column)] = carry;
    }

   private:
    [[nodiscard]] VARLEN_DEVICE Pair& pair_at(int element) const { return memory.pairs[bank_place(element)]; }
    [[nodiscard]] VARLEN_DEVICE std::int64_t kept_at(Windows::Tile tile, const Chunk& chunk, std::int64_t k,
                                                     int column) const {
      return owner.windows.slot(chunk, k) * owner.windows.columns + tile.first + column;
    }

    /// Of rows of a column; 0 on the ways back.
    [[nodiscard]] VARLEN_DEVICE C largest(int cell, int rows) const {
      if (owner.is_back()) return 0;
      C maximum = kLowest;
      for (int r = 0; r < rows; ++r, cell += owner.windows.width) {
        const C x = pair_at(cell).a;
        maximum = x > maximum ? x : maximum;
      }
      return maximum;
    }

    /// Exponentials are kept beside what they are of.
    [[nodiscard]] VARLEN_DEVICE double sum(int cell, int rows, C maximum) const {
      double result = 0;
      for (int r = 0; r < rows; ++r, cell += owner.windows.width) {
        Pair& pair = pair_at(cell);
        const C x = owner.summand(pair, maximum);
        if (!owner.is_back()) pair.b = x;
        result += static_cast<double>(x);
      }
      return result;
    }

    [[nodiscard]] VARLEN_DEVICE SoftSum join(const SoftSum& a, const SoftSum& b) const {
      const double maximum = b.maximum > a.maximum ? b.maximum : a.maximum;
      return {maximum, owner.rescale(a, maximum) + owner.rescale(b, maximum)};
    }

    /// The largest of all groups of a column. All threads come here.
    [[nodiscard]] VARLEN_DEVICE double most_of_groups(double own, int column, bool works) const {
      memory.sums[thread.index()].maximum = own;
      thread.sync();
      double maximum = own;
      VARLEN_ROLLED for (int g = 0; g < owner.windows.groups && works; ++g) {
        const double x = memory.sums[g * owner.windows.width + column].maximum;
        maximum = x > maximum ? x : maximum;
      }
      return maximum;
    }
    /// And the sum of their sums.
    [[nodiscard]] VARLEN_DEVICE double add_groups(double own, int column, bool works) const {
      memory.sums[thread.index()].sum = own;
      thread.sync();
      double result = 0;
      VARLEN_ROLLED for (int g = 0; g < owner.windows.groups && works; ++g) {
        result += memory.sums[g * owner.windows.width + column].sum;
      }
      return result;
    }

    [[nodiscard]] VARLEN_DEVICE SoftSum sum_of_groups(int cell, int rows, int column, bool works) const {
      const double maximum = most_of_groups(static_cast<double>(largest(cell, rows)), column, works);
      return {maximum, add_groups(sum(cell, rows, static_cast<C>(maximum)), column, works)};
    }

    /// The sum of all chunks of a sequence: some of them a group, then the groups.
    [[nodiscard]] VARLEN_DEVICE SoftSum join_kept(Windows::Tile tile, const Chunk& chunk, int group,
                                                  int column, bool works) const {
      const std::int64_t count = chunk.count();
      const std::int64_t each_group = (count + owner.windows.groups - 1) / owner.windows.groups;
      const std::int64_t first = works ? group * each_group : count;
      const std::int64_t end = first + each_group < count ? first + each_group : count;
      double own = static_cast<double>(owner.is_back() ? C{0} : kLowest);
      VARLEN_ROLLED for (std::int64_t k = first; k < end; ++k) {
        const double x = owner.chunk_sums[kept_at(tile, chunk, k, column)].maximum;
        own = x > own ? x : own;
      }
      const double maximum = most_of_groups(own, column, works);
      double sum = 0;
      VARLEN_ROLLED for (std::int64_t k = first; k < end; ++k) {
        sum += owner.rescale(owner.chunk_sums[kept_at(tile, chunk, k, column)], maximum);
      }
      return {maximum, add_groups(sum, column, works)};
    }

    VARLEN_DEVICE void set_scale(int group, int column, bool works, const SoftSum& sum) const {
      if (works && group == 0) memory.scales[column] = owner.scale_of(static_cast<C>(sum.maximum), sum.sum);
    }

    template <int at_once, class Body>
    VARLEN_DEVICE void share(Windows::Tile tile, Stretch stretch, const WindowNews* news,
                             const Body& body) const {
      owner.windows.template share<at_once>(thread, tile, stretch, news, body);
    }

    VARLEN_CALLED void load(Windows::Tile tile, Stretch stretch, const WindowNews* news) const {
      constexpr int kAtOnce = 8 / (sizeof(C) / sizeof(float));
      share<kAtOnce>(tile, stretch, news,
                     [&](const int(&elements)[kAtOnce], const std::int64_t(&places)[kAtOnce]) {
                       C a[kAtOnce] = {};
                       C b[kAtOnce] = {};
                       owner.read(owner.input, places, a);
                       if (owner.is_back()) owner.read(owner.result, places, b);
                       VARLEN_UNROLLED for (int j = 0; j < kAtOnce; ++j) {
                         if (places[j] >= 0) pair_at(elements[j]) = {a[j], b[j]};
                       }
                     });
    }
  };

  template <int n>
  VARLEN_DEVICE void read(const Elements<const std::byte>& from, const std::int64_t (&places)[n],
                          C (&numbers)[n]) const {
    if constexpr (std::is_same_v<C, double>) {
      if (!is_real(from.type())) {
        std::uint64_t wholes[n] = {};
        from.read_whole(places, wholes);
        const bool is_u64 = from.type() == Type::u64;
        VARLEN_UNROLLED for (int j = 0; j < n; ++j) {
          numbers[j] = is_u64 ? static_cast<double>(wholes[j])
                              : static_cast<double>(static_cast<std::int64_t>(wholes[j]));
        }
        return;
      }
    }
    from.read(places, numbers);
  }
};

template <class C>
Error run_softmax(Stream stream, const SoftmaxJob& job, std::int64_t total, std::byte* scratch,
                  std::byte* out) noexcept {
  using Body = SoftmaxBody<C>;
  const Windows windows(job.level, total, job.columns);
  const std::int64_t numbers = total * job.columns;
  Body body{windows,
            job.op,
            static_cast<C>(job.temperature),
            {job.values, numbers, job.type},
            {job.result, numbers, job.type},
            {out, numbers, is_real(job.type) ? job.type : Type::f64},
            {},
            false};
  const Grid grid{windows.blocks(), kWindowThreads, sizeof(typename Body::BlockMemory)};
  if (windows.has_chunks(job.longest)) {
    body.chunk_sums = {reinterpret_cast<SoftSum*>(scratch), windows.slots() * job.columns};
    body.sums_only = true;
    if (const Error error = launch(stream, grid, body); error != 0) return error;
    body.sums_only = false;
  }
  return launch(stream, grid, body);
}

}  // namespace

std::int64_t softmax_scratch(const SoftmaxJob& job, std::int64_t total) noexcept {
  if (total == 0 || job.columns <= 0) return 0;
  const Windows windows(job.level, total, job.columns);
  constexpr std::int64_t kSum = sizeof(SoftSum);
  return windows.has_chunks(job.longest) ? windows.slots() * job.columns * kSum : 0;
}

Error softmax(Stream stream, const SoftmaxJob& job, std::int64_t total, std::byte* scratch,
              std::byte* out) noexcept {
  if (total == 0 || job.columns <= 0) return 0;
  const bool is_double = job.type == Type::f64 || !is_real(job.type);
  return is_double ? run_softmax<double>(stream, job, total, scratch, out)
                   : run_softmax<float>(stream, job, total, scratch, out);
}

}  // namespace varlen::cuda
