// Running extremes of plain float32, sixteen rows at once: in log steps from lane to lane, and never over the
// start of a sequence. What it costs does not depend on how long sequences are.
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstring>

#include "loops.hpp"
#include "support/dispatch.hpp"

namespace varlen {

#ifdef VARLEN_AVX512
namespace {

constexpr std::int64_t kLanes = 16;

/// a and the rows x behind it: x where it is NaN, else the one beyond the other, the first of equals.
template <bool is_max>
float join_extremes(float a, float x) noexcept {
  if (x != x) return x;
  return (is_max ? x > a : x < a) ? x : a;
}

/// x or, in the lanes of `which`, the one of x and the earlier a that is beyond the other.
template <bool is_max>
VARLEN_AVX512 inline __m512 join_lanes(__m512 x, std::uint32_t which, __m512 a) noexcept {
  const auto mask = static_cast<__mmask16>(which);
  // Both give their second operand where the two are equal, and where that is NaN.
  return is_max ? _mm512_mask_max_ps(x, mask, x, a) : _mm512_mask_min_ps(x, mask, x, a);
}

/// Each lane that of so many lanes before it.
template <int lanes>
VARLEN_AVX512 inline __m512 lanes_before(__m512 x) noexcept {
  const __m512i bits = _mm512_castps_si512(x);
  return _mm512_castsi512_ps(_mm512_maskz_alignr_epi32(0xFFFF, bits, bits, 16 - lanes));
}

/// Sixteen rows, or the first n of them: `first` has the bits of those that sequences start with.
template <bool is_max, bool all>
VARLEN_AVX512 inline __m512 scan_lanes(const float* in, float* out, std::uint32_t first, std::int64_t n,
                                       __m512 before) noexcept {
  const auto rows = static_cast<__mmask16>((1U << n) - 1);
  __m512 x = all ? _mm512_loadu_ps(in) : _mm512_maskz_loadu_ps(rows, in);
  if (_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q) != 0) [[unlikely]] {
    float lane = _mm512_cvtss_f32(before);
    for (std::int64_t r = 0; r < n; ++r) {
      lane = ((first >> r) & 1U) != 0 ? in[r] : join_extremes<is_max>(lane, in[r]);
      out[r] = lane;
    }
    return _mm512_set1_ps(lane);
  }
  const std::uint32_t two = first | first << 1U;
  const std::uint32_t four = two | two << 2U;
  const std::uint32_t eight = four | four << 4U;
  const std::uint32_t sixteen = eight | eight << 8U;
  x = join_lanes<is_max>(x, ~first & 0xFFFEU, lanes_before<1>(x));
  x = join_lanes<is_max>(x, ~two & 0xFFFCU, lanes_before<2>(x));
  x = join_lanes<is_max>(x, ~four & 0xFFF0U, lanes_before<4>(x));
  x = join_lanes<is_max>(x, ~eight & 0xFF00U, lanes_before<8>(x));
  x = join_lanes<is_max>(x, ~sixteen, before);
  all ? _mm512_storeu_ps(out, x) : _mm512_mask_storeu_ps(out, rows, x);
  return _mm512_maskz_permutexvar_ps(0xFFFF, _mm512_set1_epi32(kLanes - 1), x);
}

template <bool is_max>
VARLEN_AVX512 void scan_extremes(const FlatRun& run) noexcept {
  constexpr std::int64_t kRows = 2048;  // whose starts are marked at once
  alignas(64) std::uint8_t starts[kRows];
  __m512 before = _mm512_set1_ps(run.start);
  std::int64_t i = run.some.begin + 1;  // the first sequence starts with what is before it
  for (std::int64_t begin = run.rows.begin; begin < run.rows.end; begin += kRows) {
    const std::int64_t n = std::min(kRows, run.rows.end - begin);
    std::memset(starts, 0, kRows);
    for (; i < run.some.end && run.ends[i - 1] - begin < n; ++i) starts[run.ends[i - 1] - begin] = 1;
    const float* const in = run.in + begin;
    float* const out = run.out + begin;
    const auto first = [&](std::int64_t r) VARLEN_AVX512 {
      const __m128i marks = _mm_load_si128(reinterpret_cast<const __m128i*>(starts + r));
      return static_cast<std::uint32_t>(_mm_test_epi8_mask(marks, marks));
    };
    std::int64_t r = 0;
    for (; r + kLanes <= n; r += kLanes) {
      before = scan_lanes<is_max, true>(in + r, out + r, first(r), kLanes, before);
    }
    if (r < n) before = scan_lanes<is_max, false>(in + r, out + r, first(r), n - r, before);
  }
}

}  // namespace
#endif

bool scan_flat_extremes(Scan op, const FlatRun& run) noexcept {
#ifdef VARLEN_AVX512
  if (!runs(Isa::avx512)) return false;
  op == Scan::max ? scan_extremes<true>(run) : scan_extremes<false>(run);
  return true;
#else
  (void)op, (void)run;
  return false;
#endif
}

}  // namespace varlen
