// Plain numbers of every width: from one to another with each value checked.
// Blocks are small (a few KB), stay in the first cache, and are one loop each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace varlen {

enum class Number : std::uint8_t { boolean, u8, u16, u32, u64, i8, i16, i32, i64, f32, f64 };

[[nodiscard]] constexpr int width_of(Number number) noexcept {
  constexpr int widths[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return widths[static_cast<int>(number)];
}

/// What numbers are carried in between: boolean, i64, u64 or f64.
[[nodiscard]] constexpr Number carrier_of(Number number) noexcept {
  if (number == Number::boolean) return Number::boolean;
  if (number >= Number::f32) return Number::f64;
  return number >= Number::i8 || number != Number::u64 ? Number::i64 : Number::u64;
}

/// Reads count values, `stride` bytes apart, into carriers of their kind (see carrier_of). Every value fits.
void load_numbers(Number from, const std::byte* input, std::int64_t stride, std::int64_t count,
                  std::byte* carriers) noexcept;

/// Writes carriers of kind `carrier` as `to`. Gives the place of the first value that `to` cannot hold, or
/// -1; what is written then is not to be used. Into integers only whole numbers fit, into bool 0 and 1;
/// infinities and NaN fit floats, and 64-bit integers round to them.
std::int64_t store_numbers(Number carrier, const std::byte* carriers, std::int64_t count, Number to,
                           std::byte* out) noexcept;

/// from -> to for any two kinds and any count, block by block. -1 or the place of the first misfit.
std::int64_t convert_numbers(Number from, const std::byte* input, std::int64_t stride, std::int64_t count,
                             Number to, std::byte* out) noexcept;

/// What integers need: or-ed magnitudes (x, or ~x below zero), and whether one is below zero.
struct Extent {
  std::uint64_t bits = 0;
  bool negative = false;
};

/// Widens `extent` by count numbers.
void measure(const std::int64_t* values, std::int64_t count, Extent& extent) noexcept;
void measure(const std::uint64_t* values, std::int64_t count, Extent& extent) noexcept;

/// The smallest integer kind for an extent: unsigned where nothing is below zero.
[[nodiscard]] Number smallest_for(Extent extent) noexcept;

/// The place of the first finite value beyond float32's range, or -1.
std::int64_t first_beyond_float32(const double* values, std::int64_t count) noexcept;

/// The place of the first integer that would be rounded to become `to`, f32 or f64, or -1.
std::int64_t first_rounded(Number from, const std::byte* input, std::int64_t stride, std::int64_t count,
                           Number to) noexcept;

}  // namespace varlen
