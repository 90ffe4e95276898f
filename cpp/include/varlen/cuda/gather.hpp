// `gather.hpp` on the device: what moves rows. Which rows is chosen on the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// Sequence k of `picked` is the rows of the values from begins[k] on. Rows, begins and the level lie on the
/// device; out: `total` rows.
[[nodiscard]] Error gather_rows(Stream stream, Rows values, const std::int64_t* begins, Offsets picked,
                                std::int64_t total, std::byte* out) noexcept;

}  // namespace varlen::cuda
