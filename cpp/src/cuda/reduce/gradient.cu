// Gradients that depend on the values: what is known of each sequence first, then every element by itself.
#include "run.hpp"
#include "statistics.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/reduce.hpp"

namespace varlen::cuda {

namespace {

/// What is known of a sequence, by op: its mean, what it is a softmax of, its factors.
template <class T>
struct Statistics {
  View<const double> means;
  View<const Exponentials<T>> exponentials;
  View<const Factors> factors;
};

template <class T>
struct GradientOfRows {
  static constexpr bool kNoBarrier = true;
  static constexpr int kElements = 4;  // of a thread

  Reduce op;
  double ddof;
  InSequences sequences;
  Divisor by_columns;
  AnyNumber<T> values, gradients, results;
  Statistics<T> statistics;
  NumbersOut out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t tile = static_cast<std::int64_t>(thread.threads()) * kElements;
    const std::int64_t begin = thread.block() * tile;
    const std::int64_t end = begin + tile < out.count ? begin + tile : out.count;
    const Candidates candidates = sequences.scope(by_columns.quotient(begin), by_columns.quotient(end - 1));
    for (std::int64_t element = begin + thread.index(); element < end; element += thread.threads()) {
      const std::int64_t row = by_columns.quotient(element);
      const std::int64_t i = sequences.sequence(candidates, row);
      out.put(element, gradient(element, i, i * by_columns.divisor() + element - row * by_columns.divisor()));
    }
  }

  /// Of the element `element`, whose sequence i has its result at `k`.
  [[nodiscard]] VARLEN_DEVICE T gradient(std::int64_t element, std::int64_t i, std::int64_t k) const {
    const T x = values(element);
    const T d = gradients(k);
    if (d == 0) return T(0);
    switch (op) {
      case Reduce::prod:
        return static_cast<T>(static_cast<double>(d) * product_without(statistics.factors[k], x));
      case Reduce::logsumexp: {
        const Exponentials<T>& sums = statistics.exponentials[k];
        return d * (exp_of(x - sums.maximum) / sums.sum);
      }
      case Reduce::norm: {
        const T norm = results(k);
        return norm == 0 ? T(0) : x * (d / norm);
      }
      default:
        break;
    }
    const double left = static_cast<double>(sequences.level.length(i)) - ddof;
    const T free = left > 0 ? static_cast<T>(left) : kNan<T>;
    const T off = static_cast<T>(static_cast<double>(x) - statistics.means[k]);
    if (op == Reduce::var) return 2 * d / free * off;
    const T deviation = results(k);
    return deviation == 0 ? T(0) : d / (free * deviation) * off;
  }
};

/// Bytes that are known of a sequence, a column.
std::int64_t known_bytes(Reduce op, Type type) noexcept {
  switch (op) {
    case Reduce::prod:
      return sizeof(Factors);
    case Reduce::logsumexp:
      return type == Type::f64 ? sizeof(Exponentials<double>) : sizeof(Exponentials<float>);
    case Reduce::norm:
      return 0;
    default:
      return sizeof(double);
  }
}

std::int64_t known_space(const ReduceBackJob& job) noexcept {
  return blocks_for(job.level.count * job.columns * known_bytes(job.op, job.type), 16) * 16;
}

template <class T>
Error run_back(Stream stream, const ReduceBackJob& job, std::int64_t total, std::byte* scratch,
               std::byte* out) noexcept {
  const std::int64_t results = job.level.count * job.columns;
  const std::int64_t elements = total * job.columns;
  if (elements == 0) return 0;
  ReduceJob first;
  first.op = Reduce::mean;
  first.type = job.type;
  first.level = job.level;
  first.longest = job.longest;
  first.values = job.values;
  first.columns = job.columns;
  std::byte* const chunks = scratch + known_space(job);
  Statistics<T> statistics;
  Error error = 0;
  if (job.op == Reduce::prod) {
    auto* const factors = reinterpret_cast<Factors*>(scratch);
    statistics.factors = {factors, results};
    const LaneSink<Factors> sink{{factors, results}};
    error = run_fold(stream, first, total, values_of<AnyNumber<double>>(first, total), FactorFold{}, sink,
                     chunks);
  } else if (job.op == Reduce::logsumexp) {
    auto* const sums = reinterpret_cast<Exponentials<T>*>(scratch);
    statistics.exponentials = {sums, results};
    error = exponentials_of(stream, first, total, chunks, View<Exponentials<T>>{sums, results});
  } else if (job.op != Reduce::norm) {
    statistics.means = {reinterpret_cast<const double*>(scratch), results};
    error = means_of(stream, first, total, chunks, scratch);
  }
  if (error != 0) return error;
  Grid grid;
  grid.blocks = blocks_for(elements, static_cast<std::int64_t>(grid.threads) * GradientOfRows<T>::kElements);
  return launch(stream, grid,
                GradientOfRows<T>{job.op,
                                  job.ddof,
                                  {ends_of(job.level)},
                                  Divisor(job.columns, elements),
                                  AnyNumber<T>(job.type, job.values, elements),
                                  AnyNumber<T>(job.type, job.gradients, results),
                                  AnyNumber<T>(job.type, job.result, results),
                                  statistics,
                                  NumbersOut(job.type, out, elements)});
}

}  // namespace

std::int64_t reduce_back_scratch(const ReduceBackJob& job, std::int64_t total) noexcept {
  const std::int64_t chunk = chunk_rows(job.columns);
  const std::int64_t slots = job.longest > chunk ? 2 * blocks_for(total, chunk) : 0;
  return known_space(job) + slots * job.columns * static_cast<std::int64_t>(sizeof(Factors));
}

Error reduce_back(Stream stream, const ReduceBackJob& job, std::int64_t total, std::byte* scratch,
                  std::byte* out) noexcept {
  return job.type == Type::f64 ? run_back<double>(stream, job, total, scratch, out)
                               : run_back<float>(stream, job, total, scratch, out);
}

}  // namespace varlen::cuda
