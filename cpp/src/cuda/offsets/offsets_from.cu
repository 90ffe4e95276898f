// Levels that are born on a device: offsets of lengths that nobody on the host has seen.
#include "support/launch.hpp"
#include "support/number.hpp"
#include "varlen/cuda/offsets.hpp"
#include "varlen/status.hpp"

namespace varlen::cuda {

namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kWarp;
constexpr std::int64_t kTile = 16 * kThreads;  // sequences of a block

/// What is known of several lengths: sums first, then what is the most of all.
enum Known { kBefore, kSum, kLongest, kShortest, kBad, kLong, kKnown };

struct Tally {
  std::int64_t of[kKnown] = {0, 0, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};

  /// Sums stay at the largest number once they are there.
  VARLEN_DEVICE void add(int k, std::int64_t x) {
    if (k > kSum) {
      of[k] = of[k] > x ? of[k] : x;
    } else {
      of[k] = plus(of[k], x);
    }
  }
  [[nodiscard]] static VARLEN_DEVICE std::int64_t plus(std::int64_t a, std::int64_t b) {
    return a > INT64_MAX - b ? INT64_MAX : a + b;
  }
  /// The smallest is the most of what is below zero.
  [[nodiscard]] VARLEN_DEVICE std::int64_t least(int k) const { return -1 - of[k]; }
  [[nodiscard]] VARLEN_DEVICE bool has(int k) const { return of[k] != INT64_MIN; }
};

/// A whole number of any width, the bits of which are in memory; called, because several places need one.
VARLEN_CALLED std::int64_t whole_at(const std::byte* data, std::int64_t bytes, int size, int shift,
                                    std::int64_t i) {
  const View<const std::byte> in{data, bytes};
  std::uint64_t bits = 0;
  if (size == 8) {
    bits = word_at<std::uint64_t>(in, i * 8);
  } else if (size == 4) {
    bits = word_at<std::uint32_t>(in, i * 4);
  } else if (size == 2) {
    bits = word_at<std::uint16_t>(in, i * 2);
  } else {
    bits = word_at<std::uint8_t>(in, i);
  }
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

/// `tiles` blocks. They first write what is known of their tiles, where there are several, then the offsets.
struct OffsetsFrom {
  static constexpr bool kAlone = false;

  const std::byte* data;
  std::int64_t bytes;
  int size;
  int shift;  ///< bits above those of a signed number
  std::int64_t n;
  std::int64_t total;
  std::int64_t share;  ///< rows of each sequence where the numbers lie, and one more for the first `rest`
  std::int64_t rest;
  std::int64_t max_len;
  View<std::int64_t> out;
  View<std::int64_t> tallies;  ///< kKnown for each tile
  std::int64_t tiles;
  std::int64_t* verdict;
  std::int64_t stamp;
  bool are_offsets;
  bool is_first;

  [[nodiscard]] VARLEN_DEVICE std::int64_t number(std::int64_t i) const {
    return whole_at(data, bytes, size, shift, i);
  }

  /// A length; below 0 where there is none.
  [[nodiscard]] VARLEN_DEVICE std::int64_t length(std::int64_t i) const {
    if (!are_offsets) return number(i);
    const std::int64_t begin = number(i);
    const std::int64_t end = number(i + 1);
    return end < begin ? -1
                       : static_cast<std::int64_t>(static_cast<std::uint64_t>(end) -
                                                   static_cast<std::uint64_t>(begin));
  }

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t begin = thread.block() * kTile;
    const std::int64_t count = begin + kTile < n ? kTile : n - begin;
    const std::int64_t each = (count + kThreads - 1) / kThreads;
    const std::int64_t first = begin + (each * thread.index() < count ? each * thread.index() : count);
    const std::int64_t last = first + each < begin + count ? first + each : begin + count;
    Tally own;
    VARLEN_ROLLED for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t x = length(i);
      if (x < 0) {
        own.add(kBad, -1 - i);
        continue;
      }
      own.add(kSum, x);
      own.add(kLongest, x);
      own.add(kShortest, -1 - x);
      if (max_len >= 0 && x > max_len) own.add(kLong, -1 - i);
    }
    const std::int64_t before_own = sum_before(thread, own.of[kSum]);
    Tally all = own;
    if (tiles > 1 && !is_first) {
      all = Tally();
      VARLEN_ROLLED for (std::int64_t t = thread.index(); t < tiles; t += kThreads) {
        VARLEN_UNROLLED for (int k = kSum; k < kKnown; ++k) all.add(k, tallies[t * kKnown + k]);
        if (t < thread.block()) all.add(kBefore, tallies[t * kKnown + kSum]);
      }
    }
    together(thread, all);
    if (is_first) {
      if (thread.index() == 0) {
        VARLEN_UNROLLED for (int k = 0; k < kKnown; ++k) tallies[thread.block() * kKnown + k] = all.of[k];
      }
      return;
    }
    const Code code = fault(all);
    if (thread.block() == 0 && thread.index() == 0) tell(all, code);
    std::int64_t end = Tally::plus(all.of[kBefore], before_own);
    VARLEN_ROLLED for (std::int64_t i = first; i < last; ++i) {
      if (code == Code::ok) {
        end += length(i);
      } else {
        end = share * (i + 1) + (i + 1 < rest ? i + 1 : rest);
      }
      out[kFacts + 1 + i] = end;
    }
  }

