// Softmax inside each sequence, column by column, its logarithm, and the gradients of both.
//
// Values are level.total() rows of `columns` elements. The largest of a sequence is subtracted before exp,
// so that nothing overflows. NaN and +inf make their column of the sequence NaN, and so does -inf alone;
// beside other numbers -inf gives 0. An empty sequence has no rows. Halves and float are computed in float,
// with sums by blocks that meet in double; all else in double. The order depends on a sequence alone: one
// thread or many, a sequence alone or in a batch, the bits are the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/views.hpp"

namespace varlen {

enum class Softmax : std::uint8_t { softmax, log_softmax, back_softmax, back_log_softmax };

/// What comes out: floats as they are, f64 for whole numbers and bools.
[[nodiscard]] Type softmax_type(Type type) noexcept;

struct SoftmaxJob {
  Softmax op = Softmax::softmax;
  Type type = Type::f32;
  Offsets level;
  std::int64_t longest = 0;           ///< of the level
  const std::byte* values = nullptr;  ///< X; dY on the ways back
  const std::byte* result = nullptr;  ///< Y, on the ways back
  std::int64_t columns = 1;
  double temperature = 1;  ///< what X is divided by
};

/// out: rows of softmax_type. It may be the values themselves where the type is the same. A sequence of more
/// than some thousand elements is read three times.
void softmax(const SoftmaxJob& job, std::byte* out) noexcept;

}  // namespace varlen
