// Levels that are born on a device: offsets of lengths that nobody on the host has seen.
#pragma once

#include <cstdint>

#include "support/thread.hpp"
#include "support/view.hpp"
#include "varlen/cuda/offsets.hpp"
#include "varlen/status.hpp"

namespace varlen::cuda {

/// What is known of several lengths. Sums stay at the largest number once they are there.
struct Tally {
  std::int64_t prefix = 0;  ///< of the tiles before this one
  std::int64_t sum = 0;
  std::int64_t fault =
      INT64_MAX;  ///< the first that is no length; where there is none, the first too long one

  static constexpr int kWords = 3;
  static constexpr std::int64_t kTooLong = std::int64_t{1} << 62;

  [[nodiscard]] static VARLEN_DEVICE std::int64_t plus(std::int64_t a, std::int64_t b) {
    return a > INT64_MAX - b ? INT64_MAX : a + b;
  }
  VARLEN_DEVICE void add(std::int64_t more_before, std::int64_t addend, std::int64_t other_fault) {
    prefix = plus(prefix, more_before);
    sum = plus(sum, addend);
    fault = other_fault < fault ? other_fault : fault;
  }
};

/// `tiles` blocks. Where there are several, they first write what is known of their tiles. Each thread has
/// lengths of its own, which it writes to where their ends go.
struct OffsetsFrom {
  static constexpr bool kNoBarrier = false;
  static constexpr int kThreads = 512;
  static constexpr int kWarps = kThreads / kWarp;
  static constexpr std::int64_t kTile = 16 * kThreads;  // sequences of a block

  View<const std::byte> numbers;
  std::int64_t n;
  std::int64_t total;
  std::int64_t max_len;
  std::int64_t share;  ///< rows of each sequence where the numbers lie, and one more for the first `rest`
  std::int64_t rest;
  View<std::int64_t> out;
  View<std::int64_t> tallies;  ///< of each tile: its sum and its fault
  std::int64_t tiles;
  std::int64_t* verdict;
  std::int64_t stamp;
  bool is_wide;
  bool are_offsets;
  bool is_first;

  [[nodiscard]] VARLEN_DEVICE std::int64_t number(std::int64_t i) const {
    return is_wide ? word_at<std::int64_t>(numbers, i * 8) : word_at<std::int32_t>(numbers, i * 4);
  }

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t begin = thread.block() * kTile;
    const int count = static_cast<int>(begin + kTile < n ? kTile : n - begin);
    const int per_thread = (count + kThreads - 1) / kThreads;
    const int first = per_thread * thread.index() < count ? per_thread * thread.index() : count;
    const int last = first + per_thread < count ? first + per_thread : count;
    const std::int64_t first_end = kFacts + 1 + begin;  // of the first end
    Tally own;
    VARLEN_ROLLED for (int k = first; k < last; ++k) {
      const std::int64_t x = length(begin + k);
      own.add(0, x < 0 ? 0 : x, fault_at(begin + k, x));
      out[first_end + k] = x;
    }
    const std::int64_t before_own = sum_before(thread, own.sum);
    Tally all = own;
    if (tiles > 1 && !is_first) {
      all = Tally();
      VARLEN_ROLLED for (std::int64_t t = thread.index(); t < tiles; t += kThreads) {
        const std::int64_t sum = tallies[2 * t];
        all.add(t < thread.block() ? sum : 0, sum, tallies[2 * t + 1]);
      }
    }
    join_tallies(thread, all);
    const bool is_one = thread.index() == 0;
    if (is_first) {
      if (is_one) {
        tallies[2 * thread.block()] = all.sum;
        tallies[2 * thread.block() + 1] = all.fault;
      }
      return;
    }
    const Code code = code_of(all);
    if (is_one && thread.block() == 0) tell(all, code);
    std::int64_t end = Tally::plus(all.prefix, before_own);
    if (code == Code::overflow) {
      std::int64_t sum = end;
      VARLEN_ROLLED for (int k = first; k < last && sum < INT64_MAX; ++k) {
        sum = Tally::plus(sum, out[first_end + k]);
        if (sum == INT64_MAX) out[static_cast<int>(Fact::where)] = begin + k;
      }
    }
    VARLEN_ROLLED for (int k = first; k < last; ++k) {
      const std::int64_t i = begin + k + 1;
      end = code == Code::ok ? end + out[first_end + k] : share * i + (i < rest ? i : rest);
      out[first_end + k] = end;
    }
  }

