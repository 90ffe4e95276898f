#include "varlen/softmax.hpp"

#include "softmax_shared.hpp"

#define VARLEN_LOOPS "softmax_loops.inc"
#include "each_target.hpp"

namespace varlen {

void within(const WithinJob& job, Type type, std::byte* out) noexcept {
#ifdef VARLEN_AVX2
  const WithinTable& table = has_avx2() ? broad::kWithin : plain::kWithin;
#else
  const WithinTable& table = plain::kWithin;
#endif
  (type == Type::f32 ? table.f32 : table.f64)(job, out);
}

Type softmax_type(Type type) noexcept {
  return is_float(type) ? type : Type::f64;
}

void softmax(const SoftmaxJob& job, std::byte* out) noexcept {
  if (job.columns <= 0) return;
  const Type made = softmax_type(job.type);
  const Type type = made == Type::f64 ? Type::f64 : Type::f32;
  WithinJob inner;
  inner.op = static_cast<Within>(job.op);
  inner.level = job.level;
  inner.longest = job.longest;
  inner.a = job.values;
  inner.b = job.made;
  inner.in = {cast_of(job.type, type).run, size_of(job.type), size_of(type)};
  inner.out = {cast_of(type, made).run, size_of(type), size_of(made)};
  inner.columns = job.columns;
  inner.temperature = job.temperature;
  within(inner, type, out);
}

}  // namespace varlen
