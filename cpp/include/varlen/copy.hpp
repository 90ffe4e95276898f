// Small copies and fills, inline: what a call to memcpy or memset would cost more than for short rows.
// Fixed-size memcpy is one load and one store on every target; no intrinsics are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace varlen {

namespace detail {

/// N is a power of two. A vector, because an array would be written to the stack as well.
template <std::size_t N>
inline void move_fixed(std::byte* out, const std::byte* input) noexcept {
  std::uint8_t __attribute__((vector_size(N))) block;
  std::memcpy(&block, input, N);
  std::memcpy(out, &block, N);
}

/// N <= bytes <= 2 N: two moves that overlap in the middle.
template <std::size_t N>
inline void move_ends(std::byte* out, const std::byte* input, std::int64_t bytes) noexcept {
  std::byte head[N];
  std::byte tail[N];
  std::memcpy(head, input, N);
  std::memcpy(tail, input + bytes - N, N);
  std::memcpy(out, head, N);
  std::memcpy(out + bytes - N, tail, N);
}

}  // namespace detail

/// out[0, bytes) = input[0, bytes) and nothing else, for rows of any length. No overlap.
void copy_bytes(std::byte* out, const std::byte* input, std::int64_t bytes) noexcept;

/// out[0, bytes) = value, again and again, and nothing else.
void fill_bytes(std::byte* out, std::byte value, std::int64_t bytes) noexcept;

/// Where a call is as fast as inline code.
inline constexpr std::int64_t kInlineBytes = 128;

/// The same, inline for short rows.
inline void copy_exact(std::byte* out, const std::byte* input, std::int64_t bytes) noexcept {
  if (bytes >= 16) {
    if (bytes > kInlineBytes) {
      copy_bytes(out, input, bytes);
      return;
    }
    if (bytes <= 32) return detail::move_ends<16>(out, input, bytes);
    for (std::int64_t place = 0; place < bytes - 16; place += 16)
      detail::move_fixed<16>(out + place, input + place);
    detail::move_fixed<16>(out + bytes - 16, input + bytes - 16);
  } else if (bytes >= 8) {
    detail::move_ends<8>(out, input, bytes);
  } else if (bytes >= 4) {
    detail::move_ends<4>(out, input, bytes);
  } else if (bytes > 0) {
    const std::byte first = input[0];
    const std::byte middle = input[bytes / 2];
    const std::byte last = input[bytes - 1];
    out[0] = first;
    out[bytes / 2] = middle;
    out[bytes - 1] = last;
  }
}

/// A fill value of `unit` bytes, spread over 16 where it divides them or all its bytes are the same.
struct FillPattern {
  alignas(16) std::byte block[16] = {};
  const std::byte* value = nullptr;  ///< null is zero bytes
  std::int64_t unit = 1;
  bool blocks = true;   ///< block, stored again and again, is the pattern
  bool uniform = true;  ///< all bytes are block[0]

  FillPattern() = default;
  FillPattern(const std::byte* value_, std::int64_t unit_) noexcept : value(value_), unit(unit_) {
    if (value == nullptr || unit <= 0) {
      value = nullptr;
      return;
    }
    for (std::int64_t i = 1; i < unit; ++i) uniform = uniform && value[i] == value[0];
    blocks = uniform || (unit <= 16 && 16 % unit == 0);
    if (!blocks) return;
    for (std::int64_t i = 0; i < 16; ++i) block[i] = value[uniform ? 0 : i % unit];
  }
};

/// out[0, bytes) = the pattern from its start, bytes a multiple of its unit. Writes nothing else.
inline void fill_exact(std::byte* out, std::int64_t bytes, const FillPattern& fill) noexcept {
  if (bytes <= 0) return;
  if (fill.uniform) {
    fill_bytes(out, fill.block[0], bytes);
    return;
  }
  std::memcpy(out, fill.value, static_cast<std::size_t>(fill.unit));
  for (std::int64_t end = fill.unit; end < bytes;) {
    const std::int64_t step = end < bytes - end ? end : bytes - end;
    std::memcpy(out + end, out, static_cast<std::size_t>(step));
    end += step;
  }
}

