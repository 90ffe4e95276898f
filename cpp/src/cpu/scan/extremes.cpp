// Running extremes of plain float32, sixteen rows at once, in log steps from lane to lane, and never over the
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
VARLEN_AVX512 inline __m512 join_lanes(__m512 x, __mmask16 which, __m512 a) noexcept {
  // Both give their second operand where the two are equal, and where that is NaN.
  return is_max ? _mm512_mask_max_ps(x, which, x, a) : _mm512_mask_min_ps(x, which, x, a);
}

/// Each lane that of so many lanes before it.
template <int lanes>
VARLEN_AVX512 inline __m512 lanes_before(__m512 x) noexcept {
  const __m512i bits = _mm512_castps_si512(x);
  return _mm512_castsi512_ps(_mm512_maskz_alignr_epi32(0xFFFF, bits, bits, 16 - lanes));
}

constexpr std::int64_t kRows = 2048;  // whose starts are known at once

/// Where sequences start in some rows, and what that says of sixteen rows each: the bits of the lanes that
/// have one, three, seven and fifteen lanes before them and no start since, and of those before the first
/// start. Worked out for the first n of them, in vectors.
struct Starts {
  static constexpr std::int64_t kCount = kRows / kLanes;
  alignas(64) std::uint8_t rows[kRows];
  alignas(64) std::uint16_t inner[kCount];  ///< of the lanes that no sequence starts with
  alignas(64) std::uint16_t one[kCount];
  alignas(64) std::uint16_t three[kCount];
  alignas(64) std::uint16_t seven[kCount];
  alignas(64) std::uint16_t fifteen[kCount];
  alignas(64) std::uint16_t lead[kCount];

  VARLEN_AVX512 void work_out(std::int64_t n) noexcept {
    for (std::int64_t r = 0; r < n; r += 64) {
      const __m512i marks = _mm512_load_si512(rows + r);
      const __mmask64 bits = _mm512_testn_epi8_mask(marks, marks);
      std::memcpy(inner + r / kLanes, &bits, sizeof bits);
    }
    for (std::int64_t g = 0; g < n / kLanes; ++g) {
      const std::uint32_t input = inner[g];
      const std::uint32_t a = input & 0xFFFEU;
      const std::uint32_t b = a & a << 1U;
      const std::uint32_t c = b & b << 2U;
      one[g] = static_cast<std::uint16_t>(a);
      three[g] = static_cast<std::uint16_t>(b);
      seven[g] = static_cast<std::uint16_t>(c);
      fifteen[g] = static_cast<std::uint16_t>(c & c << 4U);
      lead[g] = static_cast<std::uint16_t>(input & ~(input + 1U));
    }
  }
};

/// The sixteen rows g, which have no NaN.
template <bool is_max>
VARLEN_AVX512 inline __m512 scan_lanes(__m512 x, const Starts& starts, std::int64_t g,
                                       __m512 carry) noexcept {
  x = join_lanes<is_max>(x, starts.one[g], lanes_before<1>(x));
  x = join_lanes<is_max>(x, starts.three[g], lanes_before<2>(x));
  x = join_lanes<is_max>(x, starts.seven[g], lanes_before<4>(x));
  x = join_lanes<is_max>(x, starts.fifteen[g], lanes_before<8>(x));
  return join_lanes<is_max>(x, starts.lead[g], carry);
}

VARLEN_AVX512 inline __m512 last_lane(__m512 x) noexcept {
  return _mm512_maskz_permutexvar_ps(0xFFFF, _mm512_set1_epi32(15), x);
}

/// Rows one by one; gives what goes on behind them.
template <bool is_max>
float scan_rows(const float* input, float* out, const std::uint8_t* starts, std::int64_t n,
                float a) noexcept {
  for (std::int64_t r = 0; r < n; ++r) {
    a = starts[r] != 0 ? input[r] : join_extremes<is_max>(a, input[r]);
    out[r] = a;
  }
  return a;
}

template <bool is_max>
VARLEN_AVX512 void scan_extremes(const FlatRun& run) noexcept {
  constexpr std::int64_t kStep = 2 * kLanes;
  Starts starts;
  __m512 carry = _mm512_set1_ps(run.start);
  std::int64_t i = run.share.begin + 1;  // the first sequence starts with what is before it
  for (std::int64_t begin = run.rows.begin; begin < run.rows.end; begin += kRows) {
    const std::int64_t n = std::min(kRows, run.rows.end - begin);
    const std::int64_t room = (n + 63) / 64 * 64;
    std::memset(starts.rows, 0, static_cast<std::size_t>(room));
    for (; i < run.share.end && run.ends[i - 1] - begin < n; ++i) starts.rows[run.ends[i - 1] - begin] = 1;
    if (n >= kStep) starts.work_out(room);
    const float* const input = run.input + begin;
    float* const out = run.out + begin;
    std::int64_t r = 0;
    for (; r + kStep <= n; r += kStep) {
      const __m512 x = _mm512_loadu_ps(input + r);
      const __m512 y = _mm512_loadu_ps(input + r + kLanes);
      if (_mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q) != 0) [[unlikely]] {
        carry = _mm512_set1_ps(
            scan_rows<is_max>(input + r, out + r, starts.rows + r, kStep, _mm512_cvtss_f32(carry)));
        continue;
      }
      const __m512 first = scan_lanes<is_max>(x, starts, r / kLanes, carry);
      const __m512 second = scan_lanes<is_max>(y, starts, r / kLanes + 1, last_lane(first));
      _mm512_storeu_ps(out + r, first);
      _mm512_storeu_ps(out + r + kLanes, second);
      carry = last_lane(second);
    }
    carry = _mm512_set1_ps(
        scan_rows<is_max>(input + r, out + r, starts.rows + r, n - r, _mm512_cvtss_f32(carry)));
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
