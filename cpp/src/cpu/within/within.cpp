#include "varlen/within.hpp"

#include "table.hpp"

#define VARLEN_LOOPS "cpu/within/loops.inc"
#include "support/each_target.hpp"

namespace varlen {

void within(const WithinJob& job, Type type, std::byte* out) noexcept {
  const WithinTable& table = VARLEN_BEST(kWithin);
  (type == Type::f32 ? table.f32 : table.f64)(job, out);
}

}  // namespace varlen
