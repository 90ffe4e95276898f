// Rows added up by weights: a reduction whose reader multiplies. The ways back are a thread an element of the
// values, and a warp a row of the weights.
#include <type_traits>

#include "run.hpp"
#include "statistics.hpp"
#include "varlen/cuda/reduce.hpp"

namespace varlen::cuda {

namespace {

constexpr std::int64_t kChunk = 128;  ///< rows

/// Sums alone; their chunks are joined as those of all sums are.
template <class C>
struct PlainSum : FoldOf<PlainSum<C>, C> {
  using ChunkFold = NumberFold<double>;
  using Lane = C;
  static constexpr int kRowsAtOnce = 4;

  [[nodiscard]] static VARLEN_DEVICE C identity() { return 0; }
  static VARLEN_DEVICE void add(C& lane, C x, std::int64_t) { lane += x; }
  [[nodiscard]] static VARLEN_DEVICE double widen(C lane) { return static_cast<double>(lane); }
  [[nodiscard]] static VARLEN_DEVICE C finish(C lane, std::int64_t) { return lane; }
};

template <class C>
using Floats = std::conditional_t<std::is_same_v<C, double>, Doubles, AnyNumber<float>>;

/// Numbers of rows of heads * columns, each a weight times a value.
template <class C>
struct WeightedNumber {
  using Value = C;

  Floats<C> values;
  View<const C> weights;
  int columns;  ///< of the values
  int heads;

  /// Rows first, first + step, ..., N of them, and zeros behind `limit` of them.
  template <int N>
  VARLEN_DEVICE void rows(std::int64_t first, std::int64_t column, int step, int limit, C (&out)[N]) const {
    const auto head = static_cast<unsigned>(column) / static_cast<unsigned>(columns);
    values.load_many(first * columns + static_cast<int>(column) - static_cast<int>(head) * columns,
                     std::int64_t{step} * columns, limit, out);
    std::int64_t element = first * heads + head;
    VARLEN_UNROLLED for (int k = 0; k < N; ++k, element += step * heads) {
      if (k < limit) out[k] *= weights[element];
    }
  }
};

template <class C>
Error run_sum(Stream stream, const WeightedJob& job, std::int64_t total, std::byte* scratch,
              std::byte* out) noexcept {
  const std::int64_t columns = job.heads * job.columns;
  if (columns == 0 || job.level.count == 0) return 0;
  ReduceJob rows;
  rows.level = job.level;
  rows.longest = job.longest;
  const Chunks chunks(rows, total, kChunk);
  const View<double> partial{reinterpret_cast<double*>(scratch), chunks.slots * columns};
  const WeightedNumber<C> read{Floats<C>(job.type, job.values, total * job.columns),
                               {reinterpret_cast<const C*>(job.weights), total * job.heads},
                               static_cast<int>(job.columns),
                               static_cast<int>(job.heads)};
  const NumberSink sink{NumbersOut(job.type, out, job.level.count * columns), 0};
  const Reduction<WeightedNumber<C>, PlainSum<C>> reduction{read, {}, chunks, columns, sink, partial};
  if (const Error error = run_wide(stream, reduction); error != 0) return error;
  return join_sums(stream, chunks, columns, sink, partial);
}

/// The gradient of an element of the values: the weights of its row by the sums of its sequence.
template <class C>
struct ToValues {
  static constexpr bool kNoBarrier = true;

  Ends level;
  Divisor by_columns;
  View<const C> weights;
  View<const C> sums;
  std::int64_t heads;
  NumbersOut out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t element = thread.block() * thread.threads() + thread.index();
    if (element >= out.count) return;
    const std::int64_t columns = by_columns.divisor();
    const std::int64_t row = by_columns.quotient(element);
    const std::int64_t i = level.holding(row, 0, level.count() - 1);
    std::int64_t from = i * heads * columns + element - row * columns;
    C sum = 0;
    VARLEN_ROLLED for (std::int64_t h = 0; h < heads; ++h, from += columns) {
      const C d = sums[from];
      if (d != 0) sum += weights[row * heads + h] * d;
    }
    out.put(element, sum);
  }
};

/// The gradient of the weights of a row: its values by the sums of its sequence, head by head.
template <class C>
struct ToWeights {
  static constexpr bool kNoBarrier = false;
  static constexpr int kAtOnce = 4;

