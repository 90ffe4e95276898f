// Compiles the file VARLEN_LOOPS twice: in namespace plain for the baseline, in namespace broad for AVX2 and
// FMA. Templates and vectors in it are lowered for the one or the other, which inlining alone would not do.
// What the file needs is included before this, so that nothing of it is compiled for AVX2 under a name that
// others share. The file may ask for VARLEN_BROAD where it has instructions of AVX2 by name. Included once
// for each such file; no guard.

#include "wide.hpp"

namespace varlen::plain {
#include VARLEN_LOOPS
}  // namespace varlen::plain

#ifdef VARLEN_AVX2
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define VARLEN_BROAD
namespace varlen::broad {
#include VARLEN_LOOPS  // NOLINT(readability-duplicate-include)
}  // namespace varlen::broad
#undef VARLEN_BROAD

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

#undef VARLEN_LOOPS
