// `window.hpp` on the device: the same functions, the stream first. Levels, ends and rows lie there; `total`
// is how many rows the level has, `rows` how many come in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"
#include "varlen/window.hpp"

namespace varlen::cuda {

/// Here `total` is how many rows are kept.
[[nodiscard]] Error seq2col(Stream stream, Rows values, Offsets level, Offsets centers, Window how,
                            std::int64_t total, std::byte* out) noexcept;

[[nodiscard]] Error backprop_seq2col(Stream stream, Type type, const std::byte* dy, std::int64_t rows,
                                     std::int64_t count, Offsets level, Offsets centers, Window how,
                                     std::int64_t total, std::byte* dx) noexcept;
[[nodiscard]] Error merge_windows(Stream stream, Type type, const std::byte* y, std::int64_t rows,
                                  std::int64_t count, Offsets level, Offsets counts, Offsets windows,
                                  Stepping how, bool mean, std::int64_t total, std::byte* out) noexcept;
[[nodiscard]] Error share_windows(Stream stream, Type type, const std::byte* dx, std::int64_t count,
                                  Offsets level, Offsets counts, Stepping how, std::int64_t total,
                                  std::byte* out) noexcept;

}  // namespace varlen::cuda
