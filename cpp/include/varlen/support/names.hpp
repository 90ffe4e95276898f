// Are these names all different? Linear for any input, hostile ones too, and no allocation.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace varlen {

/// Mixes eight bytes at a time; only spread matters, because long probes are not followed.
inline std::uint64_t name_hash(std::string_view name) noexcept {
  std::uint64_t hash = name.size() * 0x9E3779B97F4A7C15u;
  const char* p = name.data();
  std::size_t left = name.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  std::uint64_t word = 0;
  for (; left > 0; --left) word = word << 8 | static_cast<unsigned char>(*p++);
  hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
  return hash ^ hash >> 29;
}

/// The first i whose name_of(i) an earlier one has, or -1. `slots` holds the power of two at or above
/// 2 * count; `scratch` holds count, and is used where hashes collide too often: the names are
/// sorted then.
template <class NameOf>
std::int64_t find_duplicate(std::int64_t count, NameOf name_of, std::uint32_t* slots,
                            std::uint32_t* scratch) noexcept {
  const auto slot_count = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * count)));
  constexpr int kProbes = 64;
  const auto mask = static_cast<std::uint64_t>(slot_count) - 1;
  std::fill_n(slots, slot_count, 0U);
  bool is_crowded = false;
  for (std::int64_t i = 0; i < count && !is_crowded; ++i) {
    const std::string_view name = name_of(i);
    std::uint64_t slot = name_hash(name) & mask;
    int probe = 0;
    for (; slots[slot] != 0 && probe < kProbes; ++probe, slot = (slot + 1) & mask) {
      if (name_of(slots[slot] - 1) == name) return i;
    }
    is_crowded = probe == kProbes;
    slots[slot] = static_cast<std::uint32_t>(i + 1);
  }
  if (!is_crowded) return -1;
  for (std::int64_t i = 0; i < count; ++i) scratch[i] = static_cast<std::uint32_t>(i);
  std::sort(scratch, scratch + count, [&](std::uint32_t a, std::uint32_t b) {
    const auto order = name_of(a).compare(name_of(b));
    return order != 0 ? order < 0 : a < b;
  });
  std::int64_t first = -1;
  for (std::int64_t i = 1; i < count; ++i) {
    if (name_of(scratch[i]) == name_of(scratch[i - 1]) && (first < 0 || scratch[i] < first))
      first = scratch[i];
  }
  return first;
}

}  // namespace varlen
