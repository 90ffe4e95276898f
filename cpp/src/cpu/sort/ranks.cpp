#include "sort_shared.hpp"

#define VARLEN_LOOPS "sort_ranks.inc"
#include "each_target.hpp"

namespace varlen {

const RankTable& rank_table() noexcept {
#ifdef VARLEN_AVX2
  if (has_avx2()) return broad::kRankTable;
#endif
  return plain::kRankTable;
}

}  // namespace varlen
