#include "dispatch.hpp"

#include <cstdlib>
#include <string_view>

#ifdef VARLEN_AVX2
#include <cpuid.h>
#endif

namespace varlen {
namespace {

#ifdef VARLEN_AVX2
/// Whether halves can be converted, which not every compiler's builtin knows.
bool supports_f16c() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

Isa machine_isa() noexcept {
#ifdef VARLEN_AVX2
  __builtin_cpu_init();  // this may run before the compiler's own constructors
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                    supports_f16c() && __builtin_cpu_supports("popcnt") != 0;
  if (!avx2) return Isa::baseline;
  const bool packs = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                     __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                     __builtin_cpu_supports("avx512vbmi2") != 0;
  return packs ? Isa::avx512 : Isa::avx2;
#else
  return Isa::baseline;
#endif
}

Isa choose() noexcept {
  const Isa limit = machine_isa();
  const char* const request = std::getenv("VARLEN_ISA");  // NOLINT(concurrency-mt-unsafe): at load
  if (request == nullptr) return limit;
  for (const Isa set : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (name_of(set) == request) return set < limit ? set : limit;
  }
  return limit;
}

}  // namespace

const Isa detail::best_isa = choose();

Isa isa() noexcept {
  return detail::best_isa;
}

std::string_view name_of(Isa set) noexcept {
  return set == Isa::avx512 ? "avx512" : set == Isa::avx2 ? "avx2" : "baseline";
}

}  // namespace varlen
