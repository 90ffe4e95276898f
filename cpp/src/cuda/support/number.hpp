// Numbers of a dtype that is known when the kernel is launched, as those that are computed with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "thread.hpp"
#include "varlen/cast.hpp"
#include "view.hpp"

namespace varlen::cuda {

struct BoolBits {
  std::uint8_t byte;
};
struct HalfBits {
  std::uint16_t bits;
};
struct BrainBits {
  std::uint16_t bits;
};

template <class To, class From>
[[nodiscard]] VARLEN_DEVICE To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, x);
}

template <class T>
[[nodiscard]] VARLEN_DEVICE bool is_nan(T x) {
  return x != x;
}

[[nodiscard]] VARLEN_DEVICE float widen(HalfBits half) {
#if defined(__CUDACC__)
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(half.bits));
  return result;
#else
  constexpr std::uint32_t kExponent = 0x7C00U << 13;
  const std::uint32_t shifted = (half.bits & 0x7FFFU) << 13;
  const std::uint32_t exponent = shifted & kExponent;
  std::uint32_t bits = shifted + (112U << 23);
  if (exponent == kExponent) bits += 112U << 23;  // infinity and NaN
  if (exponent == 0) {
    bits = bits_as<std::uint32_t>(bits_as<float>(bits + (1U << 23)) - bits_as<float>(113U << 23));
  }
  return bits_as<float>(bits | ((half.bits & 0x8000U) << 16));
#endif
}

[[nodiscard]] VARLEN_DEVICE float widen(BrainBits brain) {
  return bits_as<float>(static_cast<std::uint32_t>(brain.bits) << 16);
}

VARLEN_DEVICE void narrow(float x, HalfBits& out) {
#if defined(__CUDACC__)
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(x));
#else
  constexpr std::uint32_t kInfinity = 255U << 23;
  constexpr std::uint32_t kTooLarge = 143U << 23;  // 65536
  constexpr std::uint32_t kMagic = 126U << 23;     // adding it leaves a subnormal's bits at the bottom
  const auto all = bits_as<std::uint32_t>(x);
  const std::uint32_t bits = all & 0x7FFFFFFFU;
  std::uint32_t half = (bits - (112U << 23) + 0xFFFU + ((bits >> 13) & 1U)) >> 13;
  if (bits < (113U << 23)) {
    half = bits_as<std::uint32_t>(bits_as<float>(bits) + bits_as<float>(kMagic)) - kMagic;
  } else if (bits >= kTooLarge) {
    half = bits > kInfinity ? 0x7E00U : 0x7C00U;
  }
  out.bits = static_cast<std::uint16_t>(half | ((all >> 16) & 0x8000U));
#endif
}

VARLEN_DEVICE void narrow(float x, BrainBits& out) {
  const auto bits = bits_as<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40U;
  out.bits = static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : rounded);
}

/// To float, rounded to odd: a second rounding, to a half, is then as if it were the only one.
[[nodiscard]] VARLEN_DEVICE float to_odd(double x) {
  const auto near = static_cast<float>(x);
  const auto back = static_cast<double>(near);
  auto bits = bits_as<std::uint32_t>(near);
  const bool is_above = x < 0 ? back < x : back > x;
  if (is_above) bits -= 1U;
  if (back != x && !is_nan(x)) bits |= 1U;
  return bits_as<float>(bits);
}

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, HalfBits> || std::is_same_v<T, BrainBits>;

/// A number of any of the types as one of To, which is float, double or an integer: integers wrap.
template <class To, class From>
[[nodiscard]] VARLEN_DEVICE To number_of(From x) {
  if constexpr (std::is_same_v<From, BoolBits>) {
    return static_cast<To>(x.byte != 0 ? 1 : 0);
  } else if constexpr (kIsHalf<From>) {
    return static_cast<To>(widen(x));
  } else {
    return static_cast<To>(x);
  }
}

