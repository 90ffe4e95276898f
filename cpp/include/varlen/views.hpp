// Non-owning views: what every kernel takes and fills.
#pragma once

#include <cstddef>
#include <cstdint>

namespace varlen {

/// One level: count sequences, sequence i covers rows [start(i), ends[i]). The first start is 0.
/// Ends, not offsets, because a file stores them without the leading zero.
struct Offsets {
  const std::int64_t* ends = nullptr;
  std::int64_t count = 0;

  [[nodiscard]] constexpr std::int64_t start(std::int64_t i) const noexcept {
    return i > 0 ? ends[i - 1] : 0;
  }
  [[nodiscard]] constexpr std::int64_t end(std::int64_t i) const noexcept { return ends[i]; }
  [[nodiscard]] constexpr std::int64_t length(std::int64_t i) const noexcept { return end(i) - start(i); }
  [[nodiscard]] constexpr std::int64_t total() const noexcept { return count > 0 ? ends[count - 1] : 0; }
};

/// Rows laid end to end: count rows of width bytes each.
struct Rows {
  const std::byte* data = nullptr;
  std::int64_t count = 0;
  std::int64_t width = 1;
};

/// Rows to be written.
struct RowsOut {
  std::byte* data = nullptr;
  std::int64_t count = 0;
  std::int64_t width = 1;
};

/// A half-open range of rows.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] constexpr std::int64_t size() const noexcept { return end - begin; }
};

}  // namespace varlen
