// Rows repeated: row i goes to every row of sequence i. The turning round of a sum over sequences.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/views.hpp"

namespace varlen {

/// out: level.total() rows; rows.count is level.count. Nothing overlaps. Costs one writing of the output.
void expand(Offsets level, Rows rows, std::byte* out) noexcept;

/// Row i goes to one row of sequence i, the first or the last; the others become zero bytes. Sequences
/// without rows take none.
void expand_end(Offsets level, Rows rows, bool last, std::byte* out) noexcept;

/// Element c of row i, of `size` bytes, goes to row which[i * columns + c] of sequence i, column c; the rest
/// becomes zero bytes. A place outside its sequence takes none.
void expand_which(Offsets level, const std::byte* rows, std::int64_t columns, std::int64_t size,
                  const std::int64_t* which, std::byte* out) noexcept;

}  // namespace varlen
