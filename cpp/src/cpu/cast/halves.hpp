// Halves to float and back in the instructions that machines have for them: what kernels do with each block
// that they read or write.
#pragma once

#include "support/elements.hpp"
#include "varlen/cast.hpp"

namespace varlen {

/// Runs of AVX2 and F16C for a half and float; they do not look for NaN to replace.
struct HalfRuns {
  CastRun widen, narrow;
};

/// Null where the machine has no such instructions.
template <class H>
[[nodiscard]] const HalfRuns* half_runs() noexcept;

extern template const HalfRuns* half_runs<Half>() noexcept;
extern template const HalfRuns* half_runs<BFloat>() noexcept;

}  // namespace varlen
