// Many columns that share their nesting from the top down.
// Dim 0 is the outer rows; level d (1-based) gives each row of dim d - 1 its rows of dim d; a column of dim d
// lies under levels 1..d. Levels of a mapped file are not checked as a whole: what is read of them is
// checked where it is read, so that a damaged file gives an error and never an access out of range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// levels[d - 1] is level d, for d in [1, depth]; rows[d] is how many rows dim d has, for d in [0, depth].
struct Nest {
  const Offsets* levels = nullptr;
  const std::int64_t* rows = nullptr;
  int depth = 0;
};

/// Fills ranges[from + 1 .. depth] from ranges[from]: the rows of each deeper dim under it. Two reads a
/// level. Fails with decreasing or beyond_total (where = row) where a level does not fit.
Status joint_descend(const Nest& nest, int from, Range* ranges) noexcept;

/// The first level that does not hold together under `rows` of dim `from`: decreasing or beyond_total.
/// `level` is set to its number. One pass over the bounds in question.
Status joint_check(const Nest& nest, int from, const Range* ranges, int& level) noexcept;

/// out[i] = level.end(rows.begin + i) - shift, for every i in rows. Fails with decreasing at the first bad
/// row.
Status joint_ends(Offsets level, Range rows, std::int64_t shift, std::int64_t* out) noexcept;

/// Ends of `rows` of `upper`, counted in rows of the level below `lower`: the two levels made one.
/// out holds rows.size(); counts from `shift`. Both levels were checked.
void joint_merge(Offsets upper, Offsets lower, Range rows, std::int64_t shift, std::int64_t* out) noexcept;

/// Puts each row of `values` (in `rows`) into the first slot of its sequence in `level`, fill elsewhere.
/// out holds slots.size() rows: the slots are rows of the level's lower dim. A row whose sequence is empty
/// has no slot and is left out; a row whose first slot lies outside `slots` too. fill is values.width bytes,
/// null zero. depth levels may lie between: levels[0..depth), from the row's own to the deepest.
void joint_spread(const Offsets* levels, int depth, Range rows, Rows values, Range slots,
                  const std::byte* fill, std::byte* out) noexcept;

/// Copies of each row of `values` in every slot of its sequence: joint_spread's repeating sibling.
void joint_repeat(const Offsets* levels, int depth, Range rows, Rows values, Range slots,
                  std::byte* out) noexcept;

}  // namespace varlen
