#include "varlen/within.hpp"

#include "table.hpp"

#define VARLEN_LOOPS_AVX512
#define VARLEN_LOOPS "cpu/within/loops.inc"
#include "support/each_target.hpp"

namespace varlen {

void within(const WithinJob& job, Type type, std::byte* out) noexcept {
  // Sequences that fit a vector of 32 bytes take less time in such; so do rows that leave more of a wide one.
  const std::int64_t width = job.columns * size_of(type);
  const bool fits = job.longest * width <= 32 || (width > 32 && width < 512 && width % 64 != 0);
  const WithinTable& table = fits ? VARLEN_BEST(kWithin) : VARLEN_WIDEST(kWithin);
  (type == Type::f32 ? table.f32 : table.f64)(job, out);
}

}  // namespace varlen
