#include <cstring>

#include "run.hpp"
#include "varlen/cuda/reduce.hpp"

namespace varlen::cuda {

namespace {

template <class Reader>
Error run_places(Stream stream, const ReduceJob& job, std::int64_t total, std::byte* scratch, std::byte* out,
                 Places which) noexcept {
  using T = typename Reader::Value;
  const std::int64_t results = job.level.count * job.columns;
  PlaceSink<T> sink{NumbersOut(job.type, out, results), 0, {which.wide, results}, {which.narrow, results}};
  if (job.empty != nullptr) {
    std::memcpy(&sink.empty, job.empty, static_cast<std::size_t>(bytes_of(job.type)));
  }
  return run_fold(stream, job, total, values_of<Reader>(job, total), PlaceFold<T>(job.op, job.type), sink,
                  scratch);
}

}  // namespace

Error reduce_extreme(Stream stream, const ReduceJob& job, std::int64_t total, std::byte* scratch,
                     std::byte* out, Places which) noexcept {
  if (!is_real(job.type)) {
    return run_places<AnyNumber<std::int64_t>>(stream, job, total, scratch, out, which);
  }
  return job.type == Type::f64 ? run_places<Doubles>(stream, job, total, scratch, out, which)
                               : run_places<AnyNumber<float>>(stream, job, total, scratch, out, which);
}

}  // namespace varlen::cuda
