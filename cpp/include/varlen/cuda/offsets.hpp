// `offsets.hpp` on the device: what people ask of a level, the stream first. Levels and outputs lie there.
#pragma once

#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// level.count of them.
[[nodiscard]] Error lengths_of(Stream stream, Offsets level, std::int64_t* lengths) noexcept;
/// level.count + 1 of them: only where no number is beyond int32.
[[nodiscard]] Error offsets_of(Stream stream, Offsets level, std::int32_t* offsets) noexcept;
/// `total` of them.
[[nodiscard]] Error row_ids_of(Stream stream, Offsets level, std::int64_t total,
                               std::int64_t* row_ids) noexcept;
[[nodiscard]] Error positions_of(Stream stream, Offsets level, std::int64_t total,
                                 std::int64_t* positions) noexcept;

}  // namespace varlen::cuda
