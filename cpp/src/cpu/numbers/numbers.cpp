#include "varlen/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace varlen {
namespace {

constexpr std::int64_t kBlock = 512;

// Calls action with a value of the C++ type that a Number stands for. bool is carried as a byte.
struct Bool {
  std::uint8_t byte;
};

template <class Action>
auto with_type(Number number, Action&& action) noexcept {
  switch (number) {
    case Number::boolean:
      return action(Bool{});
    case Number::u8:
      return action(std::uint8_t{});
    case Number::u16:
      return action(std::uint16_t{});
    case Number::u32:
      return action(std::uint32_t{});
    case Number::u64:
      return action(std::uint64_t{});
    case Number::i8:
      return action(std::int8_t{});
    case Number::i16:
      return action(std::int16_t{});
    case Number::i32:
      return action(std::int32_t{});
    case Number::i64:
      return action(std::int64_t{});
    case Number::f32:
      return action(float{});
    case Number::f64:
      break;
  }
  return action(double{});
}

template <class T>
T read(const std::byte* address) noexcept {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

template <class T>
void write(std::byte* address, T value) noexcept {
  std::memcpy(address, &value, sizeof(T));
}

template <class From>
using Carrier = std::conditional_t<
    std::is_same_v<From, Bool>, Bool,
    std::conditional_t<std::is_floating_point_v<From>, double,
                       std::conditional_t<std::is_same_v<From, std::uint64_t>, std::uint64_t, std::int64_t>>>;

template <class From>
void load(const std::byte* input, std::int64_t stride, std::int64_t count, std::byte* out) noexcept {
  using C = Carrier<From>;
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(C));
  for (std::int64_t i = 0; i < count; ++i) {
    const From value = read<From>(input + i * stride);
    if constexpr (std::is_same_v<From, Bool>) {
      write<std::uint8_t>(out + i, value.byte != 0);
    } else {
      write<C>(out + i * kWidth, static_cast<C>(value));
    }
  }
}

template <class To, class C>
bool fits(C value) noexcept {
  if constexpr (std::is_same_v<To, Bool>) {
    return value == C{0} || value == C{1};
  } else if constexpr (std::is_same_v<To, double>) {
    return true;
  } else if constexpr (std::is_same_v<To, float>) {
    if constexpr (std::is_same_v<C, double>) {
      const double size = std::fabs(value);
      return !(size > static_cast<double>(std::numeric_limits<float>::max())) ||
             size == std::numeric_limits<double>::infinity();
    }
    return true;
  } else if constexpr (std::is_same_v<C, double>) {
    // Both ends are powers of two, so they are exact; NaN fails both.
    constexpr double kLow = static_cast<double>(std::numeric_limits<To>::min());
    const double high = std::ldexp(1.0, std::numeric_limits<To>::digits);
    return value >= kLow && value < high && value == std::trunc(value);
  } else {
    return std::in_range<To>(value);
  }
}

template <class To, class C>
void put(std::byte* out, C value) noexcept {
  if constexpr (std::is_same_v<To, Bool>) {
    write<std::uint8_t>(out, value != C{0});
  } else if constexpr (std::is_same_v<To, float>) {
    write<float>(out, static_cast<float>(static_cast<double>(value)));  // as NumPy rounds, through double
  } else if constexpr (std::is_same_v<C, double> && std::is_integral_v<To>) {
    write<To>(out, fits<To>(value) ? static_cast<To>(value) : To{0});
  } else {
    write<To>(out, static_cast<To>(value));
  }
}

template <class C, class To>
std::int64_t store(const std::byte* input, std::int64_t count, std::byte* out) noexcept {
  constexpr auto kFrom = static_cast<std::int64_t>(sizeof(C));
  constexpr auto kTo = static_cast<std::int64_t>(sizeof(To));
  unsigned bad = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const C value = read<C>(input + i * kFrom);
    bad |= static_cast<unsigned>(!fits<To>(value));
    put<To>(out + i * kTo, value);
  }
  if (bad == 0) return -1;
  std::int64_t i = 0;
  while (fits<To>(read<C>(input + i * kFrom))) ++i;
  return i;
}

}  // namespace

