// What the names of a file's tensors say: `dimK/name` are values under K levels, `dimK/bounds` the ends of
// level K.
#pragma once

#include <cstdint>
#include <string_view>

#include "varlen/header.hpp"
#include "varlen/status.hpp"

namespace varlen {

/// Deepest nesting that a file may have.
inline constexpr int kMaxDepth = 30;

/// Why a layout is refused; a Status of Code::bad_layout carries it in `value`, and the entry in `where`.
enum class LayoutFault : std::uint8_t {
  name,          ///< not dimK/name
  depth,         ///< deeper than kMaxDepth
  scalar,        ///< a tensor without dimensions has no rows
  bounds_dtype,  ///< bounds that are not 1-d integers
  bounds_dim,    ///< bounds of a level below 1
  rows,          ///< another number of rows than `other` has
  missing,       ///< no bounds for level `other`
  duplicate,     ///< the same name at two depths
};

[[nodiscard]] std::string_view fault_text(LayoutFault fault) noexcept;

/// Entries by their place in the header; -1 is none. `rows[d]` is how many rows lie at depth d, -1 where no
/// entry tells.
struct Layout {
  int depth = 0;  ///< levels
  std::int64_t keys = 0;
  std::int64_t bounds[kMaxDepth + 1];
  std::int64_t lengths[kMaxDepth + 1];  ///< entries called `lengths` that have one value a row of the level
  std::int64_t rows[kMaxDepth + 1];
  std::int64_t other = -1;  ///< after a fault: the entry, or the level, that it was compared with
};

/// The depth that a tensor's name says, and the bare name. False where it is not `dimK/name`. K may be -1: a
/// key that an index has left behind.
bool split_name(std::string_view full, int& dim, std::string_view& name) noexcept;

/// Works the layout out of a header that parse_header accepted. One pass; `order` and `slots` are scratch.
/// Entries called `lengths` below depth 0 are not compared with `rows`: whether they are a first-generation
/// level or somebody's key only the data can tell.
Status parse_layout(HeaderTables& tables, Layout& layout) noexcept;

}  // namespace varlen
