// Sizes are 63 bits; every product and sum that could leave them goes through here.
#pragma once

#include <cstdint>

namespace varlen {

/// out = a * b; false where the product does not fit int64.
[[nodiscard]] inline bool checked_mul(std::int64_t a, std::int64_t b, std::int64_t& out) noexcept {
  return !__builtin_mul_overflow(a, b, &out);
}

/// out = a + b; false where the sum does not fit int64.
[[nodiscard]] inline bool checked_add(std::int64_t a, std::int64_t b, std::int64_t& out) noexcept {
  return !__builtin_add_overflow(a, b, &out);
}

}  // namespace varlen
