// The types that elements are converted between, and the conversion of one.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>

#include "varlen/cast.hpp"

namespace varlen {

struct Bool {
  std::uint8_t byte;
};
struct Half {
  std::uint16_t bits;
};
struct BFloat {
  std::uint16_t bits;
};

// In the order of Type.
using Types = std::tuple<Bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                         std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat, float, double>;
inline constexpr std::size_t kTypes = std::tuple_size_v<Types>;

template <class T>
inline constexpr bool kHalf = std::is_same_v<T, Half> || std::is_same_v<T, BFloat>;
template <class T>
inline constexpr bool kFloat = std::is_floating_point_v<T> || kHalf<T>;

// The halves are worked on without a branch, so that the loops become vectors.

inline float widen(Half h) noexcept {
  constexpr std::uint32_t kExponent = 0x7C00U << 13;
  const std::uint32_t magnitude = (h.bits & 0x7FFFU) << 13;
  const std::uint32_t exponent = magnitude & kExponent;
  const std::uint32_t normal = magnitude + (112U << 23);
  const std::uint32_t special = normal + (112U << 23);  // infinity and NaN
  const float tiny = std::bit_cast<float>(normal + (1U << 23)) - std::bit_cast<float>(113U << 23);
  std::uint32_t bits = exponent == kExponent ? special : normal;
  bits = exponent == 0 ? std::bit_cast<std::uint32_t>(tiny) : bits;
  bits |= magnitude > kExponent ? 1U << 22 : 0U;  // NaN becomes quiet, as instructions for this make it
  return std::bit_cast<float>(bits | ((h.bits & 0x8000U) << 16));
}

inline float widen(BFloat b) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b.bits) << 16);
}

inline void narrow(float x, Half& out) noexcept {
  constexpr std::uint32_t kInfinity = 255U << 23;
  constexpr std::uint32_t kTooLarge = 143U << 23;  // 65536
  constexpr std::uint32_t kMagic = 126U << 23;     // adding it leaves a subnormal's bits at the bottom
  const auto all = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t bits = all & 0x7FFFFFFFU;
  const float magnitude = std::bit_cast<float>(bits) + std::bit_cast<float>(kMagic);
  const std::uint32_t tiny = std::bit_cast<std::uint32_t>(magnitude) - kMagic;
  const std::uint32_t normal = (bits - (112U << 23) + 0xFFFU + ((bits >> 13) & 1U)) >> 13;
  std::uint32_t half = bits < (113U << 23) ? tiny : normal;
  half = bits >= kTooLarge ? (bits > kInfinity ? 0x7E00U : 0x7C00U) : half;
  out.bits = static_cast<std::uint16_t>(half | ((all >> 16) & 0x8000U));
}

inline void narrow(float x, BFloat& out) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t result = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40U;
  out.bits = static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : result);
}

/// To float, rounded to odd: a second rounding, to a half, is then as if it were the only one.
inline float odd(double x) noexcept {
  const auto single = static_cast<float>(x);
  const auto round_trip = static_cast<double>(single);
  auto bits = std::bit_cast<std::uint32_t>(single);
  bits -= std::fabs(round_trip) > std::fabs(x) ? 1U : 0U;
  bits |= round_trip != x && x == x ? 1U : 0U;
  return std::bit_cast<float>(bits);
}

template <class T>
float to_odd_float(T x) noexcept {
  if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
    // 53 bits, the lowest of them set where anything below was.
    const bool large = x >= (T{1} << 53) || (std::is_signed_v<T> && x <= -(T{1} << 53));
    const T result = static_cast<T>((x & ~T{2047}) | ((x & T{2047}) != 0 ? T{2048} : T{0}));
    return odd(static_cast<double>(large ? result : x));
  } else if constexpr (sizeof(T) >= 4) {
    return odd(static_cast<double>(x));
  } else {
    return static_cast<float>(x);
  }
}

template <class To, class From>
To convert(From x) noexcept {
  if constexpr (std::is_same_v<From, To>) {
    return x;
  } else if constexpr (std::is_same_v<From, Bool>) {
    return convert<To>(static_cast<std::uint8_t>(x.byte != 0));
  } else if constexpr (kHalf<From>) {
    return convert<To>(widen(x));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return {static_cast<std::uint8_t>(x != 0)};
  } else if constexpr (std::is_same_v<From, float> && kHalf<To>) {
    To out{};
    narrow(x, out);
    return out;
  } else if constexpr (kHalf<To>) {
    return convert<To>(to_odd_float(x));
  } else {
    return static_cast<To>(x);
  }
}

template <class T>
bool is_nan(T x) noexcept {
  if constexpr (kHalf<T>) {
    return std::isnan(widen(x));
  } else {
    return std::isnan(x);
  }
}

/// Numbers of at least this size, which are not infinite, become infinite in To: half a step beyond its
/// largest.
template <class To>
inline constexpr double kOverflow = 0;
template <>
inline constexpr double kOverflow<Half> = 65520;
template <>
inline constexpr double kOverflow<BFloat> = 0x1.FFp127;
template <>
inline constexpr double kOverflow<float> = 0x1.FFFFFFp127;

/// Whether To holds all finite numbers of From, the largest rounded.
template <class From, class To>
constexpr bool holds_all() noexcept {
  if constexpr (kOverflow<To> == 0 || std::is_same_v<From, To> || std::is_same_v<From, Bool>) {
    return true;
  } else if constexpr (std::is_integral_v<From>) {
    return static_cast<double>(std::numeric_limits<From>::max()) < kOverflow<To>;
  } else {
    return std::is_same_v<From, Half> || (std::is_same_v<From, BFloat> && std::is_same_v<To, float>);
  }
}

/// Whether x is finite and becomes infinite in To.
template <class To, class From>
bool overflows(From x) noexcept {
  if constexpr (holds_all<From, To>()) {
    return false;
  } else if constexpr (std::is_integral_v<From>) {
    constexpr auto kLimit = static_cast<From>(kOverflow<To>);
    if constexpr (std::is_signed_v<From>) return (x >= kLimit) | (x <= -kLimit);
    return x >= kLimit;
  } else if constexpr (std::is_same_v<From, double>) {
    const double size = std::fabs(x);
    return (size >= kOverflow<To>)&(size < std::numeric_limits<double>::infinity());
  } else if constexpr (kHalf<From>) {
    return overflows<To>(widen(x));
  } else {
    const float size = std::fabs(x);
    return (size >= static_cast<float>(kOverflow<To>)) & (size < std::numeric_limits<float>::infinity());
  }
}

template <class T>
T read(const std::byte* input, std::int64_t i) noexcept {
  T x;
  std::memcpy(&x, input + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return x;
}

template <class T>
void write(std::byte* out, std::int64_t i, T x) noexcept {
  std::memcpy(out + i * static_cast<std::int64_t>(sizeof(T)), &x, sizeof(T));
}

inline constexpr std::array<std::int64_t, kTypes> kSizes{1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};

constexpr std::size_t number(Type type) noexcept {
  return static_cast<std::size_t>(type);
}

}  // namespace varlen
