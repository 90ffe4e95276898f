// `pad.hpp` on the device: the same functions, the stream first. Levels, rows and outputs lie there; sizes,
// what is kept, and the fill are the host's, and are read before the call returns.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/fill.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/pad.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// Ragged axes that one launch takes.
constexpr int kMostDepth = 8;

/// What one launch of `pad` takes and gives beside the rectangle; null: not there.
struct PadMore {
  /// Which sequence of levels[0] each output row is, in the place of `rows`, of which only the size counts.
  /// Those below 0 count from the end; nobody need have looked at them: those that name none give fill.
  const std::int64_t* sequences = nullptr;
  std::byte* mask = nullptr;          ///< a byte a slot
  std::int64_t* positions = nullptr;  ///< the place of each row in its sequence on the innermost axis, or 0
};

/// The fill is one of fill.hpp; elements are not converted.
[[nodiscard]] Error pad(Stream stream, const Offsets* levels, int depth, Range rows, Rows values,
                        const std::int64_t* sizes, const Padding& how, const PadMore& extras,
                        std::byte* out) noexcept;
[[nodiscard]] Error pad_mask(Stream stream, const Offsets* levels, int depth, Range rows,
                             const std::int64_t* sizes, const Padding& how, std::byte* out) noexcept;
/// `total` rows of what `pad` put in so; those that it cut are zeros.
[[nodiscard]] Error unpad(Stream stream, const std::byte* dense, std::int64_t width, const Offsets* levels,
                          int depth, const std::int64_t* sizes, const Padding& how, std::int64_t total,
                          std::byte* out) noexcept;

}  // namespace varlen::cuda
