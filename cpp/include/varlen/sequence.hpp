// What is worked out from the rows of a sequence together: softmax and its gradients, variances, weighed
// rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// What is worked out from the rows of a sequence together: rows again, or one row.
enum class SequenceOp : std::uint8_t {
  softmax,
  log_softmax,
  back_softmax,      ///< a is dY, b is Y
  back_log_softmax,  ///< the same
  // One row of what is computed in for each sequence.
  logsumexp,
  var,
  std,
  // Rows times a row of weights for each sequence: the ways back of those.
  weighed_rows,
  weighed_softmax,
  weighed_centred,
};

struct SequenceJob {
  SequenceOp op = SequenceOp::softmax;
  Offsets level;
  std::int64_t longest = 0;
  const std::byte* a = nullptr;
  const std::byte* b = nullptr;
  Convert input;  ///< of a and b, to what is computed in; with the widths even where there is nothing to do
  Convert out;    ///< back, likewise
  std::int64_t columns = 1;
  double temperature = 1;
  double ddof = 0;                     ///< of var and std
  const std::byte* weights = nullptr;  ///< of what is computed in, as `empty`
  const std::byte* empty = nullptr;    ///< what sequences without rows give, one element
};

/// By the build for this machine; `type`: f32 or f64, what is computed in.
void run_sequence_op(const SequenceJob& job, Type type, std::byte* out) noexcept;

}  // namespace varlen
