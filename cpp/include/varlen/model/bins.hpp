// Sequences put whole into bins of one size: rows of a fixed number of tokens that hold several of them.
#pragma once

#include <cstdint>
#include <vector>

namespace varlen {

enum class Fit : std::uint8_t {
  first,  ///< into the first bin with room for it
  best,   ///< into the bin that it leaves the least room in; of several, the one that was filled last
};

/// Which sequences each bin holds: bin b has rows[offsets[b]] to rows[offsets[b + 1] - 1], as they were put.
struct Bins {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> offsets;
};

/// Fills bins with sequences, the longest first and equal ones in their order; one that fits nowhere opens a
/// bin. Each `window` sequences are by themselves, so that bins of a later one may begin before the next.
/// lengths in [0, size], size and window >= 1. Time by n; memory by n and, for best, by size up to 2^20.
[[nodiscard]] Bins fill_bins(const std::int64_t* lengths, std::int64_t n, std::int64_t size,
                             std::int64_t window, Fit fit);

}  // namespace varlen
