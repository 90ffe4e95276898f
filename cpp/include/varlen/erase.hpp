// Rows without those that equal one of a few, compared as bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/views.hpp"

namespace varlen {

/// The rows of a checked level that equal none of n tokens, in order. Rows and tokens are 1, 2, 4 or 8 bytes
/// wide and aligned; tokens ascend as unsigned integers. Writes out[0, level.total()), of which the first
/// rows count, and ends[i] = how many of sequences [0, i] are kept; returns how many are. One pass; for up to
/// four tokens it costs a comparison each, for more a search. One thread: what is written depends on all that
/// was kept before.
std::int64_t erase_rows(Rows values, Offsets level, const std::byte* tokens, std::int64_t n, std::byte* out,
                        std::int64_t* ends) noexcept;

}  // namespace varlen
