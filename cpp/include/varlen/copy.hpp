// Small copies and fills, inline: what a call to memcpy or memset would cost more than for short rows.
// Fixed-size memcpy is one load and one store on every target; no intrinsics are needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace varlen {

namespace detail {

template <std::size_t N>
inline void move_fixed(std::byte* out, const std::byte* in) noexcept {
  std::byte block[N];
  std::memcpy(block, in, N);
  std::memcpy(out, block, N);
}

/// N <= bytes <= 2 N: two moves that overlap in the middle.
template <std::size_t N>
inline void move_ends(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  std::byte head[N];
  std::byte tail[N];
  std::memcpy(head, in, N);
  std::memcpy(tail, in + bytes - N, N);
  std::memcpy(out, head, N);
  std::memcpy(out + bytes - N, tail, N);
}

}  // namespace detail

/// out[0, bytes) = in[0, bytes) and nothing else, for rows of any length. No overlap.
void copy_bytes(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept;

/// out[0, bytes) = value, again and again, and nothing else.
void fill_bytes(std::byte* out, std::byte value, std::int64_t bytes) noexcept;

/// Where a call is as fast as inline code.
inline constexpr std::int64_t kInlineBytes = 128;

/// The same, inline for short rows.
inline void copy_exact(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  if (bytes >= 16) {
    if (bytes > kInlineBytes) {
      copy_bytes(out, in, bytes);
      return;
    }
    if (bytes <= 32) return detail::move_ends<16>(out, in, bytes);
    for (std::int64_t at = 0; at < bytes - 16; at += 16) detail::move_fixed<16>(out + at, in + at);
    detail::move_fixed<16>(out + bytes - 16, in + bytes - 16);
  } else if (bytes >= 8) {
    detail::move_ends<8>(out, in, bytes);
  } else if (bytes >= 4) {
    detail::move_ends<4>(out, in, bytes);
  } else if (bytes > 0) {
    const std::byte first = in[0];
    const std::byte middle = in[bytes / 2];
    const std::byte last = in[bytes - 1];
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
  for (std::int64_t done = fill.unit; done < bytes;) {
    const std::int64_t step = done < bytes - done ? done : bytes - done;
    std::memcpy(out + done, out, static_cast<std::size_t>(step));
    done += step;
  }
}

/// As fill_exact, but may write up to 15 bytes behind. Only for patterns with `blocks`.
inline void fill_over(std::byte* out, std::int64_t bytes, const FillPattern& fill) noexcept {
  if (bytes > kInlineBytes && fill.uniform) {
    fill_bytes(out, fill.block[0], bytes);
    return;
  }
  for (std::int64_t at = 0; at < bytes; at += 16) std::memcpy(out + at, fill.block, 16);
}

// Whole vectors, which may run over the end by up to kOver bytes: that costs less than to be exact, where the
// room is the caller's own and is written again, or read, afterwards.

/// Sixteen bytes in a register; compilers map it to what the machine has.
using Vec = std::uint8_t __attribute__((vector_size(16)));

inline Vec load(const std::byte* at) noexcept {
  Vec v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

inline void store(std::byte* at, Vec v) noexcept {
  std::memcpy(at, &v, sizeof v);
}

/// What copy_over and fill_over with a vector may touch past the end.
inline constexpr std::int64_t kOver = 32;

/// kOver bytes in registers, as wide as the function that holds it was compiled for.
using Wide = std::uint8_t __attribute__((vector_size(kOver)));

/// From here on copy_bytes is worth its call beside copy_over: its loop moves four times as much a turn.
inline constexpr std::int64_t kOverMost = 512;

/// Copies bytes >= 0; reads and writes fewer than kOver bytes more.
inline void copy_over(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  for (std::int64_t at = 0; at < bytes; at += kOver) {
    Wide block;
    std::memcpy(&block, in + at, sizeof block);
    std::memcpy(out + at, &block, sizeof block);
  }
}

/// Bytes of four vectors, which copy_fours may touch past the end.
inline constexpr std::int64_t kOverFours = 4 * kOver;

/// The four from `at` on, all read before the first is written: a turn of every loop that copies by fours.
[[gnu::always_inline]] inline void copy_four(std::byte* out, const std::byte* in, std::int64_t at) noexcept {
  Wide a, b, c, d;
  std::memcpy(&a, in + at, kOver);
  std::memcpy(&b, in + at + kOver, kOver);
  std::memcpy(&c, in + at + 2 * kOver, kOver);
  std::memcpy(&d, in + at + 3 * kOver, kOver);
  std::memcpy(out + at, &a, kOver);
  std::memcpy(out + at + kOver, &b, kOver);
  std::memcpy(out + at + 2 * kOver, &c, kOver);
  std::memcpy(out + at + 3 * kOver, &d, kOver);
}

/// As copy_over, four vectors a turn and fewer than kOverFours bytes more: one branch that waits for the
/// length, where a copy to the byte has three.
inline void copy_fours(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  for (std::int64_t at = 0; at < bytes; at += kOverFours) copy_four(out, in, at);
}

/// Writes pattern[0, kOver) again and again over bytes >= 0; writes fewer than kOver bytes more.
inline void fill_over(std::byte* out, std::int64_t bytes, const std::byte* pattern) noexcept {
  Wide block;
  std::memcpy(&block, pattern, sizeof block);
  for (std::int64_t at = 0; at < bytes; at += kOver) std::memcpy(out + at, &block, sizeof block);
}

}  // namespace varlen
