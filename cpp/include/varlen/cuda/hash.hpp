// `hash.hpp` on the device: the same hashes, the stream first. Keys are integers of any type, as their 64
// bits: those below zero are not refused. Levels, keys and outputs lie there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/views.hpp"

namespace varlen::cuda {

/// `total` n-grams: counts.total().
[[nodiscard]] Error ngrams(Stream stream, Offsets level, Offsets counts, std::int64_t total, std::int64_t n,
                           Type type, const std::byte* keys, std::int64_t key_count,
                           std::uint64_t* out) noexcept;

/// out: (count, 4).
[[nodiscard]] Error hash(Stream stream, Type type, const std::byte* ids, std::int64_t count,
                         std::uint32_t seed, std::uint32_t* out) noexcept;

}  // namespace varlen::cuda
