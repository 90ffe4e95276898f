// Lengths to offsets and what the same pass tells.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "support/dispatch.hpp"
#include "support/read_once.hpp"
#include "varlen/offsets.hpp"
#include "varlen/support/overflow.hpp"
#include "wide.hpp"

namespace varlen {
namespace {

// Long enough to fill the pipeline, short enough that a failed block is found again at once.
constexpr std::int64_t kLengthsAtOnce = 1024;

/// What a scan carries from block to block. `bits` or-s the lengths of the block at hand.
struct Scan {
  std::uint64_t sum = 0;
  std::uint64_t bits = 0;
  std::int64_t longest = 0;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();

  template <class T>
  void step(const T* lengths, std::int64_t begin, std::int64_t end, std::int64_t* ends) noexcept {
    for (std::int64_t i = begin; i < end; ++i) {
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): int8 lengths are numbers, not characters.
      const auto length = static_cast<std::int64_t>(lengths[i]);
      sum += static_cast<std::uint64_t>(length);
      bits |= static_cast<std::uint64_t>(length);
      longest = std::max(longest, length);
      shortest = std::min(shortest, length);
      ends[i] = static_cast<std::int64_t>(sum);
    }
  }
};

/// Scan::step with a look at every number, each read once.
template <class T>
Status scan_with_care(Scan& scan, const T* lengths, std::int64_t begin, std::int64_t end,
                      std::int64_t* ends) noexcept {
  auto sum = static_cast<std::int64_t>(scan.sum);
  for (std::int64_t i = begin; i < end; ++i) {
    const T number = read_once(lengths + i);
    if constexpr (std::is_signed_v<T>) {
      if (number < 0) return {Code::negative_length, i, static_cast<std::int64_t>(number)};
    } else if constexpr (sizeof(T) == 8) {
      if (number > static_cast<T>(std::numeric_limits<std::int64_t>::max())) return {Code::overflow, i, sum};
    }
    const auto length = static_cast<std::int64_t>(+number);
    std::int64_t next = 0;
    if (!checked_add(sum, length, next)) return {Code::overflow, i, sum};
    ends[i] = sum = next;
    scan.longest = std::max(scan.longest, length);
    scan.shortest = std::min(scan.shortest, length);
  }
  scan.sum = static_cast<std::uint64_t>(sum);
  return {};
}

// Lengths below 2^52 under the exponent of 2^52 are doubles in the same order, and SSE2 has max and min of
// doubles but not of 64-bit integers.
constexpr int kSmallBits = 52;

#if defined(__SSE2__)

constexpr std::int64_t kExponent = 0x4330000000000000;

template <class T>
__m128i two(const T* address) noexcept {
  if constexpr (sizeof(T) == 8) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(address));
  } else if constexpr (sizeof(T) == 4) {
    const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(address));
    return _mm_unpacklo_epi32(x, std::is_signed_v<T> ? _mm_srai_epi32(x, 31) : _mm_setzero_si128());
  } else {
    return _mm_set_epi64x(static_cast<std::int64_t>(address[1]), static_cast<std::int64_t>(address[0]));
  }
}

inline void keep(__m128d& longest, __m128d& shortest, __m128i lengths) noexcept {
  const __m128d x = _mm_castsi128_pd(_mm_or_si128(lengths, _mm_set1_epi64x(kExponent)));
  longest = _mm_max_pd(longest, x);
  shortest = _mm_min_pd(shortest, x);
}

template <class Pick>
std::int64_t fold(__m128d lanes, Pick pick) noexcept {
  std::int64_t x[2];
  std::memcpy(x, &lanes, sizeof x);
  return pick(x[0], x[1]) ^ kExponent;
}

