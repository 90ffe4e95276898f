#include "tables.hpp"

#define VARLEN_LOOPS "cpu/reduce/ends.inc"
#include "support/each_target.hpp"
