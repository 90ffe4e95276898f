// One column of one sequence in order, and all of them by threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "keys.hpp"
#include "support/sequences.hpp"
#include "varlen/pool.hpp"
#include "varlen/sort.hpp"

namespace varlen {

/// More items than this are sorted by all threads together.
inline constexpr std::int64_t kSortGiant = std::int64_t{1} << 17;
inline constexpr std::int64_t kSortShares = 64;
inline constexpr std::int64_t kBuckets = 256;

/// Items that are held at once where `want` of a sequence are wanted: when that many have come, the best are
/// kept, so that each is sorted twice at most.
[[nodiscard]] inline std::int64_t sort_held(std::int64_t length, std::int64_t want) noexcept {
  return want > length / 2 ? length : std::min(length, std::max<std::int64_t>(2 * want, 1024));
}

template <class W>
class SortRun {
  using Key = typename W::Key;
  using Item = typename W::Item;
  static constexpr std::int64_t kBlock = 1024;
  // So few are found by a heap sooner than all that are held are sorted by their digits.
  static constexpr std::int64_t kFew = 16;
  // So few are looked for often, by a heap from the second time on: the 8 largest of 32,768 take half of the
  // time, the 32 largest 0.65.
  static constexpr std::int64_t kOften = 32;

 public:
  /// `a` and `b` hold room for sort_held() of any sequence; `counts` kBuckets for each of kSortShares where a
  /// run is shared among threads, else null.
  SortRun(const SortJob& job, Item* a, Item* b, std::int64_t* counts) noexcept
      : job_(job), narrow_(keys32_of(job.type)), wide_(keys64_of(job.type)), a_(a), b_(b), counts_(counts) {}

  /// The first `want` of sequence i in column c, at least; they are there until the next call.
  const Item* sort_items(std::int64_t i, std::int64_t c, std::int64_t want) noexcept {
    const std::int64_t count = job_.level.length(i);
    const std::byte* const input = spot(job_.level.start(i), c);
    if (count <= rank_limit_) return rank_items(input, count);
    return sort_held(count, want) < count ? best(input, count, want) : all(input, count);
  }

 private:
  [[nodiscard]] const std::byte* spot(std::int64_t row, std::int64_t c) const noexcept {
    return job_.values + (row * job_.columns + c) * size_;
  }

  void keys(const std::byte* input, std::int64_t begin, std::int64_t count, Key* out) const noexcept {
    input += begin * job_.columns * size_;
    if constexpr (sizeof(Key) == 4) {
      narrow_(input, job_.columns, count, job_.descending, out);
    } else if (wide_ != nullptr) {
      wide_(input, job_.columns, count, job_.descending, out);
    } else {
      std::int32_t keys[kBlock];
      narrow_(input, job_.columns, count, job_.descending, keys);
      std::copy_n(keys, count, out);
    }
  }

  const Item* rank_items(const std::byte* input, std::int64_t count) noexcept {
    alignas(32) Key keys_in[kRankLimit + kRankPad];
    alignas(32) Key ranks[kRankLimit + kRankPad];
    keys(input, 0, count, keys_in);
    if (count == 1) {
      a_[0] = W::item(keys_in[0], 0);
      return a_;
    }
    std::fill_n(keys_in + count, kRankPad, std::numeric_limits<Key>::max());
    rank_(keys_in, count, ranks);
    for (std::int64_t r = 0; r < count; ++r) a_[ranks[r]] = W::item(keys_in[r], r);
    return a_;
  }

  /// Items of rows [begin, end), and the bits in which their keys differ.
  std::uint64_t fill(const std::byte* input, std::int64_t begin, std::int64_t end, Item* out) const noexcept {
    Key block[kBlock];
    std::uint64_t differs = 0;
    std::uint64_t like = 0;
    for (const std::int64_t first = begin; begin < end; begin += kBlock) {
      const std::int64_t n = std::min(kBlock, end - begin);
      keys(input, begin, n, block);
      if (begin == first) like = W::key(W::item(block[0], 0));
      for (std::int64_t j = 0; j < n; ++j) {
        const Item item = W::item(block[j], begin + j);
        out[j] = item;
        differs |= W::key(item) ^ like;
      }
      out += n;
    }
    return differs;
  }

