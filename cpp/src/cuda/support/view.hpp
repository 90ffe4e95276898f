// Memory of the device as bodies of kernels read and write it. On the host every access is checked.
#pragma once

#include <cstddef>
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

/// The T that lies so many bytes behind the start: an address that serves for words of any width.
template <class T>
[[nodiscard]] VARLEN_DEVICE T word_at(View<const std::byte> bytes, std::int64_t offset) {
#if !defined(__CUDACC__)
  const auto size = static_cast<std::int64_t>(sizeof(T));
  host::check_access(bytes.data + offset, alignof(T), offset, bytes.count - size + 1);
#endif
  return *reinterpret_cast<const T*>(bytes.data + offset);
}

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
