#include "reduce_shared.hpp"

#define VARLEN_LOOPS "reduce_ends.inc"
#include "each_target.hpp"