/// Scan::step four at a time: only one addition of each four waits for the one before.
template <class T>
void scan_block(Scan& scan, const T* lengths, std::int64_t begin, std::int64_t end,
                std::int64_t* ends) noexcept {
  __m128i sum = _mm_set1_epi64x(static_cast<std::int64_t>(scan.sum));
  __m128i bits = _mm_setzero_si128();
  __m128d longest = _mm_castsi128_pd(_mm_set1_epi64x(kExponent));
  __m128d shortest = _mm_castsi128_pd(_mm_set1_epi64x(kExponent | ((std::int64_t{1} << kSmallBits) - 1)));
  std::int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    const __m128i a = two(lengths + i);
    const __m128i b = two(lengths + i + 2);
    bits = _mm_or_si128(bits, _mm_or_si128(a, b));
    keep(longest, shortest, a);
    keep(longest, shortest, b);
    const __m128i sums_a = _mm_add_epi64(a, _mm_slli_si128(a, 8));
    const __m128i sums_b = _mm_add_epi64(b, _mm_slli_si128(b, 8));
    const __m128i all_a = _mm_unpackhi_epi64(sums_a, sums_a);
    const __m128i all = _mm_add_epi64(all_a, _mm_unpackhi_epi64(sums_b, sums_b));
    auto* out = reinterpret_cast<__m128i*>(ends + i);
    _mm_storeu_si128(out, _mm_add_epi64(sum, sums_a));
    _mm_storeu_si128(out + 1, _mm_add_epi64(_mm_add_epi64(sum, all_a), sums_b));
    sum = _mm_add_epi64(sum, all);
  }
  std::uint64_t lanes[2];
  std::memcpy(lanes, &sum, sizeof lanes);
  scan.sum = lanes[0];
  std::memcpy(lanes, &bits, sizeof lanes);
  scan.bits = lanes[0] | lanes[1];
  if (i > begin) {
    const auto larger = [](std::int64_t x, std::int64_t y) { return std::max(x, y); };
    const auto smaller = [](std::int64_t x, std::int64_t y) { return std::min(x, y); };
    scan.longest = std::max(scan.longest, fold(longest, larger));
    scan.shortest = std::min(scan.shortest, fold(shortest, smaller));
  }
  scan.step(lengths, i, end, ends);
}

#else

template <class T>
void scan_block(Scan& scan, const T* lengths, std::int64_t begin, std::int64_t end,
                std::int64_t* ends) noexcept {
  scan.bits = 0;
  scan.step(lengths, begin, end, ends);
}

#endif

/// scan_block by the widest vectors there are, for what they take.
template <class T>
void scan_fast(Scan& scan, const T* lengths, std::int64_t begin, std::int64_t end,
               std::int64_t* ends) noexcept {
  using SignedLength = std::make_signed_t<T>;
  if constexpr (std::is_same_v<SignedLength, std::int64_t> || std::is_same_v<T, std::int32_t>) {
    const std::int64_t n = (end - begin) / 4 * 4;
    if (n > 0 && runs(Isa::avx2)) {
      const WideScan wide =
          wide_scan(reinterpret_cast<const SignedLength*>(lengths) + begin, n, scan.sum, ends + begin);
      if (wide.bits >> 32U == 0) {
        scan.sum = wide.sum;
        scan.bits = wide.bits;
        scan.longest = std::max(scan.longest, wide.longest);
        scan.shortest = std::min(scan.shortest, wide.shortest);
        scan.step(lengths, begin + n, end, ends);
        return;
      }
    }
  }
  scan_block(scan, lengths, begin, end, ends);
}

}  // namespace

template <class T>
Status offsets_from_lengths(const T* lengths, std::int64_t n, std::int64_t* offsets,
                            LevelStats* stats) noexcept {
  // Sums run unsigned, so that a wrap is defined. Lengths of a block that or to less than 2^52 add less than
  // 2^62, so a wrap shows in the sign at its end; any other block is walked again with care.
  Scan scan;
  offsets[0] = 0;
  for (std::int64_t begin = 0; begin < n; begin += kLengthsAtOnce) {
    const std::int64_t end = std::min(n, begin + kLengthsAtOnce);
    const Scan snapshot = scan;
    scan_fast(scan, lengths, begin, end, offsets + 1);
    if (scan.bits >> kSmallBits != 0 || static_cast<std::int64_t>(scan.sum) < 0) {
      scan = snapshot;
      const Status status = scan_with_care(scan, lengths, begin, end, offsets + 1);
      if (!status.ok()) return status;
    }
  }
  if (stats != nullptr) *stats = n > 0 ? LevelStats{scan.longest, scan.shortest} : LevelStats{};
  return {};
}

template Status offsets_from_lengths(const std::int8_t*, std::int64_t, std::int64_t*, LevelStats*) noexcept;
template Status offsets_from_lengths(const std::int16_t*, std::int64_t, std::int64_t*, LevelStats*) noexcept;
template Status offsets_from_lengths(const std::int32_t*, std::int64_t, std::int64_t*, LevelStats*) noexcept;
template Status offsets_from_lengths(const std::int64_t*, std::int64_t, std::int64_t*, LevelStats*) noexcept;
template Status offsets_from_lengths(const std::uint8_t*, std::int64_t, std::int64_t*, LevelStats*) noexcept;
template Status offsets_from_lengths(const std::uint16_t*, std::int64_t, std::int64_t*, LevelStats*) noexcept;
template Status offsets_from_lengths(const std::uint32_t*, std::int64_t, std::int64_t*, LevelStats*) noexcept;
template Status offsets_from_lengths(const std::uint64_t*, std::int64_t, std::int64_t*, LevelStats*) noexcept;

}  // namespace varlen
