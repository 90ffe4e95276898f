#include "tables.hpp"

// For the baseline alone.
namespace varlen::plain {
#include "rest.inc"
}  // namespace varlen::plain