void load_numbers(Number from, const std::byte* input, std::int64_t stride, std::int64_t count,
                  std::byte* carriers) noexcept {
  with_type(from, [&](auto type) {
    using From = decltype(type);
    if (stride == static_cast<std::int64_t>(sizeof(From))) {
      load<From>(input, static_cast<std::int64_t>(sizeof(From)), count, carriers);
    } else {
      load<From>(input, stride, count, carriers);
    }
  });
}

std::int64_t store_numbers(Number carrier, const std::byte* carriers, std::int64_t count, Number to,
                           std::byte* out) noexcept {
  return with_type(to, [&](auto type) -> std::int64_t {
    using To = decltype(type);
    switch (carrier) {
      case Number::boolean:
        return store<std::uint8_t, To>(carriers, count, out);
      case Number::u64:
        return store<std::uint64_t, To>(carriers, count, out);
      case Number::f64:
        return store<double, To>(carriers, count, out);
      default:
        return store<std::int64_t, To>(carriers, count, out);
    }
  });
}

std::int64_t convert_numbers(Number from, const std::byte* input, std::int64_t stride, std::int64_t count,
                             Number to, std::byte* out) noexcept {
  alignas(64) std::byte carriers[kBlock * 8];
  for (std::int64_t start = 0; start < count; start += kBlock) {
    const std::int64_t n = std::min(kBlock, count - start);
    load_numbers(from, input + start * stride, stride, n, carriers);
    const std::int64_t bad = store_numbers(carrier_of(from), carriers, n, to, out + start * width_of(to));
    if (bad >= 0) return start + bad;
  }
  return -1;
}

void measure(const std::int64_t* values, std::int64_t count, Extent& extent) noexcept {
  std::uint64_t bits = extent.bits;
  std::int64_t sign = extent.negative ? -1 : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    bits |= static_cast<std::uint64_t>(values[i] ^ (values[i] >> 63));
    sign |= values[i];
  }
  extent = {bits, sign < 0};
}

void measure(const std::uint64_t* values, std::int64_t count, Extent& extent) noexcept {
  std::uint64_t bits = extent.bits;
  for (std::int64_t i = 0; i < count; ++i) bits |= values[i];
  extent.bits = bits;
}

Number smallest_for(Extent extent) noexcept {
  const std::uint64_t bits = extent.bits;
  if (!extent.negative) {
    if (bits <= UINT8_MAX) return Number::u8;
    if (bits <= UINT16_MAX) return Number::u16;
    return bits <= UINT32_MAX ? Number::u32 : Number::u64;
  }
  if (bits <= INT8_MAX) return Number::i8;
  if (bits <= INT16_MAX) return Number::i16;
  return bits <= INT32_MAX ? Number::i32 : Number::i64;
}

std::int64_t first_beyond_float32(const double* values, std::int64_t count) noexcept {
  constexpr double kLimit = static_cast<double>(std::numeric_limits<float>::max());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto overflows = [](double value) {
    const double size = std::fabs(value);
    return static_cast<unsigned>(size > kLimit) & static_cast<unsigned>(size < kInfinity);
  };
  unsigned bad = 0;
  for (std::int64_t i = 0; i < count; ++i) bad |= overflows(values[i]);
  if (bad == 0) return -1;
  std::int64_t i = 0;
  while (overflows(values[i]) == 0) ++i;
  return i;
}

std::int64_t first_rounded(Number from, const std::byte* input, std::int64_t stride, std::int64_t count,
                           Number to) noexcept {
  const int digits =
      to == Number::f32 ? std::numeric_limits<float>::digits : std::numeric_limits<double>::digits;
  if (from == Number::boolean || from >= Number::f32 || 8 * width_of(from) <= digits) return -1;
  const bool is_signed = carrier_of(from) == Number::i64;
  std::uint64_t carriers[kBlock];
  for (std::int64_t start = 0; start < count; start += kBlock) {
    const std::int64_t n = std::min(kBlock, count - start);
    load_numbers(from, input + start * stride, stride, n, reinterpret_cast<std::byte*>(carriers));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t value = carriers[i];
      const std::uint64_t size = is_signed && value >> 63 != 0 ? std::uint64_t{0} - value : value;
      const auto width = static_cast<int>(std::bit_width(size)) - std::countr_zero(size);
      if (size != 0 && width > digits) return start + i;
    }
  }
  return -1;
}

}  // namespace varlen
