// What fill is made of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "varlen/copy.hpp"

namespace varlen {

/// The fill pattern, again and again, so that whole vectors can be taken from it at any place in its period.
struct Pattern {
  static constexpr std::int64_t kLine = 64;

  alignas(64) std::byte bytes[2 * kLine]{};
  std::int64_t period = 1;          ///< of what is in bytes; above kLine only wide holds it
  std::int64_t step = kLine;        ///< whole periods in a line
  bool uniform = true;              ///< one byte, again and again
  const std::byte* wide = nullptr;  ///< a pattern of more than a line

  /// fill holds `size` bytes; null is zero bytes. Looks for the shortest period of a power of two.
  Pattern(const std::byte* fill, std::int64_t size) noexcept {
    if (fill == nullptr || size <= 0) return;
    period = size;
    for (std::int64_t p = 1; p <= 16 && p < size; p *= 2) {
      if (size % p == 0 && std::memcmp(fill, fill + p, static_cast<std::size_t>(size - p)) == 0) {
        period = p;
        break;
      }
    }
    uniform = period == 1;
    if (period > kLine) {
      wide = fill;
      return;
    }
    step = kLine / period * period;
    for (std::int64_t i = 0; i < 2 * kLine; ++i) bytes[i] = fill[i % period];
  }

  /// Whether vec(), stored again and again, is the pattern.
  [[nodiscard]] bool repeats_in_vector() const noexcept { return period <= 16 && step == kLine; }

  [[nodiscard]] Vec vec(std::int64_t place = 0) const noexcept { return load(bytes + place); }
};

/// The pattern of a mask.
inline constexpr auto kOnes = [] {
  std::array<std::byte, 2 * Pattern::kLine> bytes{};
  bytes.fill(std::byte{1});
  return bytes;
}();

}  // namespace varlen
