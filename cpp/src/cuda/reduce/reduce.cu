#include <cstring>

#include "run.hpp"
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
    return run_fold<Reader>(stream, job, total, fold, sink, scratch);
  }

  /// A fold of whole numbers, of halves and float, of double.
  template <class OfWholes, class OfFloats, class OfDoubles>
  [[nodiscard]] Error by_type(const OfWholes& wholes, const OfFloats& floats,
                              const OfDoubles& doubles) const noexcept {
    if (!is_real(job.type)) return run<AnyNumber<std::int64_t>>(wholes);
    return job.type == Type::f64 ? run<AnyNumber<double>>(doubles) : run<AnyNumber<float>>(floats);
  }

  [[nodiscard]] Error sum() const noexcept {
    FloatSumFold floats;
    SumFold<double> doubles;
    floats.mean = doubles.mean = job.op == Reduce::mean;
    if (!is_real(job.type) && job.op == Reduce::mean) return run<AnyNumber<double>>(doubles);
    return by_type(SumFold<std::int64_t>{}, floats, doubles);
  }
  [[nodiscard]] Error spread() const noexcept {
    SpreadFold fold;
    fold.ddof = job.ddof;
    fold.root = job.op == Reduce::std;
    return run<AnyNumber<double>>(fold);
  }
  [[nodiscard]] Error logsumexp() const noexcept {
    if (is_real(job.type) && job.type != Type::f64) {
      return run<AnyNumber<float>>(ExponentialFold<float, NumberSink>{});
    }
    return run<AnyNumber<double>>(ExponentialFold<double, NumberSink>{});
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
      return call.sum();
    case Reduce::prod:
      return call.by_type(ProductFold<std::int64_t>{}, FloatProductFold{}, ProductFold<double>{});
    case Reduce::max:
    case Reduce::min:
      return call.by_type(EndFold<std::int64_t>(job.op, job.type), EndFold<float>(job.op, job.type),
                          EndFold<double>(job.op, job.type));
    case Reduce::any:
    case Reduce::all: {
      TruthFold fold;
      fold.all = job.op == Reduce::all;
      return call.run<Truths>(fold);
    }
    case Reduce::norm:
      return call.run<AnyNumber<double>>(NormFold{});
    case Reduce::logsumexp:
      return call.logsumexp();
    case Reduce::var:
    case Reduce::std:
      break;
  }
  return call.spread();
}

}  // namespace varlen::cuda
