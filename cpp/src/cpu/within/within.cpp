#include "varlen/within.hpp"

#include "table.hpp"

#define VARLEN_LOOPS "cpu/within/loops.inc"
#include "support/each_target.hpp"

namespace varlen {

void within(const WithinJob& job, Type type, std::byte* out) noexcept {
#ifdef VARLEN_AVX2
  const WithinTable& table = has_avx2() ? broad::kWithin : plain::kWithin;
#else
  const WithinTable& table = plain::kWithin;
#endif
  (type == Type::f32 ? table.f32 : table.f64)(job, out);
}

}  // namespace varlen
