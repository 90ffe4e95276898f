// `expand.hpp` on the device: the same functions, the stream first. Levels and rows lie there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

[[nodiscard]] Error expand(Stream stream, Offsets level, std::int64_t total, Rows rows,
                           std::byte* out) noexcept;
[[nodiscard]] Error expand_end(Stream stream, Offsets level, std::int64_t total, Rows rows, bool last,
                               std::byte* out) noexcept;

/// A row of its sequence for each element: one of the two. What names none, its sequence has none.
struct WhichRows {
  const std::int64_t* wide = nullptr;
  const std::int32_t* narrow = nullptr;
};

/// rows: level.count rows of `columns` elements of `size` bytes.
[[nodiscard]] Error expand_which(Stream stream, Offsets level, std::int64_t total, const std::byte* rows,
                                 std::int64_t columns, std::int64_t size, WhichRows which,
                                 std::byte* out) noexcept;

}  // namespace varlen::cuda
