// Numbers of every dtype as bodies of kernels read and write them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "thread.hpp"
#include "varlen/cast.hpp"
#include "view.hpp"

namespace varlen::cuda {

/// The same bits as another type.
template <class To, class From>
[[nodiscard]] VARLEN_DEVICE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

[[nodiscard]] VARLEN_DEVICE float widen_half(std::uint16_t half) {
#if defined(__CUDA_ARCH__)
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(half));
  return wide;
#else
  constexpr std::uint32_t kExponent = 0x7C00U << 13;
  const std::uint32_t payload = (half & 0x7FFFU) << 13;
  const std::uint32_t exponent = payload & kExponent;
  std::uint32_t bits = payload + (112U << 23);
  if (exponent == kExponent) bits += 112U << 23;  // infinity and NaN
  if (exponent == 0)
    bits = bits_as<std::uint32_t>(bits_as<float>(bits + (1U << 23)) - bits_as<float>(113U << 23));
  if (payload > kExponent) bits |= 1U << 22;  // NaN becomes quiet
  return bits_as<float>(bits | ((half & 0x8000U) << 16));
#endif
}

[[nodiscard]] VARLEN_DEVICE float widen_bfloat(std::uint16_t bfloat) {
  return bits_as<float>(static_cast<std::uint32_t>(bfloat) << 16);
}

/// To the nearest, ties to even.
[[nodiscard]] VARLEN_DEVICE std::uint16_t narrow_half(float wide) {
  const std::uint32_t all = bits_as<std::uint32_t>(wide);
  const std::uint32_t bits = all & 0x7FFFFFFFU;
  std::uint32_t half = 0;
  if (bits >= (143U << 23)) {  // from 65536 on
    half = bits > (255U << 23) ? 0x7E00U : 0x7C00U;
  } else if (bits < (113U << 23)) {
    // The addition leaves the bits of a subnormal at the bottom.
    half = bits_as<std::uint32_t>(bits_as<float>(bits) + bits_as<float>(126U << 23)) - (126U << 23);
  } else {
    half = (bits - (112U << 23) + 0xFFFU + ((bits >> 13) & 1U)) >> 13;
  }
  return static_cast<std::uint16_t>(half | ((all >> 16) & 0x8000U));
}

