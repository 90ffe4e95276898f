#include "varlen/sequence.hpp"

#include "table.hpp"

#define VARLEN_LOOPS_AVX512
#define VARLEN_LOOPS "cpu/sequence/loops.inc"
#include "support/each_target.hpp"

namespace varlen {

void run_sequence_op(const SequenceJob& job, Type type, std::byte* out) noexcept {
  // Sequences that fit a vector of 32 bytes take less time in such; so do rows that leave more of a wide one.
  const std::int64_t width = job.columns * size_of(type);
  const bool fits = job.longest * width <= 32 || (width > 32 && width < 512 && width % 64 != 0);
  const SequenceTable& table = fits ? VARLEN_BEST(kSequenceOps) : VARLEN_WIDEST(kSequenceOps);
  (type == Type::f32 ? table.f32 : table.f64)(job, out);
}

}  // namespace varlen
