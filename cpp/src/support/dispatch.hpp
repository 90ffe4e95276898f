// How loops are compiled for several sets of instructions, and which of them runs: one mechanism, with a
// column for the baseline, for AVX2 (with FMA and F16C) and, where it pays, for AVX-512. On aarch64 the
// baseline is NEON, and vectors of the compiler become its instructions.
//
//   best<body>(...)         a function whose body is marked VARLEN_LOOP is compiled for the baseline and AVX2
//   widest<body>(...)       the same, and for AVX-512
//   VARLEN_LOOPS            a file of templates and vectors is: see each_target.hpp; VARLEN_BEST or
//                           VARLEN_WIDEST takes its table
//   runs(Isa::avx512)       before a function of intrinsics, which is marked VARLEN_AVX2 or VARLEN_AVX512
//
// Highway was judged for this: it would give SVE and portable shuffles, but compiles every file for each of
// its targets and has vector types of its own, and no kernel here lacks a shuffle that it has.
//
// Only where it was measured to pay: moves of a few hundred bytes a row, folds, exp, minima and maxima.
#pragma once

#include <cstdint>

#include "varlen/support/instructions.hpp"

// Threads do the same whatever the instructions.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
/// A function for AVX2, to be called where it runs.
#define VARLEN_AVX2 __attribute__((target("avx2,fma,f16c,popcnt")))
/// A function for AVX-512 as machines have it that pack lanes of any width, to be called where it runs.
#define VARLEN_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx512vbmi2,popcnt")))
#endif

/// The body of a function that is compiled for each set of instructions.
#if defined(__GNUC__)
#define VARLEN_LOOP [[gnu::always_inline]] inline
#else
#define VARLEN_LOOP inline
#endif

/// The table of that name that suits this machine; without those of AVX2 where few targets are asked for.
#if defined(VARLEN_AVX2) && !defined(VARLEN_FEW_TARGETS)
#define VARLEN_BEST(table) \
  (::varlen::runs(::varlen::Isa::avx2) ? ::varlen::avx2::table : ::varlen::baseline::table)
#else
#define VARLEN_BEST(table) (::varlen::baseline::table)
#endif

/// The same of a file that is compiled for AVX-512 too.
#ifdef VARLEN_AVX512
#define VARLEN_WIDEST(table) \
  (::varlen::runs(::varlen::Isa::avx512) ? ::varlen::avx512::table : VARLEN_BEST(table))
#else
#define VARLEN_WIDEST(table) VARLEN_BEST(table)
#endif

namespace varlen {

/// How wide the vectors are in the loops of each column.
namespace baseline {
inline constexpr std::int64_t kVectorBytes = 32;
}  // namespace baseline
namespace avx2 {
inline constexpr std::int64_t kVectorBytes = 32;
}  // namespace avx2
namespace avx512 {
inline constexpr std::int64_t kVectorBytes = 64;
}  // namespace avx512

namespace detail {
/// Set once, while the library is loaded.
extern const Isa best_isa;
}  // namespace detail

/// Whether this machine runs what is marked for that set.
inline bool runs(Isa set) noexcept {
  return set <= detail::best_isa;
}

template <auto body>
struct Best;

template <class R, class... A, R (*body)(A...) noexcept>
struct Best<body> {
#if defined(__GNUC__)
  [[gnu::noinline]]
#endif
  static R
  baseline(A... arguments) noexcept {
    return body(static_cast<A>(arguments)...);
  }

#ifdef VARLEN_AVX2
  [[gnu::noinline]] VARLEN_AVX2 static R avx2(A... arguments) noexcept {
    return body(static_cast<A>(arguments)...);
  }

  static R run(A... arguments) noexcept {
    return runs(Isa::avx2) ? avx2(static_cast<A>(arguments)...) : baseline(static_cast<A>(arguments)...);
  }
#else
  static R run(A... arguments) noexcept {
    return baseline(static_cast<A>(arguments)...);
  }
#endif
};

template <auto body>
struct Widest;

template <class R, class... A, R (*body)(A...) noexcept>
struct Widest<body> {
#ifdef VARLEN_AVX512
  [[gnu::noinline]] VARLEN_AVX512 static R avx512(A... arguments) noexcept {
    return body(static_cast<A>(arguments)...);
  }

  static R run(A... arguments) noexcept {
    return runs(Isa::avx512) ? avx512(static_cast<A>(arguments)...)
                             : Best<body>::run(static_cast<A>(arguments)...);
  }
#else
  static R run(A... arguments) noexcept {
    return Best<body>::run(static_cast<A>(arguments)...);
  }
#endif
};

/// A function marked VARLEN_LOOP, by the best set of instructions that this machine runs.
template <auto body>
inline constexpr auto best = &Best<body>::run;

/// The same of a function that is compiled for AVX-512 too.
template <auto body>
inline constexpr auto widest = &Widest<body>::run;

}  // namespace varlen
