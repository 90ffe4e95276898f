#include "wide.hpp"

#include <array>
#include <type_traits>

#include "support/dispatch.hpp"

#ifdef VARLEN_AVX2
#include <immintrin.h>
#endif

namespace varlen {

#ifdef VARLEN_AVX2

namespace {

/// For each set of eight lanes, the lanes in it, in order; what stands behind them is written over later.
constexpr auto kLanesOf = [] {
  std::array<std::array<std::uint8_t, 8>, 256> result{};
  for (unsigned set = 0; set < 256; ++set) {
    std::size_t next = 0;
    for (unsigned lane = 0; lane < 8; ++lane) {
      if ((set >> lane & 1U) != 0) result[set][next++] = static_cast<std::uint8_t>(lane);
    }
  }
  return result;
}();

/// One token in every lane.
struct Token {
  __m256i lanes;
};

template <class T>
VARLEN_AVX2 inline __m256i equals(__m256i a, __m256i b) noexcept {
  return sizeof(T) == 4 ? _mm256_cmpeq_epi32(a, b) : _mm256_cmpeq_epi64(a, b);
}

template <class T>
VARLEN_AVX2 inline __m256i all_of(const T* token) noexcept {
  return sizeof(T) == 4 ? _mm256_set1_epi32(static_cast<int>(*token))
                        : _mm256_set1_epi64x(static_cast<long long>(*token));
}

/// N tokens in registers; 0: n of them in memory.
template <class T, int N>
VARLEN_AVX2 EraseProgress erase_vectors(const T* values, std::int64_t rows, Offsets level, const T* tokens,
                                        std::int64_t n, T* out, std::int64_t* ends) noexcept {
  constexpr std::int64_t kWords = 32 / sizeof(T);
  constexpr int kLanes = sizeof(T) / 4;  // of 4 bytes, in a word
  std::array<Token, static_cast<std::size_t>(N > 0 ? N : kWideTokens)> all;
  const std::int64_t count = N > 0 ? N : n;
  for (std::int64_t k = 0; k < count; ++k) all[static_cast<std::size_t>(k)].lanes = all_of(tokens + k);
  EraseProgress progress;
  for (; progress.row + kWords <= rows; progress.row += kWords) {
    const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + progress.row));
    __m256i hits = _mm256_setzero_si256();
    for (std::int64_t k = 0; k < count; ++k) {
      hits = _mm256_or_si256(hits, equals<T>(block, all[static_cast<std::size_t>(k)].lanes));
    }
    const auto keep_mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(hits))) ^ 255U;
    const __m128i lanes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(kLanesOf[keep_mask].data()));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + progress.rows_kept),
                        _mm256_permutevar8x32_epi32(block, _mm256_cvtepu8_epi32(lanes)));
    for (; progress.sequence < level.count && level.end(progress.sequence) < progress.row + kWords;
         ++progress.sequence) {
      const auto prefix = static_cast<int>(level.end(progress.sequence) - progress.row) * kLanes;
      ends[progress.sequence] =
          progress.rows_kept + __builtin_popcount(keep_mask & ((1U << prefix) - 1U)) / kLanes;
    }
    progress.rows_kept += __builtin_popcount(keep_mask) / kLanes;
  }
  return progress;
}

