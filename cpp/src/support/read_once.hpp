// Memory that another thread may write while it is read.
#pragma once

#include <cstdint>

namespace varlen {

/// Reads a number once: what is checked is what is used, whatever the compiler would like to read again.
template <class T>
[[nodiscard]] inline T read_once(const T* address) noexcept {
  return *static_cast<const volatile T*>(address);
}

/// Whether i is one of `count` things; those below zero are not.
[[nodiscard]] constexpr bool is_inside(std::int64_t i, std::int64_t count) noexcept {
  return static_cast<std::uint64_t>(i) < static_cast<std::uint64_t>(count);
}

}  // namespace varlen
