// Loops over vectors are compiled twice, for the baseline and for AVX2; which one runs is settled when the
// library is loaded. Only where it was measured to pay: loops that move a few hundred bytes a row.
#pragma once

#include <cstdint>  // tells whether libc is glibc, whose loader knows how to choose

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__AVX2__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VARLEN_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define VARLEN_WIDE
#endif

#if defined(__x86_64__) && defined(__GNUC__)
/// A function for AVX2, to be called where there is AVX2.
#define VARLEN_AVX2 __attribute__((target("avx2")))
/// A function for AVX-512 as machines have it that pack lanes of any width, to be called where they do.
#define VARLEN_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,popcnt")))
#endif

namespace varlen {

/// Whether this machine runs what is marked with VARLEN_AVX2, and FMA, which came with it.
inline bool has_avx2() noexcept {
#ifdef VARLEN_AVX2
  static const bool found = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return found;
#else
  return false;
#endif
}

/// Whether this machine runs what is marked with VARLEN_AVX512.
inline bool has_avx512() noexcept {
#ifdef VARLEN_AVX512
  static const bool found = __builtin_cpu_supports("avx512bw") != 0 &&
                            __builtin_cpu_supports("avx512vl") != 0 &&
                            __builtin_cpu_supports("avx512vbmi2") != 0;
  return found;
#else
  return false;
#endif
}

}  // namespace varlen
