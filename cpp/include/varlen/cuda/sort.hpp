// `sort.hpp` on the device: the same order of the same numbers, the stream first. Everything lies there.
//
// How many distinct numbers there are is known to the device alone. Who makes the output of unique_take
// copies the lengths of unique_find to the host, and waits for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/sort.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// Rows of the longest sequence that is sorted.
constexpr std::int64_t kSortLimit = INT64_C(0xfffffffe);

/// Bytes of scratch for `total` rows, aligned to 8: none where sequences are short.
[[nodiscard]] std::int64_t sort_scratch(const SortJob& job, std::int64_t total) noexcept;

/// As on the CPU; `total` rows of the job's level. One launch, two where sequences of more than a warp are
/// among them, and one more each time that the longest doubles what a block sorts.
[[nodiscard]] Error sort(Stream stream, const SortJob& job, std::int64_t total, Offsets tops,
                         std::byte* scratch, std::byte* values, std::int64_t* places) noexcept;

/// Bytes of scratch, aligned to 16.
[[nodiscard]] std::int64_t unsort_scratch(std::int64_t total, std::int64_t columns) noexcept;

/// As on the CPU; `total` rows of the level, `kept_total` of kept, none of whose sequences has more than
/// kMostSorted. Nobody need have looked at the places: those outside of their sequences take nothing. Two
/// launches.
[[nodiscard]] Error unsort(Stream stream, Offsets level, std::int64_t total, Offsets tops,
                           std::int64_t kept_total, const std::byte* rows, std::int64_t columns,
                           std::int64_t size, const std::int64_t* places, std::byte* scratch,
                           std::byte* out) noexcept;

/// Bytes of scratch, aligned to 16.
[[nodiscard]] std::int64_t rank_scratch(const SortJob& job, Ranks how, std::int64_t total) noexcept;

/// As on the CPU: what `sort` launches and one more; for dense ranks what `scan` launches and two more.
[[nodiscard]] Error rank(Stream stream, const SortJob& job, Ranks how, std::int64_t total, std::byte* scratch,
                         std::byte* out) noexcept;

/// Bytes of scratch for both calls, aligned to 16. Of one column.
[[nodiscard]] std::int64_t unique_scratch(const SortJob& job, std::int64_t total) noexcept;

/// lengths[i] = how many distinct numbers sequence i has. inverse: which of them each row is; may be null.
[[nodiscard]] Error unique_find(Stream stream, const SortJob& job, std::int64_t total, std::byte* scratch,
                                std::int64_t* inverse, std::int64_t* lengths) noexcept;

/// Those numbers, `distinct` of them, and how often each is there unless that is null: `result` is the level
/// of what unique_find gave, and scratch what it left.
[[nodiscard]] Error unique_take(Stream stream, const SortJob& job, std::int64_t total, std::byte* scratch,
                                Offsets result, std::int64_t distinct, std::byte* values,
                                std::int64_t* counts) noexcept;

}  // namespace varlen::cuda
