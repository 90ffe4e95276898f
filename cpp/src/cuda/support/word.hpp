// Words: what a thread reads or writes at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "thread.hpp"

namespace varlen::cuda {

struct alignas(16) Word16 {
  std::uint64_t low, high;
};

/// Bytes of the widest word in which rows of `width` bytes at these addresses can be moved.
[[nodiscard]] inline std::int64_t word_of(std::int64_t width,
                                          std::initializer_list<const void*> all) noexcept {
  std::uintptr_t bits = static_cast<std::uintptr_t>(width) | 16;
  for (const void* address : all) bits |= reinterpret_cast<std::uintptr_t>(address);
  return static_cast<std::int64_t>(bits & (~bits + 1));  // the lowest bit that one of them has
}

/// body(Word{}) for the word of so many bytes, that of a number.
template <class Body>
VARLEN_DEVICE void with_narrow_word(int bytes, const Body& body) {
  switch (bytes) {
    case 8:
      return body(std::uint64_t{});
    case 4:
      return body(std::uint32_t{});
    case 2:
      return body(std::uint16_t{});
    default:
      return body(std::uint8_t{});
  }
}

/// The same of any word. One kernel has all of them: what finds out where a word goes is much longer than
/// what moves it.
template <class Body>
VARLEN_DEVICE void with_word(int bytes, const Body& body) {
  return bytes == 16 ? body(Word16{}) : with_narrow_word(bytes, body);
}

}  // namespace varlen::cuda