/// As fill_exact, but may write up to 15 bytes behind. Only for patterns with `blocks`.
inline void fill_over(std::byte* out, std::int64_t bytes, const FillPattern& fill) noexcept {
  if (bytes > kInlineBytes && fill.uniform) {
    fill_bytes(out, fill.block[0], bytes);
    return;
  }
  for (std::int64_t place = 0; place < bytes; place += 16) std::memcpy(out + place, fill.block, 16);
}

// Whole vectors, which may run over the end by up to kWideBytes bytes: that costs less than to be exact,
// where the room is the caller's own and is written again, or read, afterwards.

/// Sixteen bytes in a register; compilers map it to what the machine has.
using Vec = std::uint8_t __attribute__((vector_size(16)));

inline Vec load(const std::byte* place) noexcept {
  Vec v;
  std::memcpy(&v, place, sizeof v);
  return v;
}

inline void store(std::byte* place, Vec v) noexcept {
  std::memcpy(place, &v, sizeof v);
}

/// What copy_over and fill_over with a vector may touch past the end.
inline constexpr std::int64_t kWideBytes = 32;

/// kWideBytes bytes in registers, as wide as the function that holds it was compiled for.
using Wide = std::uint8_t __attribute__((vector_size(kWideBytes)));

/// From here on copy_bytes is worth its call beside copy_over: its loop moves four times as much a turn.
inline constexpr std::int64_t kOverMost = 512;

/// Copies bytes >= 0; reads and writes fewer than kWideBytes bytes more.
inline void copy_over(std::byte* out, const std::byte* input, std::int64_t bytes) noexcept {
  for (std::int64_t place = 0; place < bytes; place += kWideBytes) {
    Wide block;
    std::memcpy(&block, input + place, sizeof block);
    std::memcpy(out + place, &block, sizeof block);
  }
}

/// Bytes of four vectors, which copy_fours may touch past the end.
inline constexpr std::int64_t kOverFours = 4 * kWideBytes;

/// The four from `place` on, all read before the first is written: a turn of every loop that copies by fours.
[[gnu::always_inline]] inline void copy_four(std::byte* out, const std::byte* input,
                                             std::int64_t place) noexcept {
  Wide a, b, c, d;
  std::memcpy(&a, input + place, kWideBytes);
  std::memcpy(&b, input + place + kWideBytes, kWideBytes);
  std::memcpy(&c, input + place + 2 * kWideBytes, kWideBytes);
  std::memcpy(&d, input + place + 3 * kWideBytes, kWideBytes);
  std::memcpy(out + place, &a, kWideBytes);
  std::memcpy(out + place + kWideBytes, &b, kWideBytes);
  std::memcpy(out + place + 2 * kWideBytes, &c, kWideBytes);
  std::memcpy(out + place + 3 * kWideBytes, &d, kWideBytes);
}

/// As copy_over, four vectors a turn and fewer than kOverFours bytes more: one branch that waits for the
/// length, where a copy to the byte has three.
inline void copy_fours(std::byte* out, const std::byte* input, std::int64_t bytes) noexcept {
  for (std::int64_t place = 0; place < bytes; place += kOverFours) copy_four(out, input, place);
}

/// Writes pattern[0, kWideBytes) again and again over bytes >= 0; writes fewer than kWideBytes bytes more.
inline void fill_over(std::byte* out, std::int64_t bytes, const std::byte* pattern) noexcept {
  Wide block;
  std::memcpy(&block, pattern, sizeof block);
  for (std::int64_t place = 0; place < bytes; place += kWideBytes)
    std::memcpy(out + place, &block, sizeof block);
}

}  // namespace varlen
