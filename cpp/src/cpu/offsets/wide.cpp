#include "wide.hpp"

#include "support/dispatch.hpp"

#ifdef VARLEN_AVX2
#include <immintrin.h>
#endif

namespace varlen {

#ifdef VARLEN_AVX2

namespace {

VARLEN_AVX2 inline __m256i four(const std::int64_t* data) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
}

VARLEN_AVX2 inline __m256i four(const std::int32_t* data) noexcept {
  return _mm256_cvtepi32_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data)));
}

struct Lanes {
  alignas(32) std::uint64_t data[4];

  VARLEN_AVX2 explicit Lanes(__m256i x) noexcept { _mm256_store_si256(reinterpret_cast<__m256i*>(data), x); }
};

template <class T>
VARLEN_AVX2 WideScan scan(const T* lengths, std::int64_t n, std::uint64_t start,
                          std::int64_t* ends) noexcept {
  const __m256i zero = _mm256_setzero_si256();
  __m256i sum = _mm256_set1_epi64x(static_cast<std::int64_t>(start));
  __m256i bits = zero;
  __m256i longest = zero;
  __m256i shortest = _mm256_set1_epi32(-1);
  for (std::int64_t i = 0; i < n; i += 4) {
    const __m256i x = four(lengths + i);
    bits = _mm256_or_si256(bits, x);
    longest = _mm256_max_epu32(longest, x);  // the upper halves are 0 where this counts
    shortest = _mm256_min_epu32(shortest, x);
    const __m256i pairs = _mm256_add_epi64(x, _mm256_slli_si256(x, 8));
    const __m256i low = _mm256_blend_epi32(zero, _mm256_permute4x64_epi64(pairs, 0x55), 0xF0);
    const __m256i sums = _mm256_add_epi64(pairs, low);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(ends + i), _mm256_add_epi64(sum, sums));
    // Only this addition waits for the step before.
    sum = _mm256_add_epi64(sum, _mm256_permute4x64_epi64(sums, 0xFF));
  }
  const Lanes all(bits), longest_lanes(longest), shortest_lanes(shortest), total(sum);
  WideScan out{total.data[0], 0, 0, static_cast<std::int64_t>(shortest_lanes.data[0])};
  for (int lane = 0; lane < 4; ++lane) {
    const auto high = static_cast<std::int64_t>(longest_lanes.data[lane]);
    const auto deep = static_cast<std::int64_t>(shortest_lanes.data[lane]);
    out.bits |= all.data[lane];
    out.longest = out.longest < high ? high : out.longest;
    out.shortest = deep < out.shortest ? deep : out.shortest;
  }
  return out;
}

}  // namespace

WideScan wide_scan(const std::int32_t* lengths, std::int64_t n, std::uint64_t sum,
                   std::int64_t* ends) noexcept {
  return scan(lengths, n, sum, ends);
}

WideScan wide_scan(const std::int64_t* lengths, std::int64_t n, std::uint64_t sum,
                   std::int64_t* ends) noexcept {
  return scan(lengths, n, sum, ends);
}

#else

WideScan wide_scan(const std::int32_t*, std::int64_t, std::uint64_t, std::int64_t*) noexcept {
  return {};
}

WideScan wide_scan(const std::int64_t*, std::int64_t, std::uint64_t, std::int64_t*) noexcept {
  return {};
}

#endif

}  // namespace varlen
