#include "tables.hpp"

#define VARLEN_LOOPS_AVX512
#define VARLEN_LOOPS "cpu/reduce/ends.inc"
#include "support/each_target.hpp"
