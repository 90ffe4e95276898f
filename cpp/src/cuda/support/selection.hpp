// Some rows of each sequence, laid end to end. A byte each says which: they are numbered by a scan, and found
// again by a search among the numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sequences.hpp"
#include "varlen/cuda/scan.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// Bytes up to the next part of a scratch.
[[nodiscard]] constexpr std::int64_t part_of(std::int64_t bytes) noexcept {
  return (bytes + 15) / 16 * 16;
}

/// The scan that numbers rows, and what marks them: bytes of 0 and 1, `columns` a row.
[[nodiscard]] inline ScanJob number_job(Offsets level, std::int64_t longest, std::int64_t columns,
                                        const std::byte* marks) noexcept {
  ScanJob job;
  job.type = Type::b1;
  job.level = level;
  job.longest = longest;
  job.values = marks;
  job.columns = columns;
  return job;
}

/// numbers[row] = how many rows of its sequence are chosen, up to and with that row.
struct Selection {
  Ends level;
  View<const std::int64_t> numbers;
};

[[nodiscard]] inline Selection selection_of(Offsets level, const std::int64_t* numbers,
                                            std::int64_t total) noexcept {
  return {ends_of(level), {numbers, total}};
}

/// lengths[i] = how many of sequence i are chosen.
[[nodiscard]] Error count_selection(Stream stream, const Selection& selection,
                                    std::int64_t* lengths) noexcept;

/// Where the chosen rows lie, `count` of them; `result` is their level. They are what take_rows takes.
[[nodiscard]] Error rows_of_selection(Stream stream, const Selection& selection, Offsets result,
                                      std::int64_t count, std::int64_t* rows) noexcept;

/// How many rows it is from each of those to the next one, or to the end of the sequence.
[[nodiscard]] Error spaces_of_selection(Stream stream, const Selection& selection, Offsets result,
                                        std::int64_t count, const std::int64_t* rows,
                                        std::int64_t* spaces) noexcept;

}  // namespace varlen::cuda
