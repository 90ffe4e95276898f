#include "varlen/maxout.hpp"

#include <algorithm>
#include <cstddef>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "varlen/pool.hpp"
#include "varlen/views.hpp"

namespace varlen {

namespace {

template <class T>
void largest_of_two(const T* x, Range share, T* best, std::int32_t* which) noexcept {
  for (std::int64_t i = share.begin; i < share.end; ++i) {
    const T a = x[2 * i];
    const T b = x[2 * i + 1];
    which[i] = b > a ? 1 : 0;
    best[i] = b > a ? b : a;
  }
}

template <class T>
void largest_of_three(const T* x, Range share, T* best, std::int32_t* which) noexcept {
  for (std::int64_t i = share.begin; i < share.end; ++i) {
    const T a = x[3 * i];
    const T b = x[3 * i + 1];
    const T c = x[3 * i + 2];
    const T later = c > b ? c : b;
    const std::int32_t place = c > b ? 2 : 1;
    which[i] = later > a ? place : 0;
    best[i] = later > a ? later : a;
  }
}

#if defined(__SSE2__)
/// The same, four rows at a time: compilers take three times as long.
void largest_of_three(const float* x, Range share, float* best, std::int32_t* which) noexcept {
  std::int64_t i = share.begin;
  for (; i + 4 <= share.end; i += 4) {
    const __m128 u = _mm_loadu_ps(x + 3 * i);      // a b c a
    const __m128 v = _mm_loadu_ps(x + 3 * i + 4);  // b c a b
    const __m128 w = _mm_loadu_ps(x + 3 * i + 8);  // c a b c
    const __m128 a2 = _mm_shuffle_ps(v, w, _MM_SHUFFLE(1, 1, 2, 2));
    const __m128 b0 = _mm_shuffle_ps(u, v, _MM_SHUFFLE(0, 0, 1, 1));
    const __m128 b2 = _mm_shuffle_ps(v, w, _MM_SHUFFLE(2, 2, 3, 3));
    const __m128 c0 = _mm_shuffle_ps(u, v, _MM_SHUFFLE(1, 1, 2, 2));
    const __m128 a = _mm_shuffle_ps(u, a2, _MM_SHUFFLE(2, 0, 3, 0));
    const __m128 b = _mm_shuffle_ps(b0, b2, _MM_SHUFFLE(2, 0, 2, 0));
    const __m128 c = _mm_shuffle_ps(c0, w, _MM_SHUFFLE(3, 0, 2, 0));
    const __m128 later = _mm_max_ps(c, b);  // c > b ? c : b, of NaN too
    const __m128i place = _mm_sub_epi32(_mm_set1_epi32(1), _mm_castps_si128(_mm_cmpgt_ps(c, b)));
    const __m128i places = _mm_and_si128(place, _mm_castps_si128(_mm_cmpgt_ps(later, a)));
    _mm_storeu_ps(best + i, _mm_max_ps(later, a));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(which + i), places);
  }
  largest_of_three<float>(x, Range{i, share.end}, best, which);
}
#endif

template <class T>
void largest_of_many(const T* x, Range share, std::int64_t pieces, T* best, std::int32_t* which) noexcept {
  for (std::int64_t i = share.begin; i < share.end; ++i) {
    const T* const row = x + i * pieces;
    std::int64_t place = 0;
    for (std::int64_t p = 1; p < pieces; ++p) place = row[p] > row[place] ? p : place;
    which[i] = static_cast<std::int32_t>(place);
    best[i] = row[place];
  }
}

}  // namespace

template <class T>
void maxout(const T* x, std::int64_t n, std::int64_t pieces, T* best, std::int32_t* which) noexcept {
  const std::int64_t chunks = std::min(n, chunks_for(n * pieces * static_cast<std::int64_t>(sizeof(T))));
  const auto cut = [&](std::int64_t k) { return n / chunks * k + std::min(k, n % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    const Range share{cut(c), cut(c + 1)};
    if (pieces == 2) return largest_of_two(x, share, best, which);
    if (pieces == 3) return largest_of_three(x, share, best, which);
    largest_of_many(x, share, pieces, best, which);
  });
}

template void maxout(const float*, std::int64_t, std::int64_t, float*, std::int32_t*) noexcept;
template void maxout(const double*, std::int64_t, std::int64_t, double*, std::int32_t*) noexcept;

}  // namespace varlen
