// Connectionist temporal classification (Graves 2006) over packed rows, and its gradient, in log space.
//
// Log probabilities are level.total() rows of `classes` numbers, f32 or f64; labels are those of another
// level with as many sequences. Between labels, before and behind them there may be blanks, and equal
// neighbours need one. No alignment: the loss is inf. No rows: 0 for no labels, else inf. Numbers of a step
// are kept less their largest, whose sum is a double; shares of alignments are one in all at each row.
// Memory: two rows of 2 labels + 1 states for a loss, one for each row with a gradient. A sequence is the
// work of one thread, and has the same bits alone, in a batch and with any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/status.hpp"
#include "varlen/support/work.hpp"
#include "varlen/views.hpp"

namespace varlen {

struct CtcJob {
  Type type = Type::f32;
  Offsets level;
  Offsets target_level;
  const std::byte* log_probs = nullptr;
  const std::int64_t* labels = nullptr;  ///< of nobody else: read more than once
  std::int64_t classes = 1;
  std::int64_t blank = 0;
  bool zero_infinity = false;  ///< 0 in the place of inf, and no gradient
  bool with_gradient = false;
  const std::byte* d = nullptr;  ///< the gradient of each loss; null: 1
};

/// index_out_of_range for a label that is no class, or is the blank.
Status ctc_check(const CtcJob& job) noexcept;

[[nodiscard]] WorkShares ctc_shares(const CtcJob& job) noexcept;

/// losses (n,): minus the log of the probability of all alignments. gradient (total, classes), where the job
/// asks for it: that of the log probabilities by way of the log_softmax that made them, exp(log_probs) less
/// the share of alignments that are there; NaN for a loss of inf.
void ctc_loss(const CtcJob& job, const WorkShares& shares, std::byte* scratch, std::byte* losses,
              std::byte* gradient) noexcept;

}  // namespace varlen
