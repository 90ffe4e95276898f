// Hashes of keys and of n-grams on the device: the bits that the CPU gives.
#include <cstdint>
#include <cstring>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/hash.hpp"
#include "varlen/hash.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

using Words = std::vector<std::uint32_t>;
using Keys = std::vector<std::uint64_t>;

/// Keys of a narrower type, and the same with 64 bits.
template <class T>
Keys widen(const Bytes& narrow) {
  Keys wide(narrow.size() / sizeof(T));
  for (std::size_t k = 0; k < wide.size(); ++k) {
    T key;
    std::memcpy(&key, narrow.data() + k * sizeof(T), sizeof(T));
    wide[k] = static_cast<std::uint64_t>(static_cast<std::int64_t>(key));
  }
  return wide;
}

template <class T>
void check_hash(Type type, std::int64_t count) {
  const Bytes ids = noise(count * std::int64_t{sizeof(T)});
  const auto seed = static_cast<std::uint32_t>(dice()());
  Words want(z(4 * count)), got(z(4 * count + 4));
  hash(widen<T>(ids).data(), count, seed, want.data());
  for (const std::int64_t shift : {0, 1}) {  // where words of 16 bytes cannot be written, too
    CHECK_EQ(cuda::hash(kStream, type, ids.data(), count, seed, got.data() + shift), 0);
    CHECK(Words(got.begin() + shift, got.begin() + shift + 4 * count) == want);
  }
}

template <class T>
void check_ngrams(Type type, std::int64_t n, std::int64_t longest, std::int64_t size) {
  const Nest nest = draw_nest(n, 1, longest, sizeof(T));
  const Offsets level = nest.levels[0];
  Ints ends(z(n));
  ngram_counts(level, size, ends.data());
  const Offsets counts{ends.data(), n};
  Keys want(z(counts.total())), got(z(counts.total()));
  ngrams(level, counts, size, widen<T>(nest.data).data(), want.data());
  CHECK_EQ(cuda::ngrams(kStream, level, counts, counts.total(), size, type, nest.data.data(), level.total(),
                        got.data()),
           0);
  CHECK(got == want);
}

}  // namespace

TEST(cuda_hash, hashes_are_those_of_the_cpu) {
  set_num_threads(1);
  for (const std::int64_t count : {0, 1, 255, 256, 257, 1000}) {
    check_hash<std::uint64_t>(Type::u64, count);
    check_hash<std::uint8_t>(Type::u8, count);
    check_hash<std::int32_t>(Type::i32, count);
  }
}

TEST(cuda_hash, ngrams_are_those_of_the_cpu) {
  set_num_threads(1);
  for (const std::int64_t size : {1, 2, 5, 40}) {
    for (const std::int64_t longest : {0, 9, 300}) {
      check_ngrams<std::uint64_t>(Type::u64, draw(0, 30), longest, size);
      check_ngrams<std::int16_t>(Type::i16, draw(1, 30), longest, size);
    }
  }
  check_ngrams<std::uint64_t>(Type::u64, 1, 20'000, 3);
}
