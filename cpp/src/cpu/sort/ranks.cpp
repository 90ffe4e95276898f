#include "keys.hpp"

#define VARLEN_LOOPS "cpu/sort/ranks.inc"
#include "support/each_target.hpp"

namespace varlen {

const RankTable& rank_table() noexcept {
#ifdef VARLEN_AVX2
  if (has_avx2()) return broad::kRankTable;
#endif
  return plain::kRankTable;
}

}  // namespace varlen
