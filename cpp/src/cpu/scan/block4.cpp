#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "loops.hpp"

#define VARLEN_LOOPS "cpu/scan/block4.inc"
#include "support/each_target.hpp"