[[nodiscard]] VARLEN_DEVICE std::uint16_t narrow_bfloat(float wide) {
  const std::uint32_t bits = bits_as<std::uint32_t>(wide);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

/// To float, rounded to odd: a second rounding, to a half, is then as if it were the only one.
[[nodiscard]] VARLEN_DEVICE float odd_float(double x) {
  const float single = static_cast<float>(x);
  const double round_trip = static_cast<double>(single);
  std::uint32_t bits = bits_as<std::uint32_t>(single);
  if (std::fabs(round_trip) > std::fabs(x)) --bits;
  if (round_trip != x && x == x) bits |= 1U;
  return bits_as<float>(bits);
}

template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

/// Bytes of an element.
[[nodiscard]] constexpr int bytes_of(Type type) noexcept {
  constexpr int kBytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kBytes[static_cast<int>(type)];
}

/// Whether a type is f16, bf16, f32 or f64.
[[nodiscard]] VARLEN_ANYWHERE bool is_real(Type type) {
  return type >= Type::f16;
}

[[nodiscard]] VARLEN_DEVICE float exp_of(float x) {
  return std::exp(x);
}
[[nodiscard]] VARLEN_CALLED double exp_of(double x) {
  return std::exp(x);
}

/// The same number, of which the compiler knows nothing: what follows from it is worked out where it is used,
/// and not kept in registers through a loop.
[[nodiscard]] VARLEN_DEVICE std::int64_t unknown(std::int64_t x) {
#if defined(__CUDA_ARCH__)
  asm volatile("" : "+l"(x));
#endif
  return x;
}

/// The words of one width at some offset, and at `step` bytes more, N of them, and zeros behind `count` of
/// them; all are on their way before the first is used.
template <class Word, int N, class Bits>
VARLEN_DEVICE void read_words(View<const std::byte> input, std::int64_t offset, std::int64_t step, int count,
                              Bits (&out)[N]) {
  VARLEN_UNROLLED for (int k = 0; k < N; ++k) {
    out[k] = k < count ? static_cast<Bits>(word_at<Word>(input, offset + k * step)) : Bits{0};
  }
}

/// Numbers of any dtype that has one: whole ones as std::int64_t (those of u64 by their bits), halves and
/// floats as float, all as double. Several are read after one look at the dtype.
template <class As>
struct AnyNumber {
  using Value = As;

  const std::byte* data;
  std::int64_t count;
  Type type;
  int size;
  int shift;   ///< bits above those of a signed number
  bool truth;  ///< whole ones are 1 where any bit below the shift is set, or 0

  AnyNumber(Type dtype, const std::byte* address, std::int64_t n)
      : data(address),
        count(n),
        type(dtype),
        size(bytes_of(dtype)),
        shift(dtype >= Type::i8 && dtype <= Type::i64 ? 64 - 8 * bytes_of(dtype) : 0),
        truth(dtype == Type::b1) {}

  /// Whether numbers are not zero, of floats too: the sign of a zero does not count.
  [[nodiscard]] static AnyNumber truths(Type dtype, const std::byte* address, std::int64_t n) {
    static_assert(std::is_integral_v<As>);
    AnyNumber result(dtype, address, n);
    result.truth = true;
    result.shift = 64 - 8 * result.size + (is_real(dtype) ? 1 : 0);
    return result;
  }

  [[nodiscard]] VARLEN_DEVICE As integer_of(std::uint64_t bits) const {
    if (truth) return bits << shift != 0 ? 1 : 0;
    const std::int64_t x = static_cast<std::int64_t>(bits << shift) >> shift;
    return type == Type::u64 && !std::is_integral_v<As> ? static_cast<As>(bits) : static_cast<As>(x);
  }

  /// Elements first, first + step, ..., N of them, and zeros behind `count` of them.
  template <int N>
  VARLEN_DEVICE void load_many(std::int64_t first, std::int64_t step, int limit, As (&out)[N]) const {
    constexpr bool kIsFloat = std::is_same_v<As, float>;
    using Bits = std::conditional_t<kIsFloat, std::uint32_t, std::uint64_t>;
    const View<const std::byte> input{data, count * size};
    const std::int64_t offset = first * size;
    step = unknown(step) * size;
    Bits bits[N];
    if (size == 4) {
      read_words<std::uint32_t>(input, offset, step, limit, bits);
    } else if (size == 2) {
      read_words<std::uint16_t>(input, offset, step, limit, bits);
    } else if constexpr (!kIsFloat) {
      if (size == 1) {
        read_words<std::uint8_t>(input, offset, step, limit, bits);
      } else {
        read_words<std::uint64_t>(input, offset, step, limit, bits);
      }
    }
    convert(bits, out);
  }
  [[nodiscard]] VARLEN_DEVICE As operator()(std::int64_t i) const {
    As one[1] = {};
    load_many(i, 1, 1, one);
    return one[0];
  }

 private:
  template <class Bits, int N>
  VARLEN_DEVICE void convert(const Bits (&bits)[N], As (&out)[N]) const {
    const auto convert_all = [&](auto number) {
      VARLEN_UNROLLED for (int k = 0; k < N; ++k) out[k] = static_cast<As>(number(bits[k]));
    };
    if constexpr (std::is_floating_point_v<As>) {
      if (type == Type::f16)
        return convert_all([](Bits x) { return widen_half(static_cast<std::uint16_t>(x)); });
      if (type == Type::bf16)
        return convert_all([](Bits x) { return widen_bfloat(static_cast<std::uint16_t>(x)); });
      if (type == Type::f32)
        return convert_all([](Bits x) { return bits_as<float>(static_cast<std::uint32_t>(x)); });
    }
    if constexpr (std::is_same_v<As, double>) {
      if (type == Type::f64) return convert_all([](Bits x) { return bits_as<double>(x); });
    }
    if constexpr (!std::is_same_v<As, float>) convert_all([this](Bits x) { return integer_of(x); });
  }
};

/// Doubles alone, where no other dtype becomes one.
struct Doubles {
  using Value = double;

  View<const std::byte> input;

  Doubles(Type, const std::byte* address, std::int64_t n)
      : input{address, n * static_cast<std::int64_t>(sizeof(double))} {}

  /// As AnyNumber has it.
  template <int N>
  VARLEN_DEVICE void load_many(std::int64_t first, std::int64_t step, int limit, double (&out)[N]) const {
    constexpr std::int64_t kSize = sizeof(double);
    read_words<double>(input, first * kSize, unknown(step) * kSize, limit, out);
  }
};

/// Where numbers of a dtype go.
struct NumbersOut {
  std::byte* data = nullptr;
  std::int64_t count = 0;
  Type type = Type::f32;
  int size = 4;

  NumbersOut() = default;
  NumbersOut(Type dtype, std::byte* address, std::int64_t n)
      : data(address), count(n), type(dtype), size(bytes_of(dtype)) {}

  template <class T>
  VARLEN_DEVICE void set(std::int64_t i, T x) const {
    View<T>{reinterpret_cast<T*>(data), count}[i] = x;
  }
  /// The low bytes.
  VARLEN_DEVICE void put(std::int64_t i, std::int64_t x) const {
    switch (size) {
      case 1:
        return set(i, static_cast<std::uint8_t>(x));
      case 2:
        return set(i, static_cast<std::uint16_t>(x));
      case 4:
        return set(i, static_cast<std::uint32_t>(x));
      default:
        return set(i, x);
    }
  }
  VARLEN_DEVICE void put(std::int64_t i, float x) const {
    switch (type) {
      case Type::f16:
        return set(i, narrow_half(x));
      case Type::bf16:
        return set(i, narrow_bfloat(x));
      default:
        return set(i, x);
    }
  }
  VARLEN_DEVICE void put(std::int64_t i, double x) const {
    switch (type) {
      case Type::f16:
        return set(i, narrow_half(odd_float(x)));
      case Type::bf16:
        return set(i, narrow_bfloat(odd_float(x)));
      case Type::f32:
        return set(i, static_cast<float>(x));
      default:
        return set(i, x);
    }
  }
};

}  // namespace varlen::cuda
