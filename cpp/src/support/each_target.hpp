// Compiles the file VARLEN_LOOPS twice: in namespace baseline, and in namespace avx2 for AVX2, FMA and F16C;
// and, where VARLEN_LOOPS_AVX512 is defined, in namespace avx512 as well. Templates and vectors in it are
// lowered for the one or the other, which inlining alone would not do. kVectorBytes is how wide vectors are
// there. What the file needs is included before this, so that nothing of it is compiled for AVX2 under a name
// that others share. The file may ask for VARLEN_TARGET_AVX2 and VARLEN_TARGET_AVX512 where it has such
// instructions by name. Included once for each such file; no guard.

#include "dispatch.hpp"

namespace varlen::baseline {
#include VARLEN_LOOPS
}  // namespace varlen::baseline

#if defined(VARLEN_AVX2) && !defined(VARLEN_FEW_TARGETS)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

#define VARLEN_TARGET_AVX2
namespace varlen::avx2 {
#include VARLEN_LOOPS  // NOLINT(readability-duplicate-include)
}  // namespace varlen::avx2
#undef VARLEN_TARGET_AVX2

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#if defined(VARLEN_AVX2) && defined(VARLEN_LOOPS_AVX512)
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512dq,avx512bw,avx512vl")
#endif

#define VARLEN_TARGET_AVX512
namespace varlen::avx512 {
#include VARLEN_LOOPS  // NOLINT(readability-duplicate-include)
}  // namespace varlen::avx512
#undef VARLEN_TARGET_AVX512

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#undef VARLEN_LOOPS_AVX512
#undef VARLEN_LOOPS