  Ends level;
  Floats<C> values;
  View<const C> sums;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t heads;
  View<C> out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t warps = thread.threads() / kWarp;
    const std::int64_t row = thread.block() * warps + thread.index() / kWarp;
    if (row >= rows) return;  // all lanes of a warp
    const std::int64_t i = level.holding(row, 0, level.count() - 1);
    const int own = static_cast<int>((columns - thread.lane() + kWarp - 1) / kWarp);
    VARLEN_ROLLED for (std::int64_t h = 0; h < heads; ++h) {
      const std::int64_t from = (i * heads + h) * columns + thread.lane();
      C sum = 0;
      VARLEN_ROLLED for (int turn = 0; turn < own; turn += kAtOnce) {
        const std::int64_t column = turn * kWarp;
        C part[kAtOnce];
        values.load_many(row * columns + thread.lane() + column, kWarp, own - turn, part);
        VARLEN_UNROLLED for (int k = 0; k < kAtOnce; ++k) {
          const C d = turn + k < own ? sums[from + column + k * kWarp] : C{0};
          if (d != 0) sum += part[k] * d;
        }
      }
      VARLEN_ROLLED for (int half = kWarp / 2; half > 0; half /= 2) sum += thread.shuffle_xor(sum, half);
      if (thread.lane() == 0) out[row * heads + h] = sum;
    }
  }
};

template <class C>
View<const C> sums_of(const WeightedJob& job) noexcept {
  return {reinterpret_cast<const C*>(job.sums), job.level.count * job.heads * job.columns};
}

template <class C>
Error run_to_values(Stream stream, const WeightedJob& job, std::int64_t total, std::byte* out) noexcept {
  const std::int64_t elements = total * job.columns;
  if (elements == 0) return 0;
  Grid grid;
  grid.blocks = blocks_for(elements, grid.threads);
  return launch(stream, grid,
                ToValues<C>{ends_of(job.level),
                            Divisor(job.columns, elements),
                            {reinterpret_cast<const C*>(job.weights), total * job.heads},
                            sums_of<C>(job),
                            job.heads,
                            NumbersOut(job.type, out, elements)});
}

template <class C>
Error run_to_weights(Stream stream, const WeightedJob& job, std::int64_t total, std::byte* out) noexcept {
  if (total * job.heads == 0) return 0;
  Grid grid;
  grid.blocks = blocks_for(total, grid.threads / kWarp);
  return launch(stream, grid,
                ToWeights<C>{ends_of(job.level),
                             Floats<C>(job.type, job.values, total * job.columns),
                             sums_of<C>(job),
                             total,
                             job.columns,
                             job.heads,
                             {reinterpret_cast<C*>(out), total * job.heads}});
}

}  // namespace

std::int64_t weighted_scratch(const WeightedJob& job, std::int64_t total) noexcept {
  constexpr std::int64_t kLane = sizeof(double);
  return job.longest > kChunk ? 2 * blocks_for(total, kChunk) * job.heads * job.columns * kLane : 0;
}

Error weighted_sum(Stream stream, const WeightedJob& job, std::int64_t total, std::byte* scratch,
                   std::byte* out) noexcept {
  return job.type == Type::f64 ? run_sum<double>(stream, job, total, scratch, out)
                               : run_sum<float>(stream, job, total, scratch, out);
}

Error weighted_sum_to_values(Stream stream, const WeightedJob& job, std::int64_t total,
                             std::byte* out) noexcept {
  return job.type == Type::f64 ? run_to_values<double>(stream, job, total, out)
                               : run_to_values<float>(stream, job, total, out);
}

Error weighted_sum_to_weights(Stream stream, const WeightedJob& job, std::int64_t total,
                              std::byte* out) noexcept {
  return job.type == Type::f64 ? run_to_weights<double>(stream, job, total, out)
                               : run_to_weights<float>(stream, job, total, out);
}

}  // namespace varlen::cuda
