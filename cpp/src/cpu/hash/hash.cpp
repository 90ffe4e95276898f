#include "varlen/hash.hpp"

#include <algorithm>
#include <bit>

#include "varlen/pool.hpp"

namespace varlen {
namespace {

constexpr std::uint64_t kMix = 0xC6A4A7935BD1E995U;
constexpr int kShift = 47;

std::uint64_t murmur64(const std::uint64_t* keys, std::int64_t n) noexcept {
  std::uint64_t h = static_cast<std::uint64_t>(n) * 8 * kMix;
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t k = keys[i] * kMix;
    k = (k ^ (k >> kShift)) * kMix;
    h = (h ^ k) * kMix;
  }
  h = (h ^ (h >> kShift)) * kMix;
  return h ^ (h >> kShift);
}

constexpr std::uint64_t finish(std::uint64_t h) noexcept {
  h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCDU;
  h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53U;
  return h ^ (h >> 33);
}

void murmur128(std::uint64_t id, std::uint32_t seed, std::uint32_t* out) noexcept {
  constexpr std::uint64_t kOne = 0x87C37B91114253D5U;
  constexpr std::uint64_t kTwo = 0x4CF5AD432745937FU;
  constexpr std::uint64_t kBytes = 8;
  // Eight bytes are half a block: they go into the first of the two words.
  std::uint64_t a = seed ^ (std::rotl(id * kOne, 31) * kTwo) ^ kBytes;
  std::uint64_t b = seed ^ kBytes;
  a += b;
  b += a;
  a = finish(a);
  b = finish(b);
  a += b;
  b += a;
  out[0] = static_cast<std::uint32_t>(a);
  out[1] = static_cast<std::uint32_t>(a >> 32);
  out[2] = static_cast<std::uint32_t>(b);
  out[3] = static_cast<std::uint32_t>(b >> 32);
}

}  // namespace

void ngram_counts(Offsets level, std::int64_t n, std::int64_t* ends) noexcept {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t length = level.length(i);
    sum += length >= n ? length - n + 1 : 0;
    ends[i] = sum;
  }
}

void ngrams(Offsets level, Offsets counts, std::int64_t n, const std::uint64_t* keys,
            std::uint64_t* out) noexcept {
  const std::int64_t total = counts.total();
  // Hashing a key takes as long as moving some 16 bytes. Where n is large, there are few bytes beside it.
  const std::int64_t chunks = std::min(total, chunks_for(16 * std::min(n, std::int64_t{1} << 20) * total));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    std::int64_t i = std::upper_bound(counts.ends, counts.ends + counts.count, cut(c)) - counts.ends;
    for (std::int64_t k = cut(c); k < cut(c + 1); ++i) {
      const std::uint64_t* const first = keys + level.start(i) - counts.start(i);
      for (const std::int64_t stop = std::min(counts.end(i), cut(c + 1)); k < stop; ++k) {
        out[k] = murmur64(first + k, n);
      }
    }
  });
}

void hash(const std::uint64_t* ids, std::int64_t count, std::uint32_t seed, std::uint32_t* out) noexcept {
  const std::int64_t chunks = std::min(count, chunks_for(32 * count));
  const auto cut = [&](std::int64_t c) { return count / chunks * c + std::min(c, count % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    for (std::int64_t i = cut(c); i < cut(c + 1); ++i) murmur128(ids[i], seed, out + 4 * i);
  });
}

}  // namespace varlen
