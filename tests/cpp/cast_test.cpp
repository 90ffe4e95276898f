// Conversions between halves and float read and write so many numbers and nothing else, wherever these lie.
#include "varlen/cast.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"

using varlen::Type;
using varlen::test::Bytes;
using varlen::test::z;

namespace {

constexpr std::int64_t kGuard = 64;
constexpr std::byte kMark{0xA5};

/// What a half is, by its definition.
double number_of(std::uint16_t half, Type type) {
  const int digits = type == Type::f16 ? 10 : 7;
  const int bias = type == Type::f16 ? 15 : 127;
  const int top = (1 << (15 - digits)) - 1;
  const int exponent = (half & 0x7FFF) >> digits;
  const int fraction = half & ((1 << digits) - 1);
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == top) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - digits);
  return sign * std::ldexp(fraction + (1 << digits), exponent - bias - digits);
}

/// `count` elements through a conversion, `shift` bytes off; what lies around them is left.
Bytes cast_bytes(Type from, Type to, const std::byte* in, std::int64_t count, std::int64_t shift) {
  const std::int64_t bytes = count * varlen::size_of(to);
  Bytes room(z(bytes + 2 * kGuard), kMark);
  Bytes source(z(shift + count * varlen::size_of(from)));
  if (count > 0) std::memcpy(source.data() + shift, in, z(count * varlen::size_of(from)));
  std::byte* const out = room.data() + kGuard - shift;
  varlen::cast_of(from, to).run(source.data() + shift, count, nullptr, out);
  for (const std::byte* at = room.data(); at < out; ++at) CHECK(*at == kMark);
  for (const std::byte* at = out + bytes; at < room.data() + room.size(); ++at) CHECK(*at == kMark);
  return {out, out + bytes};
}

}  // namespace

TEST(cast, widens_every_half_to_its_number) {
  std::vector<std::uint16_t> all_halves(1U << 16);
  for (std::size_t k = 0; k < all_halves.size(); ++k) all_halves[k] = static_cast<std::uint16_t>(k);
  for (const Type type : {Type::f16, Type::bf16}) {
    for (std::int64_t at = 0; at < 1 << 16;) {
      const std::int64_t count = std::min<std::int64_t>(at % 97, (1 << 16) - at) + (at % 97 == 0 ? 1 : 0);
      const auto* const in = reinterpret_cast<const std::byte*>(all_halves.data() + at);
      const Bytes wide = cast_bytes(type, Type::f32, in, count, at % 5);
      for (std::int64_t k = 0; k < count; ++k) {
        float x = 0;
        std::memcpy(&x, wide.data() + 4 * k, sizeof x);
        const double expected = number_of(all_halves[z(at + k)], type);
        CHECK(std::isnan(expected) ? std::isnan(x) : static_cast<double>(x) == expected);
        CHECK_EQ(std::signbit(x), all_halves[z(at + k)] >= 0x8000);
      }
      const Bytes round_trip = cast_bytes(Type::f32, type, wide.data(), count, at % 3);
      for (std::int64_t k = 0; k < count; ++k) {
        std::uint16_t half = 0;
        std::memcpy(&half, round_trip.data() + 2 * k, sizeof half);
        if (!std::isnan(number_of(half, type))) CHECK_EQ(half, all_halves[z(at + k)]);
      }
      at += count;
    }
  }
}

TEST(cast, rounds_floats_to_the_nearest_half_and_ties_to_even) {
  for (const Type type : {Type::f16, Type::bf16}) {
    const auto largest = static_cast<std::uint16_t>(type == Type::f16 ? 0x7BFF : 0x7F7F);
    for (std::uint16_t half = 0; half < largest; ++half) {
      const double low = number_of(half, type);
      const double high = number_of(static_cast<std::uint16_t>(half + 1), type);
      const auto middle = static_cast<float>(low + (high - low) / 2);
      const float inputs[] = {middle,
                              std::nextafter(middle, 0.0F),
                              std::nextafter(middle, HUGE_VALF),
                              -middle,
                              -std::nextafter(middle, 0.0F),
                              0,
                              0,
                              0};
      const Bytes out = cast_bytes(Type::f32, type, reinterpret_cast<const std::byte*>(inputs), 8, half % 3);
      std::uint16_t results[8];
      std::memcpy(results, out.data(), sizeof results);
      const bool exact = static_cast<double>(middle) == low + (high - low) / 2;
      const auto even = static_cast<std::uint16_t>(half + (half & 1));
      if (exact) CHECK_EQ(results[0], even);
      if (exact) CHECK_EQ(results[3], static_cast<std::uint16_t>(even | 0x8000));
      if (exact) CHECK_EQ(results[1], half);
      if (exact) CHECK_EQ(results[2], half + 1);
      if (exact) CHECK_EQ(results[4], static_cast<std::uint16_t>(half | 0x8000));
    }
  }
}
