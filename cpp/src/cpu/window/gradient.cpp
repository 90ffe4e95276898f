#include <algorithm>
#include <numeric>

#include "sum.hpp"
#include "support/dispatch.hpp"
#include "support/prefetch.hpp"
#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "varlen/window.hpp"

namespace varlen {
namespace {

// Bytes between what is read and what is asked for. 2048 and 8192 were measured to do as much, none to cost
// up to a third more where dy has left the caches.
constexpr std::int64_t kPrefetchBytes = 4096;

/// Where the numbers of a row of X are in dy.
struct Backprop {
  const std::byte* dy;
  std::int64_t width;  ///< bytes of one place
  Offsets level;
  Offsets centers;
  Window how;
  std::int64_t column_step;  ///< a row was used in places so far apart,
  std::int64_t row_step;     ///< of rows of dy so far apart

  [[nodiscard]] Addends row(std::int64_t i, std::int64_t place) const noexcept {
    const auto [left, right, dilation, stride] = how;
    // Place k of row `from` of X is this row where from = at - (k - left) * dilation.
    const std::int64_t later = level.length(i) - 1 - place;
    const std::int64_t lowest = left - std::min(left, dilation == 1 ? later : later / dilation);
    const std::int64_t reach = std::min(right, dilation == 1 ? place : place / dilation);
    std::int64_t k = left + reach;
    std::int64_t from = place - reach * dilation;
    if (stride > 1) {
      for (; k >= lowest && from % stride != 0; from += dilation) --k;
      if (k < lowest) return {};
      from /= stride;
    }
    const std::int64_t n = (k - lowest) / column_step + 1;
    const std::int64_t places = how.places();
    const std::int64_t step = n > 1 ? (row_step * places - column_step) * width : 0;
    return {dy + ((centers.start(i) + from) * places + k) * width, step, n};
  }

  /// Asks for the row of dy that comes to be read soon: of its places one is read for each row of X, which no
  /// prefetcher of a core makes out.
  void ask(std::int64_t i, std::int64_t place) const noexcept {
    const std::int64_t stride = how.stride;
    if (stride > 1 && place % stride != 0) return;
    const std::int64_t bytes = how.places() * width;
    const std::int64_t row = centers.start(i) + (stride > 1 ? place / stride : place) + how.left;
    for (std::int64_t past = 0; past < bytes; past += 64) {
      prefetch(dy, row, bytes, static_cast<std::uintptr_t>(kPrefetchBytes + past));
    }
  }
};

/// Where the numbers of a row of X are in the windows that it lies in.
struct Merge {
  const std::byte* y;
  std::int64_t width;
  Offsets level;
  Offsets counts;
  const std::int64_t* ends;
  Stepping how;

  [[nodiscard]] Addends row(std::int64_t i, std::int64_t place) const noexcept {
    const auto [first, n] = windows_over(place, counts.length(i), how);
    if (n == 0) return {};
    const std::int64_t base = counts.start(i) > 0 ? ends[counts.start(i) - 1] : 0;
    const std::int64_t step = n > 1 ? (how.size - how.step) * width : 0;
    return {y + (base + first * how.size + place - first * how.step) * width, step, n};
  }

