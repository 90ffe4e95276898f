// The rows of each sequence in order, column by column: sorted, the best of them, ranked, each once.
//
// Values are level.total() rows of `columns` elements of one type, aligned to it. Ascending, or descending;
// NaN comes last either way, and all NaN are equal to each other, as -0 is to 0. Equal numbers keep their
// order, also when they descend. A sequence depends on nothing but itself: the same bits alone, in a batch
// and for any number of threads. Outputs overlap nothing, and each byte of them is written once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/views.hpp"

namespace varlen {

struct SortJob {
  Type type = Type::f32;
  Offsets level;
  std::int64_t longest = 0;  ///< of the level
  const std::byte* values = nullptr;
  std::int64_t columns = 1;
  bool descending = false;
  std::int64_t limit = INT64_MAX;  ///< what is kept of a sequence, where that is known to be less
};

/// Scratch of a job: as many shares as threads may take, each with room for the items of a sequence.
struct SortRoom {
  std::int64_t shares = 1;
  std::int64_t items = 0;  ///< of a sequence that one thread sorts
  std::int64_t giant = 0;  ///< of one that threads share; 0: there is none
  bool wide = false;       ///< keys of 64 bits, or places that do not fit 32
  std::int64_t bytes = 0;  ///< in all, aligned to 8
};

/// ends[i] = how many rows the sequences [0, i] keep, where each keeps `limit` or all that it has.
void sort_kept(Offsets level, std::int64_t limit, std::int64_t* ends) noexcept;

/// What is needed where `limit` items of a sequence are wanted.
[[nodiscard]] SortRoom sort_room(const SortJob& job, std::int64_t limit) noexcept;

/// The first tops.length(i) of each sequence in order: values of the job's type, and the rows inside the
/// sequence that they come from; either may be null. tops.length(i) <= level.length(i), and all of them are
/// `level` itself. A few of many are found without sorting all. room: of the longest of tops.
void sort(const SortJob& job, Offsets tops, const SortRoom& room, std::byte* scratch, std::byte* values,
          std::int64_t* places) noexcept;

/// Elements that go back to where `sort` had them from: rows[tops.start(i) + r], of 1, 2, 4 or 8 bytes each,
/// to row places[the same] of sequence i, column by column; below 0 it goes nowhere. The other rows of out
/// are zeros, and of two that go to one row the later stays. Places lie inside their sequences.
void unsort(Offsets level, Offsets tops, const std::byte* rows, std::int64_t columns, std::int64_t size,
            const std::int64_t* places, std::byte* out) noexcept;

/// The first of tops.total() x columns places that is below -1 or not inside its sequence; -1: none is.
[[nodiscard]] std::int64_t sort_misplaced(Offsets level, Offsets tops, std::int64_t columns,
                                          const std::int64_t* places) noexcept;

/// Equal numbers have ranks that follow each other, the least or the largest or the mean of these, or one
/// that counts distinct numbers.
enum class Ranks : std::uint8_t { ordinal, min, max, dense, average };

/// The rank of each element inside its sequence, from 1: int64, but double for `average`. room: of longest.
void rank(const SortJob& job, Ranks how, const SortRoom& room, std::byte* scratch, std::byte* out) noexcept;

/// What unique_find finds, level.total() each; those of sequence i begin at level.start(i).
struct Distinct {
  std::int64_t* firsts = nullptr;   ///< the row inside the sequence that has it first
  std::int64_t* counts = nullptr;   ///< how often it is there
  std::int64_t* inverse = nullptr;  ///< for each row which of them it is; may be null
};

/// The distinct numbers of each sequence in order, of one column. ends[i] = how many [0, i] have.
void unique_find(const SortJob& job, const SortRoom& room, std::byte* scratch, Distinct uniques,
                 std::int64_t* ends) noexcept;

/// What was found laid end to end: values, `made`.total() of them, and counts unless they are null.
void unique_take(const SortJob& job, Distinct uniques, Offsets result, std::byte* values,
                 std::int64_t* counts) noexcept;

}  // namespace varlen
