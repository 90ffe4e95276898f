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
bool moves_fast(const std::byte* out, const std::byte* input, std::int64_t bytes) noexcept {
  constexpr std::uintptr_t kPage = 4096;
  constexpr std::uintptr_t kAliasBytes = 512;
  const std::uintptr_t gap =
      (reinterpret_cast<std::uintptr_t>(out) - reinterpret_cast<std::uintptr_t>(input)) % kPage;
  return bytes >= kMovedFrom && bytes <= kMovedTo && (gap == 0 || gap >= kAliasBytes) && runs(Isa::avx512);
}

void move_string(std::byte* out, const std::byte* input, std::int64_t bytes) noexcept {
  __asm__ volatile("rep movsb" : "+D"(out), "+S"(input), "+c"(bytes) : : "memory");
}
#endif

VARLEN_LOOP void copy_any(std::byte* out, const std::byte* input, std::int64_t bytes) noexcept {
  // Up to here a loop, not memcpy: that of glibc comes to rep movsb, which takes up to fifteen times as long
  // where out lies a few bytes past in, counted modulo the page. Past this it stores around the caches by
  // itself.
  constexpr std::int64_t kLimit = std::int64_t{1} << 20;
  constexpr std::int64_t kAlignFrom =
      2048;  // from here on stores that cross no line are worth a first one that does
  if (bytes < kWideBytes || bytes > kLimit) {
    if (bytes > 0) std::memcpy(out, input, static_cast<std::size_t>(bytes));
    return;
  }
  const auto move = [&](std::int64_t place) {
    Wide block;
    std::memcpy(&block, input + place, sizeof block);
    std::memcpy(out + place, &block, sizeof block);
  };
  std::int64_t place = 0;
  if (bytes >= kAlignFrom) {
    move(0);
    place = kWideBytes - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % kWideBytes);
  }
  for (; place + kOverFours <= bytes; place += kOverFours) copy_four(out, input, place);
  for (; place + kWideBytes < bytes; place += kWideBytes) move(place);
  move(bytes - kWideBytes);  // laps over what was written
}

VARLEN_LOOP void fill_any(std::byte* out, std::byte value, std::int64_t bytes) noexcept {
  // memset of glibc does not look where lines begin: runs of 1 to 4 KB that begin anywhere take it 1.2 to 1.6
  // times as long. It is ahead again where a run is longer than the first cache.
  constexpr std::int64_t kLimit = std::int64_t{1} << 15;
  if (bytes < kWideBytes || bytes > kLimit) {
    if (bytes > 0) std::memset(out, static_cast<int>(value), static_cast<std::size_t>(bytes));
    return;
  }
  const Wide block = Wide{} + static_cast<std::uint8_t>(value);
  const auto put = [&](std::int64_t place) { std::memcpy(out + place, &block, sizeof block); };
  put(0);
  std::int64_t place =
      kWideBytes - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % kWideBytes);
  for (; place + kOverFours <= bytes; place += kOverFours) {
    put(place);
    put(place + kWideBytes);
    put(place + 2 * kWideBytes);
    put(place + 3 * kWideBytes);
  }
  for (; place + kWideBytes < bytes; place += kWideBytes) put(place);
  put(bytes - kWideBytes);  // laps over what was written
}

}  // namespace

void fill_bytes(std::byte* out, std::byte value, std::int64_t bytes) noexcept {
  best<fill_any>(out, value, bytes);
}

void copy_bytes(std::byte* out, const std::byte* input, std::int64_t bytes) noexcept {
#ifdef VARLEN_MOVES
  if (moves_fast(out, input, bytes)) {
    move_string(out, input, bytes);
    return;
  }
#endif
  best<copy_any>(out, input, bytes);
}

}  // namespace varlen
