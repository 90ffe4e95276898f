// `sort.hpp` on the device: the same order of the same numbers, the stream first. Everything lies there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/sort.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// Rows of the longest sequence that is sorted.
constexpr std::int64_t kMostSorted = INT64_C(0xfffffffe);

/// Bytes of scratch for `total` rows, aligned to 8: none where sequences are short.
[[nodiscard]] std::int64_t sort_scratch(const SortJob& job, std::int64_t total) noexcept;

/// As on the CPU; `total` rows of the job's level. One launch, two where sequences of more than a warp are
/// among them, and one more each time that the longest doubles what a block sorts.
[[nodiscard]] Error sort(Stream stream, const SortJob& job, std::int64_t total, Offsets kept,
                         std::byte* scratch, std::byte* values, std::int64_t* places) noexcept;

}  // namespace varlen::cuda
