// An element of one dtype as one of another, by its bits.
#pragma once

#include <cstdint>

#include "number.hpp"

namespace varlen::cuda {

enum class Instead : std::uint8_t {
  none,  ///< NaN stays
  nan,   ///< another element takes the place of NaN
  mask,  ///< the result says whether it is NaN
};

struct Conversion {
  Type from = Type::b1;
  Type to = Type::b1;
  Instead instead = Instead::none;
  std::int64_t nan = 0;  ///< the bits of that element; of a mask: 1 where it says whether it is none

  /// Bits above those of the element are zero; those of the result mean nothing.
  [[nodiscard]] VARLEN_CALLED std::uint64_t operator()(std::uint64_t bits) const {
    const bool is_real_number = is_real(from);
    const double real = is_real_number ? as_double(bits) : 0;
    const bool is_nan = real != real;
    if (instead == Instead::mask) return static_cast<std::uint64_t>(std::int64_t{is_nan} ^ nan);
    if (is_nan && instead == Instead::nan) return static_cast<std::uint64_t>(nan);
    if (is_real_number) return is_real(to) ? bits_of(real) : whole_of(real);
    const std::int64_t integer = as_whole(bits);
    return is_real(to) ? bits_of(nearly(integer)) : static_cast<std::uint64_t>(integer);
  }

 private:
  [[nodiscard]] VARLEN_DEVICE double as_double(std::uint64_t bits) const {
    if (from == Type::f64) return bits_as<double>(bits);
    const auto half = static_cast<std::uint16_t>(bits);
    return static_cast<double>(from == Type::f16    ? widen_half(half)
                               : from == Type::bf16 ? widen_bfloat(half)
                                                    : bits_as<float>(static_cast<std::uint32_t>(bits)));
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t as_whole(std::uint64_t bits) const {
    if (from == Type::b1) return bits != 0 ? 1 : 0;
    const int shift =
        from <= Type::i64 ? 64 - (8 << (static_cast<int>(from) - static_cast<int>(Type::i8))) : 0;
    return static_cast<std::int64_t>(bits << shift) >> shift;
  }
  [[nodiscard]] VARLEN_DEVICE std::uint64_t bits_of(double x) const {
    if (to == Type::f64) return bits_as<std::uint64_t>(x);
    if (to == Type::f32) return bits_as<std::uint32_t>(static_cast<float>(x));
    const float odd = odd_float(x);
    return to == Type::f16 ? narrow_half(odd) : narrow_bfloat(odd);
  }
  [[nodiscard]] VARLEN_DEVICE static std::uint64_t whole_of(double x) {
    // From 2 ** 63 on a number has 11 zeros at its end.
    constexpr double kHalf = 9223372036854775808.0;
    const bool is_large = x >= kHalf;
    const auto integer = static_cast<std::uint64_t>(static_cast<std::int64_t>(is_large ? x - kHalf : x));
    return is_large ? integer + (std::uint64_t{1} << 63) : integer;
  }
  [[nodiscard]] VARLEN_DEVICE double nearly(std::int64_t x) const {
    const bool is_negative = x < 0 && from != Type::u64;
    auto size = static_cast<std::uint64_t>(x);
    if (is_negative) size = 0 - size;
    // Rounded to odd, so that a second rounding is as if it were the only one.
    constexpr std::uint64_t kLow = 0x7ff;
    if (to != Type::f64 && size >> 53 != 0) size = (size & ~kLow) | ((size & kLow) != 0 ? kLow + 1 : 0);
    const auto wide = static_cast<double>(size);
    return is_negative ? -wide : wide;
  }
};

}  // namespace varlen::cuda
