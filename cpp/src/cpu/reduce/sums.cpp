#include "reduce_shared.hpp"

#define VARLEN_LOOPS "reduce_sums.inc"
#include "each_target.hpp"