  static void ask(std::int64_t /*i*/, std::int64_t /*at*/) noexcept {}  // windows are read from end to end
};

template <class T, bool mean, class Job>
VARLEN_LOOP void sum_part(const Job& job, std::int64_t count, Range rows, std::byte* out) noexcept {
  const std::int64_t width = count * static_cast<std::int64_t>(sizeof(SumType<T, mean>));
  const Offsets level = job.level;
  std::int64_t i = std::upper_bound(level.ends, level.ends + level.count, rows.begin) - level.ends;
  for (std::int64_t row = rows.begin; row < rows.end; ++i) {
    const std::int64_t start = level.start(i);
    const std::int64_t stop = std::min(level.end(i), rows.end);
    for (; row < stop; ++row) {
      job.ask(i, row - start);
      sum_rows<T, mean>(job.row(i, row - start), count, out + row * width);
    }
  }
}

/// The same for rows in sequence: dy is read from end to end, and each of its rows is added to as many rows
/// of X as it has places, which lie side by side and stay in the first cache.
template <class T>
VARLEN_LOOP void slide_part(const Backprop& job, Range rows, std::byte* out) noexcept {
  const Offsets level = job.level;
  const std::int64_t left = job.how.left;
  const std::int64_t right = job.how.right;
  const std::int64_t width = job.width;
  std::int64_t i = std::upper_bound(level.ends, level.ends + level.count, rows.begin) - level.ends;
  for (std::int64_t next = rows.begin; next < rows.end; ++i) {
    const std::int64_t first = std::max(level.start(i), rows.begin);
    const std::int64_t stop = std::min(level.end(i), rows.end);
    if (first >= stop) continue;
    const std::int64_t begin = std::max(level.start(i), first - std::min(right, first));
    const std::int64_t end = left < level.end(i) - stop ? stop + left : level.end(i);
    for (std::int64_t t = begin; t < end; ++t) {
      const std::int64_t low = std::max(first, t - std::min(left, t));
      const std::int64_t high = right < stop - t ? t + right + 1 : stop;
      const std::byte* input = job.dy + (t * job.how.places() + low - t + left) * width;
      add_run<T>(input, (next - low) * width, out + low * width);
      copy_bytes(out + next * width, input + (next - low) * width, (high - next) * width);
      next = high;
    }
  }
}

template <bool mean, class Job>
void sum_typed(Type type, const Job& job, std::int64_t count, Range rows, std::byte* out) noexcept {
  // Integers of either sign have the same sum.
  const auto part = [&](auto as, auto as_mean) {
    using T = std::conditional_t<mean, decltype(as_mean), decltype(as)>;
    best<sum_part<T, mean, Job>>(job, count, rows, out);
  };
  const auto run_same = [&](auto as) { part(as, as); };
  switch (type) {
    case Type::b1:
      return run_same(Bool{});
    case Type::i8:
      return part(std::uint8_t{}, std::int8_t{});
    case Type::i16:
      return part(std::uint16_t{}, std::int16_t{});
    case Type::i32:
      return part(std::uint32_t{}, std::int32_t{});
    case Type::i64:
      return part(std::uint64_t{}, std::int64_t{});
    case Type::u8:
      return run_same(std::uint8_t{});
    case Type::u16:
      return run_same(std::uint16_t{});
    case Type::u32:
      return run_same(std::uint32_t{});
    case Type::u64:
      return run_same(std::uint64_t{});
    case Type::f16:
      return run_same(Half{});
    case Type::bf16:
      return run_same(BFloat{});
    case Type::f32:
      return run_same(float{});
    case Type::f64:
      return run_same(double{});
  }
}

/// Whether slide_part did it.
bool slide_typed(Type type, const Backprop& job, Range rows, std::byte* out) noexcept {
  // Measured on rows of dy of 1 to 8 KB: below this half to all of the time of sum_part, above it 1.0 to 1.4.
  constexpr std::int64_t kLimit = 4096;
  if (job.how.dilation > 1 || job.how.stride > 1 || job.how.places() * job.width > kLimit) return false;
  if (type == Type::f32) {
    best<slide_part<float>>(job, rows, out);
  } else if (type == Type::f64) {
    best<slide_part<double>>(job, rows, out);
  } else {
    return false;
  }
  return true;
}

/// All rows of X; `bytes` is what is read.
template <bool mean, class Job>
void sum_all(Type type, const Job& job, std::int64_t count, std::int64_t bytes, std::byte* out) noexcept {
  const std::int64_t total = job.level.total();
  const std::int64_t chunks = std::min(total, chunks_for(bytes + total * job.width));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    const Range rows{cut(c), cut(c + 1)};
    if constexpr (std::is_same_v<Job, Backprop>) {
      if (slide_typed(type, job, rows, out)) return;
    }
    sum_typed<mean>(type, job, count, rows, out);
  });
}

}  // namespace

void backprop_seq2col(Type type, const std::byte* dy, std::int64_t count, Offsets level, Offsets centers,
                      Window how, std::byte* dx) noexcept {
  const std::int64_t total = level.total();
  if (total == 0 || count == 0) return;
  how.dilation = std::min(how.dilation, total);  // further apart is outside, all the same
  how.stride = std::min(how.stride, total);
  const std::int64_t divisor = std::gcd(how.dilation, how.stride);
  const std::int64_t width = count * size_of(type);
  const Backprop job{dy, width, level, centers, how, how.stride / divisor, how.dilation / divisor};
  sum_all<false>(type, job, count, centers.total() * how.places() * width, dx);
}

void merge_windows(Type type, const std::byte* y, std::int64_t count, Offsets level, Offsets counts,
                   const std::int64_t* ends, Stepping how, bool mean, std::byte* out) noexcept {
  if (level.total() == 0 || count == 0) return;
  const std::int64_t width = count * size_of(type);
  const Merge job{y, width, level, counts, ends, how};
  const std::int64_t bytes = counts.total() > 0 ? ends[counts.total() - 1] * width : 0;
  if (mean) {
    sum_all<true>(type, job, count, bytes, out);
  } else {
    sum_all<false>(type, job, count, bytes, out);
  }
}

}  // namespace varlen
