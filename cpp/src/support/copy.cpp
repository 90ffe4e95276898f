#include "varlen/copy.hpp"

#include <cstring>

#include "dispatch.hpp"

namespace varlen {
namespace {

VARLEN_LOOP void copy_any(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  // Up to here a loop, not memcpy: that of glibc comes to rep movsb, which takes up to fifteen times as long
  // where out lies a few bytes past in, counted modulo the page. Past this it stores around the caches by
  // itself.
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  constexpr std::int64_t kAligned =
      2048;  // from here on stores that cross no line are worth a first one that does
  constexpr std::int64_t kStep = 4 * kOver;
  if (bytes < kOver || bytes > kMost) {
    if (bytes > 0) std::memcpy(out, in, static_cast<std::size_t>(bytes));
    return;
  }
  const auto move = [&](std::int64_t at) {
    Wide block;
    std::memcpy(&block, in + at, sizeof block);
    std::memcpy(out + at, &block, sizeof block);
  };
  std::int64_t at = 0;
  if (bytes >= kAligned) {
    move(0);
    at = kOver - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % kOver);
  }
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
  for (; at + kOver < bytes; at += kOver) move(at);
  move(bytes - kOver);  // laps over what was written
}

}  // namespace

void copy_bytes(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  best<copy_any>(out, in, bytes);
}

}  // namespace varlen
