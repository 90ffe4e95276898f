#include "halves.hpp"

#include "support/dispatch.hpp"

#ifdef VARLEN_AVX2
#include <immintrin.h>
#endif

namespace varlen {

#ifdef VARLEN_AVX2
namespace {

VARLEN_AVX2 inline __m256 widen8(const std::byte* input, Half /*of*/) noexcept {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(input)));
}

VARLEN_AVX2 inline __m256 widen8(const std::byte* input, BFloat /*of*/) noexcept {
  const __m256i bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(input)));
  return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
}

VARLEN_AVX2 inline __m128i narrow8(__m256 x, Half /*of*/) noexcept {
  // NaN is one number of each sign, as where there is no such instruction, which keeps its bits.
  const __m256 quiet = _mm256_or_ps(_mm256_and_ps(x, _mm256_set1_ps(-0.0F)),
                                    _mm256_castsi256_ps(_mm256_set1_epi32(0x7FC00000)));
  const __m256 number = _mm256_blendv_ps(x, quiet, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  return _mm256_cvtps_ph(number, _MM_FROUND_TO_NEAREST_INT);
}

VARLEN_AVX2 inline __m128i narrow8(__m256 x, BFloat /*of*/) noexcept {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i upper = _mm256_srli_epi32(bits, 16);
  const __m256i even = _mm256_and_si256(upper, _mm256_set1_epi32(1));
  const __m256i sum = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7FFF)), even);
  const __m256i quiet = _mm256_or_si256(upper, _mm256_set1_epi32(0x40));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  const __m256i all = _mm256_blendv_epi8(_mm256_srli_epi32(sum, 16), quiet, is_nan);
  return _mm_packus_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
}

template <class H>
VARLEN_AVX2 void widen_run(const std::byte* input, std::int64_t count, const std::byte* /*nan*/,
                           std::byte* out) noexcept {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    _mm256_storeu_ps(reinterpret_cast<float*>(out + 4 * i), widen8(input + 2 * i, H{}));
  }
  for (; i < count; ++i) write(out, i, widen(read<H>(input, i)));
}

template <class H>
VARLEN_AVX2 void narrow_run(const std::byte* input, std::int64_t count, const std::byte* /*nan*/,
                            std::byte* out) noexcept {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 x = _mm256_loadu_ps(reinterpret_cast<const float*>(input + 4 * i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i), narrow8(x, H{}));
  }
  for (; i < count; ++i) write(out, i, convert<H>(read<float>(input, i)));
}

}  // namespace
#endif

template <class H>
const HalfRuns* half_runs() noexcept {
#ifdef VARLEN_AVX2
  static constexpr HalfRuns kRuns{widen_run<H>, narrow_run<H>};
  if (runs(Isa::avx2)) return &kRuns;
#endif
  return nullptr;
}

template const HalfRuns* half_runs<Half>() noexcept;
template const HalfRuns* half_runs<BFloat>() noexcept;

}  // namespace varlen
