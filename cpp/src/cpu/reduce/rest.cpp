#include "reduce_shared.hpp"

// For the baseline alone.
namespace varlen::plain {
#include "reduce_rest.inc"
}  // namespace varlen::plain
