// `pack.hpp` on the device: the same functions, the stream first. Columns are ordered on the host; rows,
// levels and what is said of the columns lie on the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/fill.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// A time-major block. Padded, `steps` of as many slots as there are columns; packed, sequences of a level:
/// `packed` of as many rows as there are columns that are longer, `total` in all.
struct Steps {
  std::int64_t count = 0;
  std::int64_t columns = 0;
  Offsets packed;  ///< no ends: padded
  std::int64_t total = 0;

  [[nodiscard]] constexpr bool is_padded() const noexcept { return packed.ends == nullptr; }
};

/// Column k is sequence indices[k] of the level.
[[nodiscard]] Error pack(Stream stream, Steps steps, Rows values, Offsets level, const std::int64_t* indices,
                         Fill fill, std::byte* out) noexcept;

/// The way back: sequence i of the level is column columns[i] of the block.
[[nodiscard]] Error unpack(Stream stream, Steps steps, const std::byte* block, std::int64_t width,
                           Offsets level, const std::int64_t* columns, std::int64_t total,
                           std::byte* out) noexcept;

}  // namespace varlen::cuda
