// Numbers as keys: unsigned integers in the order of the numbers, NaN behind all others, -0 beside 0.
#pragma once

#include <cstdint>

#include "thread.hpp"
#include "varlen/cast.hpp"

namespace varlen::cuda {

/// The key of the bits of a float: of `bits` bits, of which `mantissa` say how large it is inside its binade.
[[nodiscard]] VARLEN_DEVICE std::uint64_t key_of_float(std::uint64_t number, int bits, int mantissa) {
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  const std::uint64_t magnitude = number & (sign - 1);
  const std::uint64_t infinity = (sign - 1) >> mantissa << mantissa;
  if (magnitude > infinity) return ~std::uint64_t{0};
  if (magnitude == 0) return sign;
  return (number & sign) != 0 ? sign - magnitude : sign + magnitude;
}

/// The key of element i of numbers of a type; descending turns the order round, but for NaN.
template <class Key>
[[nodiscard]] VARLEN_DEVICE Key key_at(const std::byte* numbers, Type type, std::int64_t i, bool descending) {
  std::uint64_t key = 0;
  constexpr std::uint64_t kSign8 = 0x80;
  constexpr std::uint64_t kSign16 = 0x8000;
  constexpr std::uint64_t kSign32 = 0x80000000;
  constexpr std::uint64_t kSign64 = std::uint64_t{1} << 63;
  const auto* const narrow = reinterpret_cast<const std::uint8_t*>(numbers);
  const auto* const half = reinterpret_cast<const std::uint16_t*>(numbers);
  const auto* const word = reinterpret_cast<const std::uint32_t*>(numbers);
  const auto* const wide = reinterpret_cast<const std::uint64_t*>(numbers);
  switch (type) {
    case Type::b1:
      key = narrow[i] != 0 ? 1 : 0;
      break;
    case Type::i8:
      key = narrow[i] ^ kSign8;
      break;
    case Type::u8:
      key = narrow[i];
      break;
    case Type::i16:
      key = half[i] ^ kSign16;
      break;
    case Type::u16:
      key = half[i];
      break;
    case Type::i32:
      key = word[i] ^ kSign32;
      break;
    case Type::u32:
      key = word[i];
      break;
    case Type::i64:
      key = wide[i] ^ kSign64;
      break;
    case Type::u64:
      key = wide[i];
      break;
    case Type::f16:
      key = key_of_float(half[i], 16, 10);
      break;
    case Type::bf16:
      key = key_of_float(half[i], 16, 7);
      break;
    case Type::f32:
      key = key_of_float(word[i], 32, 23);
      break;
    case Type::f64:
      key = key_of_float(wide[i], 64, 52);
      break;
  }
  const bool is_float = type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
  const bool is_nan = is_float && key == ~std::uint64_t{0};
  if (descending && !is_nan) key = ~key;
  return static_cast<Key>(key);
}

}  // namespace varlen::cuda
