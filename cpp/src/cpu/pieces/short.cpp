#include "short.hpp"

#include "support/dispatch.hpp"
#include "varlen/copy.hpp"

#ifdef VARLEN_AVX2
#include <immintrin.h>
#endif

namespace varlen {

#ifdef VARLEN_AVX2

namespace {

constexpr int kLanes = 8;

/// Lane numbers from `first` on.
VARLEN_AVX2 inline __m256i lanes_from(int first) noexcept {
  return _mm256_add_epi32(_mm256_set1_epi32(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/// The words under the mask, wherever `address` points; the others are not touched.
VARLEN_AVX2 inline __m256i load_masked(std::uintptr_t address, __m256i mask) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): it may lie before the piece, where no pointer may.
  return _mm256_maskload_epi32(reinterpret_cast<const int*>(address), mask);
}

VARLEN_AVX2 inline void store(std::byte* address, __m256i words) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(address), words);
}

}  // namespace

VARLEN_AVX2 std::int64_t pad_short(const Piece* pieces, std::int64_t begin, std::int64_t end,
                                   std::int64_t slots, std::int64_t width, Side side, const FillPattern& fill,
                                   std::byte* out) noexcept {
  const std::int64_t row_bytes = slots * width;
  const int words = static_cast<int>(row_bytes / 4);
  const __m256i pattern =
      _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(fill.block)));
  const bool zero = _mm256_testz_si256(pattern, pattern) != 0;  // what a masked load leaves by itself
  const std::int64_t blocks = (row_bytes + 31) / 32;
  const std::byte* const stop = out + end * row_bytes;
  const __m256i step = _mm256_set1_epi32(kLanes);
  std::byte* row = out + begin * row_bytes;
  std::int64_t i = begin;
  for (; i < end && stop - row >= blocks * 32; ++i, row += row_bytes) {
    if (i + kPrefetchDistance < end) __builtin_prefetch(pieces[i + kPrefetchDistance].data);
    const int data_words = static_cast<int>(pieces[i].rows * width / 4);
    // Words [from, to) of the row are data.
    const int from = side == Side::left ? words - data_words : 0;
    const __m256i to = _mm256_set1_epi32(from + data_words);
    std::uintptr_t input =
        reinterpret_cast<std::uintptr_t>(pieces[i].data) - static_cast<std::uintptr_t>(from) * 4;
    __m256i lane = lanes_from(0);
    if (side == Side::right && zero) {
      for (std::int64_t block = 0; block < blocks;
           ++block, input += 32, lane = _mm256_add_epi32(lane, step)) {
        store(row + block * 32, load_masked(input, _mm256_cmpgt_epi32(to, lane)));
      }
      continue;
    }
    const __m256i edge = _mm256_set1_epi32(from - 1);
    for (std::int64_t block = 0; block < blocks; ++block, input += 32, lane = _mm256_add_epi32(lane, step)) {
      const __m256i mask = _mm256_and_si256(_mm256_cmpgt_epi32(lane, edge), _mm256_cmpgt_epi32(to, lane));
      store(row + block * 32, _mm256_blendv_epi8(pattern, load_masked(input, mask), mask));
    }
  }
  return i;
}

VARLEN_AVX2 std::int64_t concat_short(const Piece* pieces, std::int64_t begin, std::int64_t end,
                                      std::int64_t width, std::byte*& out, const std::byte* stop) noexcept {
  const __m256i low = lanes_from(0);
  const __m256i high = lanes_from(kLanes);
  std::byte* address = out;
  std::int64_t i = begin;
  for (; i < end; ++i) {
    if (i + kPrefetchDistance < end) __builtin_prefetch(pieces[i + kPrefetchDistance].data);
    const std::int64_t bytes = pieces[i].rows * width;
    if (bytes > kShortPiece) {
      copy_bytes(address, pieces[i].data, bytes);
    } else {
      if (stop - address < kShortPiece) break;
      const __m256i words = _mm256_set1_epi32(static_cast<int>(bytes / 4));
      const auto data = reinterpret_cast<std::uintptr_t>(pieces[i].data);
      const __m256i head = load_masked(data, _mm256_cmpgt_epi32(words, low));
      const __m256i tail = load_masked(data + 32, _mm256_cmpgt_epi32(words, high));
      store(address, head);
      store(address + 32, tail);
    }
    address += bytes;
  }
  out = address;
  return i;
}

#else

std::int64_t pad_short(const Piece*, std::int64_t begin, std::int64_t, std::int64_t, std::int64_t, Side,
                       const FillPattern&, std::byte*) noexcept {
  return begin;
}

std::int64_t concat_short(const Piece*, std::int64_t begin, std::int64_t, std::int64_t, std::byte*&,
                          const std::byte*) noexcept {
  return begin;
}

#endif

}  // namespace varlen