  const Item* all(const std::byte* input, std::int64_t count) noexcept {
    const std::int64_t shares = counts_ == nullptr ? 1 : shares_of(count);
    std::uint64_t differs[kSortShares] = {};
    const auto begin_of = [&](std::int64_t s) { return cut(count, shares, s); };
    parallel(shares, [&](std::int64_t s) {
      differs[s] = fill(input, begin_of(s), begin_of(s + 1), a_ + begin_of(s));
    });
    std::uint64_t any = 0;
    for (std::int64_t s = 0; s < shares; ++s) {
      any |= differs[s] | (W::key(a_[0]) ^ W::key(a_[begin_of(s)]));
    }
    by_digits(count, any, shares);
    return a_;
  }

  /// Only what comes before the last of the best so far is held.
  const Item* best(const std::byte* input, std::int64_t count, std::int64_t want) noexcept {
    const std::int64_t room = sort_held(count, want);
    std::int64_t held_count = room;
    Key block[kBlock];
    for (std::int64_t begin = 0; begin < room; begin += kBlock) {
      const std::int64_t n = std::min(kBlock, room - begin);
      keys(input, begin, n, block);
      for (std::int64_t j = 0; j < n; ++j) a_[begin + j] = W::item(block[j], begin + j);
    }
    // The nearer `last` is, the fewer come before it: where a few are wanted, they are looked for often.
    const std::int64_t full = want <= kOften ? std::min(room, want + 2 * kRankGroup) : room;
    const auto order = [&] {
      if (want <= kFew || (want <= kOften && held_count <= full)) {
        std::partial_sort(a_, a_ + want, a_ + held_count, W::precedes);
        held_count = want;
        return W::signed_key(a_[want - 1]);
      }
      std::uint64_t differs = 0;
      for (std::int64_t j = 0; j < held_count; ++j) differs |= W::key(a_[j]) ^ W::key(a_[0]);
      by_digits(held_count, differs, counts_ == nullptr ? 1 : shares_of(held_count));
      held_count = want;
      return W::signed_key(a_[want - 1]);
    };
    Key last = order();
    for (std::int64_t begin = room; begin < count; begin += kBlock) {
      const std::int64_t n = std::min(kBlock, count - begin);
      keys(input, begin, n, block);
      std::fill_n(block + n, (kBlock - n) % kRankGroup, last);
      for (std::int64_t group = 0; (group = count_below_(block, group, n, last)) < n; group += kRankGroup) {
        if (held_count + kRankGroup > full) last = order();
        for (std::int64_t j = group; j < std::min(n, group + kRankGroup); ++j) {
          a_[held_count] = W::item(block[j], begin + j);
          held_count += block[j] < last ? 1 : 0;
        }
      }
    }
    order();
    return a_;
  }

  [[nodiscard]] static std::int64_t shares_of(std::int64_t count) noexcept {
    return std::min(kSortShares, chunks_for(count * static_cast<std::int64_t>(sizeof(Item))));
  }

  [[nodiscard]] static std::int64_t cut(std::int64_t count, std::int64_t shares, std::int64_t s) noexcept {
    return count / shares * s + std::min(s, count % shares);
  }

  static std::size_t digit(const Item& item, int spot) noexcept { return W::key(item) >> (8 * spot) & 0xFF; }

