// Sizes are 63 bits; every product and sum that could leave them goes through here.
#pragma once

#include <cstdint>
#include <limits>

namespace varlen {

#if defined(__GNUC__) || defined(__clang__)

/// out = a * b; false where the product does not fit int64, and out is then without meaning.
[[nodiscard]] inline bool checked_mul(std::int64_t a, std::int64_t b, std::int64_t& out) noexcept {
  return !__builtin_mul_overflow(a, b, &out);
}

/// out = a + b; false where the sum does not fit int64, and out is then without meaning.
[[nodiscard]] inline bool checked_add(std::int64_t a, std::int64_t b, std::int64_t& out) noexcept {
  return !__builtin_add_overflow(a, b, &out);
}

#else

[[nodiscard]] inline bool checked_mul(std::int64_t a, std::int64_t b, std::int64_t& out) noexcept {
  constexpr std::int64_t ceiling = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t floor = std::numeric_limits<std::int64_t>::min();
  if (a > 0 ? (b > 0 ? a > ceiling / b : b < floor / a)
            : (b > 0 ? a < floor / b : a != 0 && b < ceiling / a)) {
    return false;
  }
  out = a * b;
  return true;
}

[[nodiscard]] inline bool checked_add(std::int64_t a, std::int64_t b, std::int64_t& out) noexcept {
  if (b > 0 ? a > std::numeric_limits<std::int64_t>::max() - b
            : a < std::numeric_limits<std::int64_t>::min() - b) {
    return false;
  }
  out = a + b;
  return true;
}

#endif

}  // namespace varlen
