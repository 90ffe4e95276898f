#include "support/dispatch.hpp"
#include "tables.hpp"

// For the baseline alone.
namespace varlen::baseline {
#include "rest.inc"
}  // namespace varlen::baseline
