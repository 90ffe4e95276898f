// `erase.hpp` on the device: the rows that stay are found, then taken; the stream first. All of it lies
// there.
//
// How many rows stay is known to the device alone. Who makes the output copies the lengths to the host
// between the two calls, and waits for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// Bytes of scratch for both calls, aligned to 16.
[[nodiscard]] std::int64_t erase_scratch(std::int64_t total, std::int64_t longest) noexcept;

/// lengths[i] = how many rows of sequence i equal none of n tokens, which ascend as unsigned integers. Rows
/// and tokens are of one type, aligned: bools, or words of 1, 2, 4 or 8 bytes, unsigned. The longest sequence
/// has `longest` of them.
[[nodiscard]] Error erase_find(Stream stream, Type type, Rows values, Offsets level, std::int64_t longest,
                               const std::byte* tokens, std::int64_t n, std::byte* scratch,
                               std::int64_t* lengths) noexcept;

/// Those rows, `rows_kept` of them: `left` is the level of what erase_find gave, and scratch what it left.
[[nodiscard]] Error erase_take(Stream stream, Rows values, Offsets level, std::byte* scratch, Offsets left,
                               std::int64_t rows_kept, std::byte* out) noexcept;

}  // namespace varlen::cuda
