// `reduce.hpp` on the device: the same functions, the stream first. Levels, values and outputs lie there.
//
// `total` is level.total(), which the host knows. Rows are folded in lanes, lanes by halves, chunks of a
// sequence likewise: how many there are depends on the columns and the length of the sequence alone, so that
// the bits are the same for a sequence alone and in any batch, and from run to run. float is added up in
// float inside a chunk and in double above it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/reduce.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// Bytes of scratch on the device that `reduce` and `reduce_extreme` need, aligned to 16: none, but where a
/// sequence is longer than a chunk.
[[nodiscard]] std::int64_t reduce_scratch(const ReduceJob& job, std::int64_t total) noexcept;

/// out: level.count rows of `columns` elements of `type`: what the caller wants, in the place of
/// reduced_type. Whole numbers become whole numbers or f64, floats any float. job.empty is an element of
/// `type` on the host.
[[nodiscard]] Error reduce(Stream stream, const ReduceJob& job, std::int64_t total, Type type,
                           std::byte* scratch, std::byte* out) noexcept;

/// Max or min and the first row that holds it, or NaN; -1 for empty sequences. out: of the values' type.
[[nodiscard]] Error reduce_extreme(Stream stream, const ReduceJob& job, std::int64_t total,
                                   std::byte* scratch, std::byte* out, Places which) noexcept;

/// Bytes of scratch on the device, aligned to 16.
[[nodiscard]] std::int64_t reduce_back_scratch(const ReduceBackJob& job, std::int64_t total) noexcept;

/// job.weights, which are left as they are, job.result and `out` are of the values' type for every op.
[[nodiscard]] Error reduce_back(Stream stream, const ReduceBackJob& job, std::int64_t total,
                                std::byte* scratch, std::byte* out) noexcept;

/// Levels on the device, and what the host knows of them. The type is any: whole numbers become 64 bits,
/// floats keep theirs.
struct BlocksSizes {
  std::int64_t values = 0;   ///< groups.total()
  std::int64_t rows = 0;     ///< blocks.total()
  std::int64_t longest = 0;  ///< of the groups
};

/// Bytes of scratch on the device, aligned to 16: none, but where a sequence may be repeated often.
[[nodiscard]] std::int64_t reduce_blocks_scratch(const BlocksJob& job, const BlocksSizes& sizes) noexcept;
[[nodiscard]] Error reduce_blocks(Stream stream, const BlocksJob& job, const BlocksSizes& sizes,
                                  std::byte* scratch, std::byte* out) noexcept;

/// Bytes of scratch on the device, aligned to 16: none where no sequence is long.
[[nodiscard]] std::int64_t weighted_scratch(const WeightedJob& job, std::int64_t total) noexcept;
[[nodiscard]] Error weighted_sum(Stream stream, const WeightedJob& job, std::int64_t total,
                                 std::byte* scratch, std::byte* out) noexcept;
[[nodiscard]] Error weighted_sum_to_values(Stream stream, const WeightedJob& job, std::int64_t total,
                                           std::byte* out) noexcept;
[[nodiscard]] Error weighted_sum_to_weights(Stream stream, const WeightedJob& job, std::int64_t total,
                                            std::byte* out) noexcept;

/// From `rows` to `out`, which may be the same.
[[nodiscard]] Error divide_by_lengths(Stream stream, Type type, Offsets level, std::int64_t columns,
                                      const std::byte* rows, std::byte* out) noexcept;

}  // namespace varlen::cuda
