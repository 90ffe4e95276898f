// Sequences side by side, time-major: the longest is column 0, and step t holds row t of every sequence that
// has one. Column k is sequence indices[k]; the first size_at_t[t] columns are longer than t.
// Padded, every step has as many slots as there are columns; packed, only those that are taken. Rows move by
// width. No columns, no steps, empty sequences and width 0 are legal. Outputs do not overlap inputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/pieces.hpp"
#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// The order of sequences that are equally long.
enum class Ties : std::uint8_t { stable, reversed };

/// Sorts by counting, O(level.count + longest): lengths and indices hold level.count, size_at_t `longest`,
/// which is what the level's longest sequence has; room holds longest + 1.
void pack_order(Offsets level, Ties ties, std::int64_t longest, std::int64_t* lengths, std::int64_t* indices,
                std::int64_t* size_at_t, std::int64_t* room) noexcept;

/// How many of the columns, whose lengths never increase, are longer than each step.
void pack_sizes(const std::int64_t* lengths, std::int64_t columns, std::int64_t steps,
                std::int64_t* size_at_t) noexcept;

// What a caller says of a block of steps and columns, checked.

/// Fails with negative_length, too_long (more than steps) or increasing: where = column, value = its length.
Status pack_check_lengths(const std::int64_t* lengths, std::int64_t columns, std::int64_t steps) noexcept;

/// Fails with miscounted: where = step, value = how many of the checked lengths are above it.
Status pack_check_sizes(const std::int64_t* size_at_t, std::int64_t steps, const std::int64_t* lengths,
                        std::int64_t columns) noexcept;

/// A permutation of [0, columns). Fails with index_out_of_range or repeated. seen holds columns.
Status pack_check_indices(const std::int64_t* indices, std::int64_t columns, std::uint8_t* marks) noexcept;

/// Whether column k is as long as sequence indices[k] of the level, whose count is theirs. Fails with
/// miscounted: where = column, value = the length of its sequence.
Status pack_check_level(Offsets level, const std::int64_t* lengths, const std::int64_t* indices) noexcept;

/// The ends of the sequences in their original order.
void pack_ends(const std::int64_t* lengths, const std::int64_t* indices, std::int64_t columns,
               std::int64_t* ends) noexcept;

/// places[indices[k]] = k: the column of each sequence.
void pack_places(const std::int64_t* indices, std::int64_t columns, std::int64_t* places) noexcept;

/// A time-major block as its kernels see it.
struct Steps {
  const std::int64_t* size_at_t = nullptr;  ///< never increases, at most columns
  std::int64_t count = 0;
  std::int64_t columns = 0;
  bool padded = true;
};

/// Where each column's sequence lies, first row first.
void pack_columns(const Piece* pieces, const std::int64_t* indices, std::int64_t columns,
                  const std::byte** rows) noexcept;
void pack_columns(const std::byte* values, std::int64_t width, Offsets level, const std::int64_t* indices,
                  std::int64_t columns, const std::byte** rows) noexcept;

/// Columns to a block: (count, columns, width), `fill` (one row, or what it repeats, of `period` bytes; null
/// is zeros) where no sequence is, or the packed rows. Threaded by output bytes.
void pack(Steps steps, const std::byte* const* rows, std::int64_t width, const std::byte* fill,
          std::int64_t period, std::byte* out) noexcept;

/// The way back: rows of a block to sequence indices[k] of `level`, laid end to end in `out`. Fill is not
/// read. room holds steps.columns. Threaded by output bytes.
void unpack(Steps steps, const std::byte* block, std::int64_t width, Offsets level,
            const std::int64_t* indices, std::byte** room, std::byte* out) noexcept;

}  // namespace varlen