/// The way back, rounded once.
template <class To, class From>
[[nodiscard]] VARLEN_DEVICE To element_of(From x) {
  if constexpr (std::is_same_v<To, BoolBits>) {
    return {static_cast<std::uint8_t>(x != 0 ? 1 : 0)};
  } else if constexpr (kIsHalf<To>) {
    To result;
    if constexpr (std::is_same_v<From, float>) {
      narrow(x, result);
    } else {
      narrow(to_odd(static_cast<double>(x)), result);
    }
    return result;
  } else {
    return static_cast<To>(x);
  }
}

/// body(T{}) for the type of elements that are floats.
template <class Body>
VARLEN_DEVICE void with_float(Type type, const Body& body) {
  switch (type) {
    case Type::f16:
      return body(HalfBits{});
    case Type::bf16:
      return body(BrainBits{});
    case Type::f32:
      return body(float{});
    default:
      return body(double{});
  }
}

/// body(T{}) for the unsigned type of as many bytes.
template <class Body>
VARLEN_DEVICE void with_width(int bytes, const Body& body) {
  switch (bytes) {
    case 1:
      return body(std::uint8_t{});
    case 2:
      return body(std::uint16_t{});
    case 4:
      return body(std::uint32_t{});
    default:
      return body(std::uint64_t{});
  }
}

/// What the host says of a type before it launches.
[[nodiscard]] VARLEN_ANYWHERE constexpr bool is_float_type(Type type) noexcept {
  return type >= Type::f16;
}
[[nodiscard]] constexpr bool is_unsigned_type(Type type) noexcept {
  return type >= Type::u8 && type <= Type::u64;
}
[[nodiscard]] constexpr int bytes_of_type(Type type) noexcept {
  constexpr int kBytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<int>(type)];
}

/// Elements in memory, of a type that the launch says. Several are read at once, so that they are on their
/// way together; a place below 0 stands for none.
template <class Byte>
class Elements {
 public:
  Elements() = default;
  Elements(Byte* data, std::int64_t count, Type type) noexcept
      : data_(data),
        count_(count),
        type_(type),
        bytes_(bytes_of_type(type)),
        has_sign_(type >= Type::i8 && type <= Type::i64) {}

  [[nodiscard]] VARLEN_DEVICE Type type() const { return type_; }

  /// Floats.
  template <class C, int n>
  VARLEN_DEVICE void read(const std::int64_t (&at)[n], C (&numbers)[n]) const {
    with_float(type_, [&](auto element) {
      const auto from = as<decltype(element)>();
      VARLEN_UNROLLED for (int j = 0; j < n; ++j) {
        if (at[j] >= 0) numbers[j] = number_of<C>(from[at[j]]);
      }
    });
  }
  template <class C>
  VARLEN_DEVICE void write(std::int64_t at, C number) const {
    with_float(type_, [&](auto element) {
      using T = decltype(element);
      as<T>()[at] = element_of<T>(number);
    });
  }

  /// Integers and bools, as 64 bits.
  template <int n>
  VARLEN_DEVICE void read_whole(const std::int64_t (&at)[n], std::uint64_t (&numbers)[n]) const {
    with_width(bytes_, [&](auto element) {
      const auto from = as<decltype(element)>();
      VARLEN_UNROLLED for (int j = 0; j < n; ++j) {
        if (at[j] >= 0) numbers[j] = from[at[j]];
      }
    });
    const int shift = has_sign_ ? 64 - 8 * bytes_ : 0;
    VARLEN_UNROLLED for (int j = 0; j < n; ++j) {
      numbers[j] = static_cast<std::uint64_t>(static_cast<std::int64_t>(numbers[j] << shift) >> shift);
      if (type_ == Type::b1) numbers[j] = numbers[j] != 0 ? 1 : 0;
    }
  }
  VARLEN_DEVICE void write_whole(std::int64_t at, std::uint64_t number) const {
    with_width(bytes_, [&](auto element) {
      using T = decltype(element);
      as<T>()[at] = static_cast<T>(number);
    });
  }

 private:
  template <class T>
  [[nodiscard]] VARLEN_DEVICE auto as() const {
    using Held = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return View<Held>{reinterpret_cast<Held*>(data_), count_};
  }

  Byte* data_ = nullptr;
  std::int64_t count_ = 0;
  Type type_ = Type::f32;
  int bytes_ = 4;
  bool has_sign_ = false;
};

}  // namespace varlen::cuda
