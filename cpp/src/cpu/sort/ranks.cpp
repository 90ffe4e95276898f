#include "keys.hpp"

#define VARLEN_LOOPS "cpu/sort/ranks.inc"
#include "support/each_target.hpp"

namespace varlen {

const RankTable& rank_table() noexcept {
  return VARLEN_BEST(kRankTable);
}

}  // namespace varlen
