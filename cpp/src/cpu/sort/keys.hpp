// Keys, items and ranks: what sorting is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "varlen/sort.hpp"

namespace varlen {

/// Up to here places may be counted; above, digits are sorted.
inline constexpr std::int64_t kRankLimit = 256;

/// Keys of `count` numbers, `stride` elements apart: signed integers in their order, the largest for NaN.
using Keys32 = void (*)(const std::byte* input, std::int64_t stride, std::int64_t count, bool descending,
                        std::int32_t* keys) noexcept;
using Keys64 = void (*)(const std::byte* input, std::int64_t stride, std::int64_t count, bool descending,
                        std::int64_t* keys) noexcept;

/// Null for types of 64 bits.
[[nodiscard]] Keys32 keys32_of(Type type) noexcept;
/// Null for narrower types.
[[nodiscard]] Keys64 keys64_of(Type type) noexcept;

/// The place of each of up to kRankLimit keys in their order, equal ones from left to right. Keys and ranks
/// have room for kRankLimit; behind the keys stands the largest number, up to kRankPad of them.
struct RankTable {
  void (*narrow)(const std::int32_t* keys, std::int64_t count, std::int32_t* ranks) noexcept;
  void (*wide)(const std::int64_t* keys, std::int64_t count, std::int64_t* ranks) noexcept;
  /// The first group of kRankGroup, from `begin` on in steps of as many, that has a key below `last`; `end`
  /// or more where none has. Groups are whole: behind the keys stands what is not below.
  std::int64_t (*below_narrow)(const std::int32_t* keys, std::int64_t begin, std::int64_t end,
                               std::int32_t last) noexcept;
  std::int64_t (*below_wide)(const std::int64_t* keys, std::int64_t begin, std::int64_t end,
                             std::int64_t last) noexcept;
  std::int64_t most_narrow;  ///< to here counting pays
  std::int64_t most_wide;
};
inline constexpr std::int64_t kRankPad = 8;
inline constexpr std::int64_t kRankGroup = 32;

[[nodiscard]] const RankTable& rank_table() noexcept;

/// A key and the place that it was found at, in one number: the number's order is that of equal keys too.
struct NarrowSort {
  using Key = std::int32_t;
  using Item = std::uint64_t;
  static constexpr int kDigits = 4;

  static Item item(Key key, std::int64_t place) noexcept {
    return static_cast<Item>(static_cast<std::uint32_t>(key) ^ 0x80000000U) << 32 |
           static_cast<std::uint32_t>(place);
  }
  static bool precedes(Item a, Item b) noexcept { return a < b; }
  static std::uint64_t key(Item item) noexcept { return item >> 32; }
  static Key signed_key(Item item) noexcept { return static_cast<Key>(key(item) ^ 0x80000000U); }
  static std::int64_t place(Item item) noexcept { return static_cast<std::int64_t>(item & 0xFFFFFFFFU); }
};

struct WideSort {
  using Key = std::int64_t;
  struct Item {
    std::uint64_t key;
    std::int64_t place;
  };
  static constexpr int kDigits = 8;

  static Item item(Key key, std::int64_t place) noexcept {
    return {static_cast<std::uint64_t>(key) ^ (std::uint64_t{1} << 63), place};
  }
  static bool precedes(const Item& a, const Item& b) noexcept {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  }
  static std::uint64_t key(const Item& item) noexcept { return item.key; }
  static Key signed_key(const Item& item) noexcept {
    return static_cast<Key>(item.key ^ (std::uint64_t{1} << 63));
  }
  static std::int64_t place(const Item& item) noexcept { return item.place; }
};

namespace baseline {
inline constexpr int kRankBytes = 16;  // there is no instruction to compare 64 bits: few are counted
inline constexpr std::int64_t kCountedWide = 64;
extern const RankTable kRankTable;
}  // namespace baseline

namespace avx2 {
inline constexpr int kRankBytes = 32;
inline constexpr std::int64_t kCountedWide = kRankLimit;
extern const RankTable kRankTable;
}  // namespace avx2

}  // namespace varlen
