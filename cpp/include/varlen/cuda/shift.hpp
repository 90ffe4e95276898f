// `shift.hpp` on the device: the same functions, the stream first. Levels and rows lie there, and so do moves
// of one number for each sequence; one number for all of them is the host's.
#pragma once

#include <cstddef>

#include "varlen/cuda/fill.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/shift.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

[[nodiscard]] Error reverse_rows(Stream stream, Rows values, Offsets level, std::byte* out) noexcept;
[[nodiscard]] Error shift_rows(Stream stream, Rows values, Offsets level, Moves moves, Fill fill,
                               std::byte* out) noexcept;
[[nodiscard]] Error roll_rows(Stream stream, Rows values, Offsets level, Moves moves,
                              std::byte* out) noexcept;

}  // namespace varlen::cuda
