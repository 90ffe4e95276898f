// Sums of rows that lie a fixed step apart, all in the order in which they lie: what the ways back share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "support/sums.hpp"
#include "varlen/window.hpp"

namespace varlen {

/// Rows of `count` numbers, n of them, the first at `first`, each `step` bytes after the one before it.
struct Addends {
  const std::byte* first = nullptr;
  std::int64_t step = 0;
  std::int64_t n = 0;
};

/// The windows of its sequence that a row lies in: n from the first on.
struct WindowRange {
  std::int64_t first = 0;
  std::int64_t n = 0;
};
inline WindowRange windows_over(std::int64_t place, std::int64_t windows, const Stepping& how) noexcept {
  const std::int64_t first = place < how.size ? 0 : (place - how.size) / how.step + 1;
  const std::int64_t last = std::min(place / how.step, windows - 1);
  return {first, std::max<std::int64_t>(last + 1 - first, 0)};
}

/// What comes out: the dtype that went in; the mean of integers is a double.
template <class T, bool mean>
using SumType = std::conditional_t<mean && !kFloat<T>, double, T>;

template <class T>
struct Lanes {
  static constexpr std::int64_t kCount = 32 / static_cast<std::int64_t>(sizeof(T));
  using Type __attribute__((vector_size(32))) = T;
};

/// The numbers of kVectors vectors from number c on, in registers while all rows go by.
template <class T, bool mean, int kVectors>
[[gnu::always_inline]] inline void sum_vectors(const Addends& rows, std::int64_t c, std::byte* out) noexcept {
  using V = typename Lanes<T>::Type;
  const std::byte* place = rows.first + c * static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kBytes = sizeof(V);
  // Vector by vector: a copy of all at once goes by way of the stack.
  V sums[kVectors];
  V x;
  for (int v = 0; v < kVectors; ++v) {
    std::memcpy(&x, place + v * kBytes, sizeof x);
    sums[v] = x;
  }
  for (std::int64_t k = 1; k < rows.n; ++k) {
    place += rows.step;
    for (int v = 0; v < kVectors; ++v) {
      std::memcpy(&x, place + v * kBytes, sizeof x);
      sums[v] += x;
    }
  }
  out += c * static_cast<std::int64_t>(sizeof(T));
  for (int v = 0; v < kVectors; ++v) {
    x = sums[v];
    if constexpr (mean) x /= static_cast<T>(rows.n);
    std::memcpy(out + v * kBytes, &x, sizeof x);
  }
}

/// Numbers [c, c + many) of the sum, 16 at most.
template <class T, bool mean, class Count>
[[gnu::always_inline]] inline void sum_some(const Addends& rows, std::int64_t c, Count lanes,
                                            std::byte* out) noexcept {
  using A = Sum<T, mean>;
  using R = SumType<T, mean>;
  A sums[16];
  const std::byte* place = rows.first + c * static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t j = 0; j < lanes; ++j) sums[j] = convert<A>(read<T>(place, j));
  for (std::int64_t k = 1; k < rows.n; ++k) {
    place += rows.step;
    for (std::int64_t j = 0; j < lanes; ++j) add(sums[j], convert<A>(read<T>(place, j)));
  }
  for (std::int64_t j = 0; j < lanes; ++j) {
    if constexpr (mean) {
      write(out, c + j, convert<R>(static_cast<A>(sums[j] / static_cast<A>(rows.n))));
    } else {
      write(out, c + j, convert<R>(sums[j]));
    }
  }
}

/// out[0, count) = the sum of the rows, or their mean; zeros where there are none.
template <class T, bool mean>
[[gnu::always_inline]] inline void sum_rows(const Addends& rows, std::int64_t count,
                                            std::byte* out) noexcept {
  using R = SumType<T, mean>;
  if (rows.n == 0) {
    std::memset(out, 0, static_cast<std::size_t>(count) * sizeof(R));
    return;
  }
  std::int64_t c = 0;
  if constexpr (std::is_same_v<Sum<T, mean>, T> && !std::is_same_v<T, Bool>) {
    constexpr std::int64_t kLanes = Lanes<T>::kCount;
    for (; c + 4 * kLanes <= count; c += 4 * kLanes) sum_vectors<T, mean, 4>(rows, c, out);
    for (; c + kLanes <= count; c += kLanes) sum_vectors<T, mean, 1>(rows, c, out);
    if (c < count && count >= kLanes) {
      sum_vectors<T, mean, 1>(rows, count - kLanes, out);  // laps over what was written
      return;
    }
  }
  for (; c + 16 <= count; c += 16)
    sum_some<T, mean>(rows, c, std::integral_constant<std::int64_t, 16>{}, out);
  for (; c < count; c += 16) sum_some<T, mean>(rows, c, count - c < 16 ? count - c : 16, out);
}

/// out[0, bytes) += input[0, bytes), numbers of T.
template <class T>
[[gnu::always_inline]] inline void add_run(const std::byte* input, std::int64_t bytes,
                                           std::byte* out) noexcept {
  using V = typename Lanes<T>::Type;
  std::int64_t place = 0;
  for (; place + 32 <= bytes; place += 32) {
    V a, b;
    std::memcpy(&a, out + place, sizeof a);
    std::memcpy(&b, input + place, sizeof b);
    a += b;
    std::memcpy(out + place, &a, sizeof a);
  }
  for (; place < bytes; place += static_cast<std::int64_t>(sizeof(T))) {
    T a, b;
    std::memcpy(&a, out + place, sizeof a);
    std::memcpy(&b, input + place, sizeof b);
    a = static_cast<T>(a + b);
    std::memcpy(out + place, &a, sizeof a);
  }
}

}  // namespace varlen
