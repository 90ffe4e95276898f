#include "varlen/softmax.hpp"

#include "varlen/cast.hpp"
#include "varlen/sequence.hpp"

namespace varlen {

Type softmax_type(Type type) noexcept {
  return is_float(type) ? type : Type::f64;
}

void softmax(const SoftmaxJob& job, std::byte* out) noexcept {
  if (job.columns <= 0) return;
  const Type result = softmax_type(job.type);
  const Type type = result == Type::f64 ? Type::f64 : Type::f32;
  SequenceJob inner;
  inner.op = static_cast<SequenceOp>(job.op);
  inner.level = job.level;
  inner.longest = job.longest;
  inner.a = job.values;
  inner.b = job.result;
  inner.input = {cast_of(job.type, type).run, size_of(job.type), size_of(type)};
  inner.out = {cast_of(type, result).run, size_of(type), size_of(result)};
  inner.columns = job.columns;
  inner.temperature = job.temperature;
  run_sequence_op(inner, type, out);
}

}  // namespace varlen
