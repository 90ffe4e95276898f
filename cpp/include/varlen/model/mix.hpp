// The order in which several sources are drawn from, so that each has its share all along.
#pragma once

#include <cstdint>
#include <vector>

namespace varlen {

/// Sources to draw from. Source i has offsets[i + 1] - offsets[i] draws, in their order.
struct MixSources {
  std::int64_t count;
  const std::int64_t* offsets;
  const std::int64_t* sizes;  ///< of each draw, at least 0: what shares are counted in; null where each is 1
  const std::int64_t* goals;  ///< draws of each source after which the order ends; null for none
  bool drops;                 ///< whether a source without draws left leaves, and the others go on
};

/// Weights of sources: `weights[k * count + i]` of source i from draw begins[k] on. begins[0] is 0, and they
/// increase. No weight is negative, and the sum of each piece is above 0.
struct MixWeights {
  std::int64_t pieces;
  const std::int64_t* begins;
  const double* weights;
};

struct MixOrder {
  std::vector<std::int64_t> draws;  ///< of all sources, counted through as `offsets` does
  std::int64_t wants = -1;  ///< the source that comes next, and has no draw left; -1 where all is done
};

/// The order of draws. With `chances`, numbers in [0, 1) for as many draws as there are, each draw is a
/// source by its weight. Without, the sources take turns: at each draw, those that are owed a part of one may
/// come, and the one that would be late first does (Tijdeman, "The chairman assignment problem", 1980). With
/// sizes of 1 no source is ever further than 1 - 1 / (2 * count - 2) from its share, which no order betters;
/// else about the largest size. Where sources leave, shares begin anew. Time by draws and sources.
[[nodiscard]] MixOrder mix_order(const MixSources& sources, const MixWeights& weights, const double* chances);

}  // namespace varlen
