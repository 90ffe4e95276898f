// The ways back: every number of an output is the sum of those that lie in a run, in the order of the CPU's.
#include <algorithm>
#include <numeric>

#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/number.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/window.hpp"

namespace varlen::cuda {

namespace {

/// Rows first, first + step, ..., n of them.
struct Addends {
  std::int64_t first = 0;
  std::int64_t step = 0;
  std::int64_t n = 0;
};

/// Where a row was used: the places of dy, counted as rows.
struct UseMap {
  Ends level;
  Ends centers;
  Window how;
  std::int64_t place_step;  ///< a row was used in places so far apart,
  std::int64_t row_step;    ///< of rows of dy so far apart

  [[nodiscard]] VARLEN_DEVICE Addends addends(std::int64_t i, std::int64_t position) const {
    const std::int64_t later = (level.length(i) - 1 - position) / how.dilation;
    const std::int64_t earlier = position / how.dilation;
    const std::int64_t lowest = how.left - (how.left < later ? how.left : later);
    const std::int64_t steps_back = how.right < earlier ? how.right : earlier;
    std::int64_t place = how.left + steps_back;
    std::int64_t from = position - steps_back * how.dilation;
    for (; place >= lowest && from % how.stride != 0; from += how.dilation) --place;
    if (place < lowest) return {};
    const std::int64_t places = how.left + 1 + how.right;
    return {(centers.start(i) + from / how.stride) * places + place, row_step * places - place_step,
            (place - lowest) / place_step + 1};
  }
};

/// The windows of its sequence that a row lies in: n from the first on.
struct WindowRange {
  std::int64_t first, n;
};

[[nodiscard]] VARLEN_DEVICE WindowRange windows_over(std::int64_t position, std::int64_t windows,
                                                     const Stepping& how) {
  const std::int64_t first = position < how.size ? 0 : (position - how.size) / how.step + 1;
  const std::int64_t last = position / how.step < windows - 1 ? position / how.step : windows - 1;
  return {first, last < first ? 0 : last + 1 - first};
}

/// Where a row lies in windows that are laid end to end.
struct MergeMap {
  Ends level;
  Ends counts;
  Ends windows;
  Stepping how;

  [[nodiscard]] VARLEN_DEVICE Addends addends(std::int64_t i, std::int64_t position) const {
    const WindowRange window_range = windows_over(position, counts.length(i), how);
    if (window_range.n == 0) return {};
    const std::int64_t base = counts.start(i) > 0 ? windows.end(counts.start(i) - 1) : 0;
    return {base + window_range.first * how.size + position - window_range.first * how.step,
            how.size - how.step, window_range.n};
  }
};

/// A row by how many windows it lies in.
struct ShareMap {
  Ends level;
  Ends counts;
  Stepping how;

  [[nodiscard]] VARLEN_DEVICE std::int64_t parts(std::int64_t i, std::int64_t position) const {
    const std::int64_t n = windows_over(position, counts.length(i), how).n;
    return n > 1 ? n : 1;
  }
};

[[nodiscard]] VARLEN_DEVICE std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
template <class T>
[[nodiscard]] VARLEN_DEVICE T sum_of(T a, T b) {
  return a + b;
}

template <class T>
struct SumOf {
  AnyNumber<T> input;
  bool mean;
  bool is_or;

  template <class Job>
  [[nodiscard]] VARLEN_DEVICE T value(const Job& job, std::int64_t i, std::int64_t row, std::int64_t column,
                                      std::int64_t columns) const {
    const Addends all = job.addends(i, row - job.level.start(i));
    T sum = 0;
    for (std::int64_t k = 0; k < all.n; ++k) {
      const T x = input((all.first + k * all.step) * columns + column);
      sum = k > 0 ? sum_of(sum, x) : x;
    }
    if (mean && all.n > 0) sum /= static_cast<T>(all.n);
    return is_or ? static_cast<T>(sum != 0) : sum;
  }
};

template <class T>
struct PartOf {
  AnyNumber<T> input;

