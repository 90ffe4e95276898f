// Memory of the device as bodies of kernels read and write it. On the host every access is checked.
#pragma once

#include <cstdint>
#include <type_traits>

#include "thread.hpp"

#if !defined(__CUDACC__)
#include "grid_host.hpp"
#endif

namespace varlen::cuda {

/// `count` elements that lie end to end, aligned as their type is.
template <class T>
struct View {
  T* data = nullptr;
  std::int64_t count = 0;

  [[nodiscard]] VARLEN_DEVICE T& operator[](std::int64_t i) const {
#if !defined(__CUDACC__)
    host::check_access(data, alignof(T), i, count);
#endif
    return data[i];
  }
};

/// The ends of sequences on the device: sequence i covers rows [start(i), end(i)).
struct Ends {
  View<const std::int64_t> ends;

  [[nodiscard]] VARLEN_DEVICE std::int64_t count() const { return ends.count; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t start(std::int64_t i) const { return i > 0 ? ends[i - 1] : 0; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t end(std::int64_t i) const { return ends[i]; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t length(std::int64_t i) const { return end(i) - start(i); }

  /// The sequence in [low, high] that holds a row; the row lies in one of them.
  [[nodiscard]] VARLEN_DEVICE std::int64_t holding(std::int64_t row, std::int64_t low,
                                                   std::int64_t high) const {
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (end(middle) <= row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

}  // namespace varlen::cuda