 private:
  [[nodiscard]] VARLEN_DEVICE Code fault(const Tally& all) const {
    if (are_offsets && number(0) != 0) return Code::first_not_zero;
    if (all.has(kBad)) return are_offsets ? Code::decreasing : Code::negative_length;
    if (all.of[kSum] == INT64_MAX) return Code::overflow;
    if (total >= 0 && all.of[kSum] != total) return Code::total_mismatch;
    return all.has(kLong) ? Code::too_long : Code::ok;
  }

  VARLEN_DEVICE void set(Fact fact, std::int64_t x) const { out[static_cast<std::int64_t>(fact)] = x; }

  VARLEN_DEVICE void tell(const Tally& all, Code code) const {
    const bool is_good = code == Code::ok;
    const bool is_of_row = code == Code::decreasing || code == Code::negative_length || code == Code::too_long;
    const std::int64_t where = !is_of_row ? 0 : code == Code::too_long ? all.least(kLong) : all.least(kBad);
    set(Fact::fault, static_cast<std::int64_t>(code));
    const std::int64_t at = code == Code::decreasing ? where + 1 : where;
    set(Fact::where, at);
    set(Fact::value, is_good                        ? 0
                     : code == Code::total_mismatch ? all.of[kSum]
                     : code == Code::too_long       ? length(at)
                     : at * size < bytes            ? number(at)
                                                    : 0);
    set(Fact::total, is_good ? all.of[kSum] : total < 0 ? 0 : total);
    set(Fact::longest, n == 0 ? 0 : is_good ? all.of[kLongest] : share + (rest > 0 ? 1 : 0));
    set(Fact::shortest, n == 0 ? 0 : is_good ? all.least(kShortest) : share);
    out[kFacts] = 0;
    if (!is_good && verdict != nullptr) *static_cast<volatile std::int64_t*>(verdict) = stamp;
  }

  /// The sum of what the threads before have.
  template <class Thread>
  VARLEN_DEVICE std::int64_t sum_before(Thread& thread, std::int64_t own) const {
    auto* const sums = thread.template shared<std::int64_t>();
    const int warp = thread.index() / kWarp;
    std::int64_t through = own;
    VARLEN_ROLLED for (int step = 1; step < kWarp; step *= 2) {
      const std::int64_t other = thread.shuffle_up(through, step);
      if (thread.lane() >= step) through = Tally::plus(through, other);
    }
    const std::int64_t before = thread.shuffle_up(through, 1);
    if (thread.lane() == kWarp - 1) sums[warp] = through;
    thread.sync();
    std::int64_t result = thread.lane() > 0 ? before : 0;
    VARLEN_ROLLED for (int w = 0; w < warp; ++w) result = Tally::plus(result, sums[w]);
    thread.sync();
    return result;
  }

  /// What is known of all threads' lengths.
  template <class Thread>
  VARLEN_DEVICE void together(Thread& thread, Tally& tally) const {
    auto* const shared = thread.template shared<std::int64_t>();
    VARLEN_ROLLED for (int step = kWarp / 2; step > 0; step /= 2) {
      VARLEN_UNROLLED for (int k = 0; k < kKnown; ++k) tally.add(k, thread.shuffle_xor(tally.of[k], step));
    }
    if (thread.lane() == 0) {
      VARLEN_UNROLLED for (int k = 0; k < kKnown; ++k) {
        shared[thread.index() / kWarp * kKnown + k] = tally.of[k];
      }
    }
    thread.sync();
    tally = Tally();
    VARLEN_ROLLED for (int w = 0; w < kWarps; ++w) {
      VARLEN_UNROLLED for (int k = 0; k < kKnown; ++k) tally.add(k, shared[w * kKnown + k]);
    }
  }
};

}  // namespace

std::int64_t offsets_from_scratch(std::int64_t n) noexcept {
  return n > kTile ? blocks_for(n, kTile) * kKnown * std::int64_t{sizeof(std::int64_t)} : 0;
}

Error offsets_from(Stream stream, const OffsetsJob& job, std::byte* scratch) noexcept {
  const std::int64_t tiles = job.n > kTile ? blocks_for(job.n, kTile) : 1;
  const int size = bytes_of(job.type);
  const std::int64_t rows = job.n > 0 && job.total > 0 ? job.total : 0;
  const std::int64_t share = job.n > 0 ? rows / job.n : 0;
  OffsetsFrom body{job.numbers,
                   (job.n + (job.are_offsets ? 1 : 0)) * size,
                   size,
                   job.type <= Type::i64 ? 64 - 8 * size : 0,
                   job.n,
                   job.total,
                   share,
                   rows - share * job.n,
                   job.max_len,
                   {job.out, kFacts + job.n + 1},
                   {reinterpret_cast<std::int64_t*>(scratch), tiles > 1 ? tiles * kKnown : 0},
                   tiles,
                   job.verdict,
                   job.stamp,
                   job.are_offsets,
                   tiles > 1};
  const Grid grid{tiles, kThreads, kWarps * kKnown * sizeof(std::int64_t)};
  if (tiles > 1) {
    if (const Error error = launch(stream, grid, body); error != 0) return error;
    body.is_first = false;
  }
  return launch(stream, grid, body);
}

}  // namespace varlen::cuda