template <class T>
EraseProgress erase_words(Rows values, Offsets level, const std::byte* tokens, std::int64_t n, std::byte* out,
                          std::int64_t* ends) noexcept {
  const auto run = [&](auto size) {
    return erase_vectors<T, decltype(size)::value>(reinterpret_cast<const T*>(values.data), values.count,
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

/// One token in every lane.
struct Lanes {
  __m512i all;
};

template <class T>
VARLEN_AVX512 inline Lanes lanes_of(T token) noexcept {
  if constexpr (sizeof(T) == 1) return {_mm512_set1_epi8(static_cast<char>(token))};
  if constexpr (sizeof(T) == 2) return {_mm512_set1_epi16(static_cast<short>(token))};
  if constexpr (sizeof(T) == 4) return {_mm512_set1_epi32(static_cast<int>(token))};
  if constexpr (sizeof(T) == 8) return {_mm512_set1_epi64(static_cast<long long>(token))};
}

/// A bit for each lane: whether it is another number.
template <class T>
VARLEN_AVX512 inline std::uint64_t others(__m512i block, const Lanes& token) noexcept {
  if constexpr (sizeof(T) == 1) return _mm512_cmpneq_epi8_mask(block, token.all);
  if constexpr (sizeof(T) == 2) return _mm512_cmpneq_epi16_mask(block, token.all);
  if constexpr (sizeof(T) == 4) return _mm512_cmpneq_epi32_mask(block, token.all);
  if constexpr (sizeof(T) == 8) return _mm512_cmpneq_epi64_mask(block, token.all);
}

/// The lanes that are kept, to the front.
template <class T>
VARLEN_AVX512 inline __m512i packed(std::uint64_t keep_mask, __m512i block) noexcept {
  if constexpr (sizeof(T) == 1) return _mm512_maskz_compress_epi8(keep_mask, block);
  if constexpr (sizeof(T) == 2) return _mm512_maskz_compress_epi16(static_cast<__mmask32>(keep_mask), block);
  if constexpr (sizeof(T) == 4) return _mm512_maskz_compress_epi32(static_cast<__mmask16>(keep_mask), block);
  if constexpr (sizeof(T) == 8) return _mm512_maskz_compress_epi64(static_cast<__mmask8>(keep_mask), block);
}

template <class T>
VARLEN_AVX512 EraseProgress erase_lanes(Rows rows, Offsets level, const std::byte* token_bytes,
                                        std::int64_t n, std::byte* to, std::int64_t* ends) noexcept {
  constexpr std::int64_t kLanes = 64 / sizeof(T);
  constexpr std::uint64_t kAll = ~std::uint64_t{0} >> (64 - kLanes);
  const auto* const values = reinterpret_cast<const T*>(rows.data);
  auto* const out = reinterpret_cast<T*>(to);
  std::array<Lanes, static_cast<std::size_t>(kWideTokens)> tokens;
  for (std::int64_t k = 0; k < n; ++k) {
    tokens[static_cast<std::size_t>(k)] = lanes_of(reinterpret_cast<const T*>(token_bytes)[k]);
  }
  EraseProgress progress;
  for (; progress.row + kLanes <= rows.count; progress.row += kLanes) {
    const __m512i block = _mm512_loadu_si512(values + progress.row);
    std::uint64_t keep_mask = kAll;
    for (std::int64_t k = 0; k < n; ++k) keep_mask &= others<T>(block, tokens[static_cast<std::size_t>(k)]);
    _mm512_storeu_si512(out + progress.rows_kept, packed<T>(keep_mask, block));
    for (; progress.sequence < level.count && level.end(progress.sequence) < progress.row + kLanes;
         ++progress.sequence) {
      const std::uint64_t prefix = (std::uint64_t{1} << (level.end(progress.sequence) - progress.row)) - 1;
      ends[progress.sequence] = progress.rows_kept + __builtin_popcountll(keep_mask & prefix);
    }
    progress.rows_kept += __builtin_popcountll(keep_mask);
  }
  return progress;
}

}  // namespace

EraseProgress erase_permuted(Rows values, Offsets level, const std::byte* tokens, std::int64_t n,
                             std::byte* out, std::int64_t* ends) noexcept {
  return values.width == 4 ? erase_words<std::uint32_t>(values, level, tokens, n, out, ends)
                           : erase_words<std::uint64_t>(values, level, tokens, n, out, ends);
}

EraseProgress erase_packed(Rows values, Offsets level, const std::byte* tokens, std::int64_t n,
                           std::byte* out, std::int64_t* ends) noexcept {
  switch (values.width) {
    case 1:
      return erase_lanes<std::uint8_t>(values, level, tokens, n, out, ends);
    case 2:
      return erase_lanes<std::uint16_t>(values, level, tokens, n, out, ends);
    case 4:
      return erase_lanes<std::uint32_t>(values, level, tokens, n, out, ends);
    default:
      return erase_lanes<std::uint64_t>(values, level, tokens, n, out, ends);
  }
}

#else

EraseProgress erase_permuted(Rows, Offsets, const std::byte*, std::int64_t, std::byte*,
                             std::int64_t*) noexcept {
  return {};
}

EraseProgress erase_packed(Rows, Offsets, const std::byte*, std::int64_t, std::byte*,
                           std::int64_t*) noexcept {
  return {};
}

#endif

EraseProgress erase_wide(Rows values, Offsets level, const std::byte* tokens, std::int64_t n, std::byte* out,
                         std::int64_t* ends) noexcept {
  if (n > kWideTokens) return {};
  if (runs(Isa::avx512)) return erase_packed(values, level, tokens, n, out, ends);
  if (runs(Isa::avx2) && values.width >= 4) return erase_permuted(values, level, tokens, n, out, ends);
  return {};
}

}  // namespace varlen
