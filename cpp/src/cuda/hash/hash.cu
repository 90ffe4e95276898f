#include "support/number.hpp"
#include "support/sequences.hpp"
#include "support/write_each.hpp"
#include "varlen/cuda/hash.hpp"

namespace varlen::cuda {

namespace {

/// MurmurHash64A of n keys, seed 0.
struct Ngrams : InSequences {  // of the n-grams
  Ends sequences;
  AnyNumber<std::int64_t> keys;
  std::int64_t n;

  [[nodiscard]] VARLEN_DEVICE std::uint64_t value(const Candidates& candidates, std::int64_t k) const {
    constexpr std::uint64_t kMix = 0xC6A4A7935BD1E995U;
    constexpr int kShift = 47;
    const std::int64_t i = sequence(candidates, k);
    const std::int64_t first = sequences.start(i) + k - level.start(i);
    std::uint64_t h = static_cast<std::uint64_t>(n) * 8 * kMix;
    VARLEN_ROLLED for (std::int64_t j = 0; j < n; ++j) {
      std::uint64_t key = static_cast<std::uint64_t>(keys(first + j)) * kMix;
      key = (key ^ (key >> kShift)) * kMix;
      h = (h ^ key) * kMix;
    }
    h = (h ^ (h >> kShift)) * kMix;
    return h ^ (h >> kShift);
  }
};

/// MurmurHash3_x64_128 of ids as 8 bytes: four words each.
struct Hashes {
  static constexpr bool kNoBarrier = true;

  AnyNumber<std::int64_t> ids;
  std::uint32_t seed;
  View<std::uint32_t> out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t i = thread.block() * thread.threads() + thread.index();
    if (i >= ids.count) return;
    constexpr std::uint64_t kBytes = 8;
    const std::uint64_t id = static_cast<std::uint64_t>(ids(i)) * 0x87C37B91114253D5U;
    std::uint64_t a = seed ^ ((id << 31 | id >> 33) * 0x4CF5AD432745937FU) ^ kBytes;
    std::uint64_t b = seed ^ kBytes;
    a += b;
    b += a;
    a = finalize(a);
    b = finalize(b);
    a += b;
    b += a;
    if (reinterpret_cast<std::uintptr_t>(out.data) % sizeof(Word16) == 0) {
      View<Word16>{reinterpret_cast<Word16*>(out.data), ids.count}[i] = {a, b};
      return;
    }
    View<std::uint32_t> four{out.data + 4 * i, 4};
    four[0] = static_cast<std::uint32_t>(a);
    four[1] = static_cast<std::uint32_t>(a >> 32);
    four[2] = static_cast<std::uint32_t>(b);
    four[3] = static_cast<std::uint32_t>(b >> 32);
  }

 private:
  [[nodiscard]] static VARLEN_DEVICE std::uint64_t finalize(std::uint64_t h) {
    h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCDU;
    h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53U;
    return h ^ (h >> 33);
  }
};

}  // namespace

Error ngrams(Stream stream, Offsets level, Offsets counts, std::int64_t total, std::int64_t n, Type type,
             const std::byte* keys, std::int64_t key_count, std::uint64_t* out) noexcept {
  const Ngrams value{{ends_of(counts)}, ends_of(level), {type, keys, key_count}, n};
  return write_each_alone(stream, value, total, out);
}

Error hash(Stream stream, Type type, const std::byte* ids, std::int64_t count, std::uint32_t seed,
           std::uint32_t* out) noexcept {
  Grid grid;
  grid.blocks = blocks_for(count, grid.threads);
  return launch(stream, grid, Hashes{{type, ids, count}, seed, {out, 4 * count}});
}

}  // namespace varlen::cuda
