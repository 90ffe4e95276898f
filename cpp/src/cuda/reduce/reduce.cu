#include <cstring>

#include "run.hpp"
#include "statistics.hpp"
#include "varlen/cuda/reduce.hpp"

namespace varlen::cuda {

namespace {

/// One reduction: what `run_fold` takes beside its fold.
struct Call {
  Stream stream;
  const ReduceJob& job;
  std::int64_t total;
  std::byte* scratch;
  NumberSink sink;

  template <class Reader, class Fold>
  [[nodiscard]] Error run(const Fold& fold) const noexcept {
    return run_fold(stream, job, total, values_of<Reader>(job, total), fold, sink, scratch);
  }

  [[nodiscard]] Error numbers() const noexcept {
    FloatFold floats;
    NumberFold<std::int64_t> wholes;
    NumberFold<double> doubles;
    if (job.op == Reduce::max || job.op == Reduce::min) {
      floats.set_end(job.op, job.type);
      wholes.set_end(job.op, job.type);
      doubles.set_end(job.op, job.type);
    }
    floats.multiplies = wholes.multiplies = doubles.multiplies = job.op == Reduce::prod;
    floats.mean = doubles.mean = job.op == Reduce::mean;
    doubles.squares = doubles.root = job.op == Reduce::norm;
    if (job.op == Reduce::norm || job.type == Type::f64) return run<AnyNumber<double>>(doubles);
    if (is_real(job.type)) return run<AnyNumber<float>>(floats);
    return job.op == Reduce::mean ? run<AnyNumber<double>>(doubles) : run<AnyNumber<std::int64_t>>(wholes);
  }
  /// Of ones and zeros: any is the largest, all is the smallest.
  [[nodiscard]] Error truth() const noexcept {
    NumberFold<std::int64_t> fold;
    fold.set_end(job.op == Reduce::any ? Reduce::max : Reduce::min, Type::i64);
    const auto truths = AnyNumber<std::int64_t>::truths(job.type, job.values, numbers_of(job, total));
    return run_fold(stream, job, total, truths, fold, sink, scratch);
  }
  [[nodiscard]] Error spread() const noexcept {
    SpreadFold fold;
    fold.ddof = job.ddof;
    fold.root = job.op == Reduce::std;
    return run<AnyNumber<double>>(fold);
  }
  template <class T>
  [[nodiscard]] Error logsumexp() const noexcept {
    const ExponentialSink<T> logarithms{sink, {}};
    return run_fold(stream, job, total, values_of<AnyNumber<T>>(job, total), ExponentialFold<T>{}, logarithms,
                    scratch);
  }
};

}  // namespace

std::int64_t reduce_scratch(const ReduceJob& job, std::int64_t total) noexcept {
  // Two words are the most that is kept of a chunk.
  const std::int64_t chunk = chunk_rows(job.columns);
  return job.longest > chunk ? 2 * blocks_for(total, chunk) * job.columns * 16 : 0;
}

Error reduce(Stream stream, const ReduceJob& job, std::int64_t total, Type type, std::byte* scratch,
             std::byte* out) noexcept {
  Call call{stream, job, total, scratch, {NumbersOut(type, out, job.level.count * job.columns), 0}};
  if (job.empty != nullptr) {
    std::memcpy(&call.sink.empty, job.empty, static_cast<std::size_t>(bytes_of(type)));
  }
  switch (job.op) {
    case Reduce::sum:
    case Reduce::mean:
    case Reduce::prod:
    case Reduce::norm:
    case Reduce::max:
    case Reduce::min:
      return call.numbers();
    case Reduce::any:
    case Reduce::all:
      return call.truth();
    case Reduce::logsumexp:
      return is_real(job.type) && job.type != Type::f64 ? call.logsumexp<float>() : call.logsumexp<double>();
    case Reduce::var:
    case Reduce::std:
      break;
  }
  return call.spread();
}

Error join_sums(Stream stream, const Chunks& chunks, std::int64_t columns, const NumberSink& sink,
                View<double> partial) noexcept {
  return join_chunks(stream, chunks, columns, NumberFold<double>{}, sink, partial);
}

Error means_of(Stream stream, const ReduceJob& job, std::int64_t total, std::byte* scratch,
               std::byte* means) noexcept {
  NumberFold<double> fold;
  fold.mean = true;
  const NumberSink sink{NumbersOut(Type::f64, means, job.level.count * job.columns), 0};
  return run_fold(stream, job, total, values_of<AnyNumber<double>>(job, total), fold, sink, scratch);
}

Error exponentials_of(Stream stream, const ReduceJob& job, std::int64_t total, std::byte* scratch,
                      View<Exponentials<float>> sums) noexcept {
  return run_fold(stream, job, total, values_of<AnyNumber<float>>(job, total), ExponentialFold<float>{},
                  {{}, sums}, scratch);
}

Error exponentials_of(Stream stream, const ReduceJob& job, std::int64_t total, std::byte* scratch,
                      View<Exponentials<double>> sums) noexcept {
  return run_fold(stream, job, total, values_of<AnyNumber<double>>(job, total), ExponentialFold<double>{},
                  {{}, sums}, scratch);
}

}  // namespace varlen::cuda
