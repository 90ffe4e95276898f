#include "erase_wide.hpp"

#include <array>
#include <type_traits>

#include "wide.hpp"

#ifdef VARLEN_AVX2
#include <immintrin.h>
#endif

namespace varlen {

#ifdef VARLEN_AVX2

namespace {

#define VARLEN_ERASE __attribute__((target("avx2,popcnt")))

/// For each set of eight lanes, the lanes in it, in order; what stands behind them is written over later.
constexpr auto kLanesOf = [] {
  std::array<std::array<std::uint8_t, 8>, 256> made{};
  for (unsigned set = 0; set < 256; ++set) {
    std::size_t next = 0;
    for (unsigned lane = 0; lane < 8; ++lane) {
      if ((set >> lane & 1U) != 0) made[set][next++] = static_cast<std::uint8_t>(lane);
    }
  }
  return made;
}();

/// One token in every lane.
struct Token {
  __m256i lanes;
};

template <class T>
VARLEN_ERASE inline __m256i same(__m256i a, __m256i b) noexcept {
  return sizeof(T) == 4 ? _mm256_cmpeq_epi32(a, b) : _mm256_cmpeq_epi64(a, b);
}

template <class T>
VARLEN_ERASE inline __m256i all_of(const T* token) noexcept {
  return sizeof(T) == 4 ? _mm256_set1_epi32(static_cast<int>(*token))
                        : _mm256_set1_epi64x(static_cast<long long>(*token));
}

/// N tokens in registers; 0: n of them in memory.
template <class T, int N>
VARLEN_ERASE Erased erase_vectors(const T* values, std::int64_t rows, Offsets level, const T* tokens,
                                  std::int64_t n, T* out, std::int64_t* ends) noexcept {
  constexpr std::int64_t kWords = 32 / sizeof(T);
  constexpr int kLanes = sizeof(T) / 4;  // of 4 bytes, in a word
  std::array<Token, static_cast<std::size_t>(N > 0 ? N : kWideTokens)> all;
  const std::int64_t count = N > 0 ? N : n;
  for (std::int64_t k = 0; k < count; ++k) all[static_cast<std::size_t>(k)].lanes = all_of(tokens + k);
  Erased at;
  for (; at.row + kWords <= rows; at.row += kWords) {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + at.row));
    __m256i gone = _mm256_setzero_si256();
    for (std::int64_t k = 0; k < count; ++k) {
      gone = _mm256_or_si256(gone, same<T>(block, all[static_cast<std::size_t>(k)].lanes));
    }
    const auto kept = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(gone))) ^ 255U;
    const __m128i lanes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kLanesOf[kept].data()));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + at.kept),
                        _mm256_permutevar8x32_epi32(block, _mm256_cvtepu8_epi32(lanes)));
    for (; at.sequence < level.count && level.end(at.sequence) < at.row + kWords; ++at.sequence) {
      const auto before = static_cast<int>(level.end(at.sequence) - at.row) * kLanes;
      ends[at.sequence] = at.kept + __builtin_popcount(kept & ((1U << before) - 1U)) / kLanes;
    }
    at.kept += __builtin_popcount(kept) / kLanes;
  }
  return at;
}

template <class T>
Erased erase_words(Rows values, Offsets level, const std::byte* tokens, std::int64_t n, std::byte* out,
                   std::int64_t* ends) noexcept {
  const auto run = [&](auto few) {
    return erase_vectors<T, decltype(few)::value>(reinterpret_cast<const T*>(values.data), values.count,
                                                  level, reinterpret_cast<const T*>(tokens), n,
                                                  reinterpret_cast<T*>(out), ends);
  };
  switch (n) {
    case 1:
      return run(std::integral_constant<int, 1>{});
    case 2:
      return run(std::integral_constant<int, 2>{});
    case 3:
      return run(std::integral_constant<int, 3>{});
    case 4:
      return run(std::integral_constant<int, 4>{});
    default:
      return run(std::integral_constant<int, 0>{});
  }
}

}  // namespace

Erased erase_wide(Rows values, Offsets level, const std::byte* tokens, std::int64_t n, std::byte* out,
                  std::int64_t* ends) noexcept {
  return values.width == 4 ? erase_words<std::uint32_t>(values, level, tokens, n, out, ends)
                           : erase_words<std::uint64_t>(values, level, tokens, n, out, ends);
}

#else

Erased erase_wide(Rows, Offsets, const std::byte*, std::int64_t, std::byte*, std::int64_t*) noexcept {
  return {};
}

#endif

}  // namespace varlen
