#include "varlen/copy.hpp"

#include <cstring>

#include "dispatch.hpp"

// AddressSanitizer does not see what rep movsb touches.
#if defined(VARLEN_AVX512) && !defined(__SANITIZE_ADDRESS__)
#define VARLEN_MOVES
#endif

namespace varlen {
namespace {

#ifdef VARLEN_MOVES
// Measured on an AMD EPYC of 2024 with rep movsb: it does not read what it overwrites, and copies of 8 KB to
// 8 MB from the second and the last cache take 0.82 to 0.92 of the time of a loop; below that it is slower.
constexpr std::int64_t kMovedFrom = 8192;
constexpr std::int64_t kMovedTo = std::int64_t{16} << 20;  // memcpy stores around the caches from about here

/// Whether rep movsb is the way. All machines with these sets of instructions have it in microcode that moves
/// lines, but where out lies a few bytes past in, counted modulo the page, it takes up to fifteen times as
/// long.
bool moves_fast(const std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  constexpr std::uintptr_t kPage = 4096;
  constexpr std::uintptr_t kNear = 512;
  const std::uintptr_t ahead =
      (reinterpret_cast<std::uintptr_t>(out) - reinterpret_cast<std::uintptr_t>(in)) % kPage;
  return bytes >= kMovedFrom && bytes <= kMovedTo && (ahead == 0 || ahead >= kNear) && runs(Isa::avx512);
}

void move_string(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  __asm__ volatile("rep movsb" : "+D"(out), "+S"(in), "+c"(bytes) : : "memory");
}
#endif

VARLEN_LOOP void copy_any(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
  // Up to here a loop, not memcpy: that of glibc comes to rep movsb, which takes up to fifteen times as long
  // where out lies a few bytes past in, counted modulo the page. Past this it stores around the caches by
  // itself.
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  constexpr std::int64_t kAligned =
      2048;  // from here on stores that cross no line are worth a first one that does
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
  for (; at + kOverFours <= bytes; at += kOverFours) copy_four(out, in, at);
  for (; at + kOver < bytes; at += kOver) move(at);
  move(bytes - kOver);  // laps over what was written
}

VARLEN_LOOP void fill_any(std::byte* out, std::byte value, std::int64_t bytes) noexcept {
  // memset of glibc does not look where lines begin: runs of 1 to 4 KB that begin anywhere take it 1.2 to 1.6
  // times as long. It is ahead again where a run is longer than the first cache.
  constexpr std::int64_t kMost = std::int64_t{1} << 15;
  if (bytes < kOver || bytes > kMost) {
    if (bytes > 0) std::memset(out, static_cast<int>(value), static_cast<std::size_t>(bytes));
    return;
  }
  const Wide block = Wide{} + static_cast<std::uint8_t>(value);
  const auto put = [&](std::int64_t at) { std::memcpy(out + at, &block, sizeof block); };
  put(0);
  std::int64_t at = kOver - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % kOver);
  for (; at + kOverFours <= bytes; at += kOverFours) {
    put(at);
    put(at + kOver);
    put(at + 2 * kOver);
    put(at + 3 * kOver);
  }
  for (; at + kOver < bytes; at += kOver) put(at);
  put(bytes - kOver);  // laps over what was written
}

}  // namespace

void fill_bytes(std::byte* out, std::byte value, std::int64_t bytes) noexcept {
  best<fill_any>(out, value, bytes);
}

void copy_bytes(std::byte* out, const std::byte* in, std::int64_t bytes) noexcept {
#ifdef VARLEN_MOVES
  if (moves_fast(out, in, bytes)) {
    move_string(out, in, bytes);
    return;
  }
#endif
  best<copy_any>(out, in, bytes);
}

}  // namespace varlen