  /// Sorts a_ by one digit after another, the last first; equal ones stay in their order.
  void by_digits(std::int64_t count, std::uint64_t varying, std::int64_t shares) noexcept {
    if (shares > 1) return by_shared_digits(count, varying, shares);
    std::int64_t counts[W::kDigits][kBuckets] = {};
    for (std::int64_t j = 0; j < count; ++j) {
      for (int spot = 0; spot < W::kDigits; ++spot) ++counts[spot][digit(a_[j], spot)];
    }
    for (int spot = 0; spot < W::kDigits; ++spot) {
      if ((varying >> (8 * spot) & 0xFF) == 0) continue;
      std::int64_t sum = 0;
      for (std::int64_t& bucket : counts[spot]) sum += std::exchange(bucket, sum);
      for (std::int64_t j = 0; j < count; ++j) b_[counts[spot][digit(a_[j], spot)]++] = a_[j];
      std::swap(a_, b_);
    }
  }

  void by_shared_digits(std::int64_t count, std::uint64_t varying, std::int64_t shares) noexcept {
    const auto visit = [&](auto body) {
      parallel(shares, [&](std::int64_t s) {
        std::int64_t* const mine = counts_ + s * kBuckets;
        for (std::int64_t j = cut(count, shares, s); j < cut(count, shares, s + 1); ++j) body(mine, a_[j]);
      });
    };
    for (int spot = 0; spot < W::kDigits; ++spot) {
      if ((varying >> (8 * spot) & 0xFF) == 0) continue;
      std::fill_n(counts_, shares * kBuckets, 0);
      visit([=](std::int64_t* mine, const Item& item) { ++mine[digit(item, spot)]; });
      std::int64_t sum = 0;
      for (std::int64_t bucket = 0; bucket < kBuckets; ++bucket) {
        for (std::int64_t s = 0; s < shares; ++s) {
          sum += std::exchange(counts_[s * kBuckets + bucket], sum);
        }
      }
      Item* const out = b_;
      visit([=](std::int64_t* mine, const Item& item) { out[mine[digit(item, spot)]++] = item; });
      std::swap(a_, b_);
    }
  }

  template <class Narrow, class Wide>
  static auto choose(Narrow narrow, Wide wide) noexcept {
    if constexpr (sizeof(Key) == 4) {
      return narrow;
    } else {
      return wide;
    }
  }

  const SortJob& job_;
  Keys32 narrow_;
  Keys64 wide_;
  const RankTable& table_ = rank_table();
  void (*rank_)(const Key*, std::int64_t, Key*) noexcept = choose(table_.narrow, table_.wide);
  std::int64_t (*count_below_)(const Key*, std::int64_t, std::int64_t,
                               Key) noexcept = choose(table_.below_narrow, table_.below_wide);
  std::int64_t rank_limit_ = choose(table_.most_narrow, table_.most_wide);
  std::int64_t size_ = size_of(job_.type);
  Item* a_;
  Item* b_;
  std::int64_t* counts_;
};

/// emit(i, c, items) for every column of every sequence that `tops` keeps rows of: its first in order.
template <class W, class Emit>
void each_run(const SortJob& job, Offsets tops, const SortRoom& room, std::byte* scratch,
              Emit emit) noexcept {
  using Item = typename W::Item;
  auto* const items = reinterpret_cast<Item*>(scratch);
  const auto is_giant = [&](std::int64_t i) {
    return sort_held(job.level.length(i), tops.length(i)) > room.items;
  };
  by_shares(job.level, room.shares, [&](std::int64_t share, Range part) {
    Item* const mine = items + share * 2 * room.items;
    SortRun<W> run(job, mine, mine + room.items, nullptr);
    for (std::int64_t i = part.begin; i < part.end; ++i) {
      if (tops.length(i) == 0 || is_giant(i)) continue;
      for (std::int64_t c = 0; c < job.columns; ++c) emit(i, c, run.sort_items(i, c, tops.length(i)));
    }
  });
  if (room.giant == 0) return;
  SortRun<W> run(job, items, items + room.giant, reinterpret_cast<std::int64_t*>(items + 2 * room.giant));
  for (std::int64_t i = 0; i < job.level.count; ++i) {
    if (!is_giant(i)) continue;
    for (std::int64_t c = 0; c < job.columns; ++c) emit(i, c, run.sort_items(i, c, tops.length(i)));
  }
}

}  // namespace varlen
