// Loops that ask for memory before they need it.
#pragma once

#include <cstdint>

namespace varlen {

// Far enough ahead for a line to arrive from memory, near enough that it is still in the first cache.
inline constexpr std::int64_t kPrefetchOffsets = 32;
inline constexpr std::int64_t kPrefetchRows = 16;

/// Asks for the line `past` bytes after item i of items of `width` bytes. It need not lie inside anything: a
/// prefetch cannot fault.
inline void prefetch(const void* base, std::int64_t i, std::int64_t width, std::uintptr_t past = 0) noexcept {
#if defined(__GNUC__)
  const std::uintptr_t bytes = static_cast<std::uintptr_t>(i) * static_cast<std::uintptr_t>(width);
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(base) + bytes + past;
  __builtin_prefetch(reinterpret_cast<const void*>(address));  // NOLINT(performance-no-int-to-ptr)
  // Without it gcc takes a function that only prefetches for one without effects, and drops the calls of it.
  asm volatile("");
#else
  (void)base, (void)i, (void)width, (void)past;
#endif
}

/// body(k) for every k in [begin, end), and ahead(k + distance) before it while that is in range.
template <class Request, class Body>
#if defined(__GNUC__)
[[gnu::always_inline]]
#endif
inline void
with_prefetch(std::int64_t begin, std::int64_t end, std::int64_t distance, Request request,
              Body body) noexcept {
  std::int64_t k = begin;
  for (; k < end - distance; ++k) {
    request(k + distance);
    body(k);
  }
  for (; k < end; ++k) body(k);
}

}  // namespace varlen
