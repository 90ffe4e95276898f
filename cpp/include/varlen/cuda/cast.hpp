// `cast.hpp` on the device: elements from one dtype to another, the stream first.
//
// Nobody looks at the numbers: a finite one that is too large for a float becomes infinite, and what does not
// fit an integer dtype becomes some number of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/cuda/stream.hpp"

namespace varlen::cuda {

/// `nan`: what takes the place of NaN, an element of `to` on the host; null: NaN stays.
[[nodiscard]] Error cast(Stream stream, Type from, Type to, const std::byte* nan, const std::byte* input,
                         std::int64_t count, std::byte* out) noexcept;

/// A byte for each element of a float dtype: 1 where it is NaN.
[[nodiscard]] Error nan_mask(Stream stream, Type from, const std::byte* input, std::int64_t count,
                             std::byte* out) noexcept;

}  // namespace varlen::cuda
