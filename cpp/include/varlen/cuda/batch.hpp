// The arrays of a batch on the device, all in one launch: rows that lie end to end go to the slots of
// rectangles, their elements become another dtype on the way, and masks say where a row is.
//
// Rows, ends and outputs lie there. Nobody need have looked at the ends: none leads out of the rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/cuda/fill.hpp"
#include "varlen/cuda/pad.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/pad.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// A ragged axis of the batch.
struct BatchAxis {
  Offsets ends;
  std::int64_t slots = 0;  ///< of every sequence
  std::int64_t keep = 0;   ///< most rows of one
};

enum class BatchKind : std::uint8_t {
  bytes,    ///< rows as they are
  cast,     ///< elements of `from` as those of `to`
  not_nan,  ///< a byte for each element of `from`: 1 where it is a number, 0 where it is NaN
  mask,     ///< a byte a slot: 1 where a row is
};

/// One array: (n, slots of the first `depth` axes, a row). Depth 0: as many rows as there are.
struct BatchArray {
  BatchKind kind = BatchKind::bytes;
  int depth = 0;
  Type from = Type::b1;
  Type to = Type::b1;
  Rows rows;                  ///< of a mask only the count counts
  Fill fill;                  ///< one of fill.hpp, in the elements of the output
  bool replaces_nan = false;  ///< of a cast
  std::int64_t nan = 0;       ///< the bytes of what takes its place
  std::byte* out = nullptr;
};

struct BatchJob {
  const BatchAxis* axes = nullptr;
  int depth = 0;  ///< kMostDepth at most
  std::int64_t n = 0;
  Side side = Side::right;
  Side cut = Side::right;
  const BatchArray* arrays = nullptr;
  std::int64_t count = 0;  ///< one launch for 24 of them
  /// Which sequence of the first axis each of the n is, as in PadMore; null: one after another.
  const std::int64_t* sequences = nullptr;
};

[[nodiscard]] Error batch(Stream stream, const BatchJob& job) noexcept;

}  // namespace varlen::cuda
