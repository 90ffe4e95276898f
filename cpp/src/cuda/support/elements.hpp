// Elements of a dtype that is known when the kernel is launched, read and written wherever they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "number.hpp"
#include "thread.hpp"
#include "varlen/cast.hpp"
#include "view.hpp"

namespace varlen::cuda {

struct HalfBits {
  std::uint16_t bits;
};
struct BrainBits {
  std::uint16_t bits;
};

template <class T>
[[nodiscard]] VARLEN_DEVICE bool is_nan(T x) {
  return x != x;
}

template <class To, class From>
[[nodiscard]] VARLEN_DEVICE To number_of(From x) {
  if constexpr (std::is_same_v<From, HalfBits>) {
    return static_cast<To>(widen_half(x.bits));
  } else if constexpr (std::is_same_v<From, BrainBits>) {
    return static_cast<To>(widen_bfloat(x.bits));
  } else {
    return static_cast<To>(x);
  }
}

/// The way back, rounded once.
template <class To, class From>
[[nodiscard]] VARLEN_DEVICE To element_of(From x) {
  if constexpr (!std::is_same_v<To, HalfBits> && !std::is_same_v<To, BrainBits>) {
    return static_cast<To>(x);
  } else {
    float single;
    if constexpr (std::is_same_v<From, float>) {
      single = x;
    } else {
      single = odd_float(x);
    }
    return {std::is_same_v<To, HalfBits> ? narrow_half(single) : narrow_bfloat(single)};
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

/// The unsigned types.
[[nodiscard]] constexpr bool is_unsigned_type(Type type) noexcept {
  return type >= Type::u8 && type <= Type::u64;
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
        bytes_(bytes_of(type)),
        has_sign_(type >= Type::i8 && type <= Type::i64) {}

  [[nodiscard]] VARLEN_DEVICE Type type() const { return type_; }

  /// Floats.
  template <class C, int n>
  VARLEN_DEVICE void read(const std::int64_t (&place)[n], C (&numbers)[n]) const {
    with_float(type_, [&](auto element) {
      const auto from = as<decltype(element)>();
      VARLEN_UNROLLED for (int j = 0; j < n; ++j) {
        if (place[j] >= 0) numbers[j] = number_of<C>(from[place[j]]);
      }
    });
  }
  template <class C>
  VARLEN_DEVICE void write(std::int64_t place, C number) const {
    with_float(type_, [&](auto element) {
      using T = decltype(element);
      as<T>()[place] = element_of<T>(number);
    });
  }

  /// Integers and bools, as 64 bits.
  template <int n>
  VARLEN_DEVICE void read_whole(const std::int64_t (&place)[n], std::uint64_t (&numbers)[n]) const {
    with_width(bytes_, [&](auto element) {
      const auto from = as<decltype(element)>();
      VARLEN_UNROLLED for (int j = 0; j < n; ++j) {
        if (place[j] >= 0) numbers[j] = from[place[j]];
      }
    });
    const int shift = has_sign_ ? 64 - 8 * bytes_ : 0;
    VARLEN_UNROLLED for (int j = 0; j < n; ++j) {
      numbers[j] = static_cast<std::uint64_t>(static_cast<std::int64_t>(numbers[j] << shift) >> shift);
      if (type_ == Type::b1) numbers[j] = numbers[j] != 0 ? 1 : 0;
    }
  }
  VARLEN_DEVICE void write_whole(std::int64_t place, std::uint64_t number) const {
    with_width(bytes_, [&](auto element) {
      using T = decltype(element);
      as<T>()[place] = static_cast<T>(number);
    });
  }

 private:
  template <class T>
  [[nodiscard]] VARLEN_DEVICE auto as() const {
    using ElementType = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return View<ElementType>{reinterpret_cast<ElementType*>(data_), count_};
  }

  Byte* data_ = nullptr;
  std::int64_t count_ = 0;
  Type type_ = Type::f32;
  int bytes_ = 4;
  bool has_sign_ = false;
};

}  // namespace varlen::cuda
