// `span_rows.hpp` on the device: what moves rows. All of it lies there, and nobody need have looked at it: no
// number leads out of the rows, and where one would, zero bytes are put.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

[[nodiscard]] Error take_rows(Stream stream, Rows values, const std::int64_t* rows, std::int64_t n,
                              std::byte* out) noexcept;
[[nodiscard]] Error insert_rows(Stream stream, Rows values, const std::int64_t* targets, std::int64_t n,
                                const std::byte* new_rows, std::byte* out) noexcept;
[[nodiscard]] Error remove_rows(Stream stream, Rows all, const std::int64_t* targets, std::int64_t n,
                                std::byte* rest, std::byte* removals) noexcept;

}  // namespace varlen::cuda
