#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "scan_shared.hpp"

#define VARLEN_LOOPS "scan_fours.inc"
#include "each_target.hpp"
