// The record of a block, as decoders and encoders see it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "varlen/bits.hpp"

namespace varlen::bits {

static_assert(std::endian::native == std::endian::little, "words of files are little endian");

inline constexpr std::uint8_t kHasWord = 1;

struct BlockRecord {
  std::uint64_t base = 0;
  std::uint64_t place = 0;
  BlockKind kind = BlockKind::plain;
  std::uint8_t bits = 0;
  std::uint8_t digits = 0;
  std::uint8_t flags = 0;
  std::uint16_t outliers = 0;
  std::uint16_t zero = 0;
};
static_assert(sizeof(BlockRecord) == kRecordBytes);

/// 10**digits, all of which float64 holds.
inline constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
inline constexpr std::uint8_t kMostDigits = 15;

template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

[[nodiscard]] constexpr std::int64_t code_bytes(std::int64_t count, int bits) noexcept {
  return (count * bits + 7) / 8;
}

}  // namespace varlen::bits
