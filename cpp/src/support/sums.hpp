// What numbers of one dtype are summed in.
#pragma once

#include <cstdint>
#include <type_traits>

#include "elements.hpp"

namespace varlen {

/// What numbers of T are added in: integers wrap, which unsigned ones may.
template <class T, bool mean>
using Sum = std::conditional_t<kHalf<T>, float, std::conditional_t<mean && !kFloat<T>, double, T>>;

inline void add(Bool& sum, Bool x) noexcept {
  sum.byte = static_cast<std::uint8_t>((sum.byte | x.byte) != 0);
}
template <class A>
void add(A& sum, A x) noexcept {
  sum = static_cast<A>(sum + x);
}

}  // namespace varlen