 private:
  /// A length; below 0 where there is none.
  [[nodiscard]] VARLEN_DEVICE std::int64_t length(std::int64_t i) const {
    const std::int64_t begin = are_offsets ? number(i) : 0;
    const std::int64_t end = number(are_offsets ? i + 1 : i);
    return begin < 0 || end < begin ? -1 : end - begin;
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t fault_at(std::int64_t i, std::int64_t length) const {
    if (length < 0) return i;
    return max_len >= 0 && length > max_len ? Tally::kTooLong + i : INT64_MAX;
  }

  [[nodiscard]] VARLEN_DEVICE Code code_of(const Tally& all) const {
    if (are_offsets && number(0) != 0) return Code::first_not_zero;
    if (all.fault < Tally::kTooLong) return are_offsets ? Code::decreasing : Code::negative_length;
    if (all.sum == INT64_MAX) return Code::overflow;
    if (total >= 0 && all.sum != total) return Code::total_mismatch;
    return all.fault != INT64_MAX ? Code::too_long : Code::ok;
  }

  VARLEN_DEVICE void tell(const Tally& all, Code code) const {
    const bool is_of_row =
        code == Code::negative_length || code == Code::decreasing || code == Code::too_long;
    const std::int64_t row = is_of_row ? all.fault & (Tally::kTooLong - 1) : 0;
    const bool is_sum = code == Code::ok || code == Code::overflow || code == Code::total_mismatch;
    const std::int64_t first_end = are_offsets && is_of_row ? row + 1 : row;
    const std::int64_t prefix = are_offsets && code == Code::too_long ? number(row) : 0;
    out[static_cast<int>(Fact::fault)] = static_cast<std::int64_t>(code);
    if (code != Code::overflow)
      out[static_cast<int>(Fact::where)] = code == Code::decreasing ? first_end : row;
    out[static_cast<int>(Fact::value)] = is_sum ? all.sum : number(first_end) - prefix;
    out[kFacts] = 0;
    if (code != Code::ok && verdict != nullptr) *static_cast<volatile std::int64_t*>(verdict) = stamp;
  }

  /// The sum of what the threads before have.
  template <class Thread>
  VARLEN_DEVICE std::int64_t sum_before(Thread& thread, std::int64_t own) const {
    auto* const sums = thread.template memory<std::int64_t>();
    const int warp = thread.index() / kWarp;
    std::int64_t through = own;
    VARLEN_ROLLED for (int step = 1; step < kWarp; step *= 2) {
      const std::int64_t other = thread.shuffle_up(through, step);
      if (thread.lane() >= step) through = Tally::plus(through, other);
    }
    const std::int64_t prefix = thread.shuffle_up(through, 1);
    if (thread.lane() == kWarp - 1) sums[warp] = through;
    thread.sync();
    std::int64_t result = thread.lane() > 0 ? prefix : 0;
    VARLEN_ROLLED for (int w = 0; w < warp; ++w) result = Tally::plus(result, sums[w]);
    thread.sync();
    return result;
  }

  /// What is known of all threads' lengths.
  template <class Thread>
  VARLEN_DEVICE void join_tallies(Thread& thread, Tally& tally) const {
    auto* const memory = thread.template memory<std::int64_t>();
    VARLEN_ROLLED for (int step = kWarp / 2; step > 0; step /= 2) {
      tally.add(thread.shuffle_xor(tally.prefix, step), thread.shuffle_xor(tally.sum, step),
                thread.shuffle_xor(tally.fault, step));
    }
    std::int64_t* const words = memory + thread.index() / kWarp * Tally::kWords;
    if (thread.lane() == 0) {
      words[0] = tally.prefix;
      words[1] = tally.sum;
      words[2] = tally.fault;
    }
    thread.sync();
    tally = Tally();
    VARLEN_ROLLED for (int w = 0; w < kWarps * Tally::kWords; w += Tally::kWords) {
      tally.add(memory[w], memory[w + 1], memory[w + 2]);
    }
  }
};

}  // namespace varlen::cuda