  [[nodiscard]] VARLEN_DEVICE T value(const ShareMap& job, std::int64_t i, std::int64_t row,
                                      std::int64_t column, std::int64_t columns) const {
    return input(row * columns + column) / static_cast<T>(job.parts(i, row - job.level.start(i)));
  }
};

/// Numbers of the rows of a level, each worked out by one thread.
template <class Job, class Value>
struct OfRows {
  static constexpr bool kNoBarrier = true;
  static constexpr int kElements = 4;  // of a thread

  Job job;
  Value value;
  Divisor columns;
  NumbersOut out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t tile = static_cast<std::int64_t>(thread.threads()) * kElements;
    const std::int64_t begin = thread.block() * tile;
    const std::int64_t end = begin + tile < out.count ? begin + tile : out.count;
    const InSequences rows{job.level};
    const Candidates candidates = rows.scope(columns.quotient(begin), columns.quotient(end - 1));
    for (std::int64_t position = begin + thread.index(); position < end; position += thread.threads()) {
      const std::int64_t row = columns.quotient(position);
      const std::int64_t i = rows.sequence(candidates, row);
      out.put(position, value.value(job, i, row, position - row * columns.divisor(), columns.divisor()));
    }
  }
};

template <class Job, class Value>
Error write_rows(Stream stream, const Job& job, const Value& value, std::int64_t count,
                 NumbersOut out) noexcept {
  using Body = OfRows<Job, Value>;
  Grid grid;
  grid.blocks = blocks_for(out.count, static_cast<std::int64_t>(grid.threads) * Body::kElements);
  return launch(stream, grid, Body{job, value, Divisor(count, out.count), out});
}

/// Sums of `rows` rows that come in.
template <class Job>
Error write_sums(Stream stream, const Job& job, Type type, const std::byte* input, std::int64_t rows,
                 std::int64_t count, bool mean, std::int64_t total, std::byte* out) noexcept {
  const std::int64_t n = rows * count;
  const std::int64_t size = total * count;
  if (size == 0) return 0;
  if (type == Type::f64 || (mean && !is_real(type))) {
    const SumOf<double> sum{AnyNumber<double>(type, input, n), mean, false};
    return write_rows(stream, job, sum, count, NumbersOut(Type::f64, out, size));
  }
  if (is_real(type)) {
    const SumOf<float> sum{AnyNumber<float>(type, input, n), mean, false};
    return write_rows(stream, job, sum, count, NumbersOut(type, out, size));
  }
  const SumOf<std::int64_t> sum{AnyNumber<std::int64_t>(type, input, n), false, type == Type::b1};
  return write_rows(stream, job, sum, count, NumbersOut(type, out, size));
}

}  // namespace

Error backprop_seq2col(Stream stream, Type type, const std::byte* dy, std::int64_t rows, std::int64_t count,
                       Offsets level, Offsets centers, Window how, std::int64_t total,
                       std::byte* dx) noexcept {
  if (total == 0) return 0;
  how.dilation = std::min(how.dilation, total);  // further apart is outside, all the same
  how.stride = std::min(how.stride, total);
  const std::int64_t common_divisor = std::gcd(how.dilation, how.stride);
  const UseMap job{ends_of(level), ends_of(centers), how, how.stride / common_divisor,
                   how.dilation / common_divisor};
  return write_sums(stream, job, type, dy, rows * how.places(), count, false, total, dx);
}

Error merge_windows(Stream stream, Type type, const std::byte* y, std::int64_t rows, std::int64_t count,
                    Offsets level, Offsets counts, Offsets windows, Stepping how, bool mean,
                    std::int64_t total, std::byte* out) noexcept {
  const MergeMap job{ends_of(level), ends_of(counts), ends_of(windows), how};
  return write_sums(stream, job, type, y, rows, count, mean, total, out);
}

Error share_windows(Stream stream, Type type, const std::byte* dx, std::int64_t count, Offsets level,
                    Offsets counts, Stepping how, std::int64_t total, std::byte* out) noexcept {
  const std::int64_t size = total * count;
  if (size == 0) return 0;
  const ShareMap job{ends_of(level), ends_of(counts), how};
  const NumbersOut to(type, out, size);
  if (type == Type::f64) {
    return write_rows(stream, job, PartOf<double>{AnyNumber<double>(type, dx, size)}, count, to);
  }
  return write_rows(stream, job, PartOf<float>{AnyNumber<float>(type, dx, size)}, count, to);
}

}  // namespace varlen::cuda
