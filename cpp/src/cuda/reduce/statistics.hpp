// What other kernels take from those that reduce: of gradients, what they need of a sequence first.
#pragma once

#include <cstdint>

#include "folds.hpp"
#include "run.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/reduce.hpp"

namespace varlen::cuda {

/// The mean of every sequence of floats, as f64.
[[nodiscard]] Error means_of(Stream stream, const ReduceJob& job, std::int64_t total, std::byte* scratch,
                             std::byte* means) noexcept;

/// What a sequence is a softmax of: for float of halves and floats, for double of doubles.
[[nodiscard]] Error exponentials_of(Stream stream, const ReduceJob& job, std::int64_t total,
                                    std::byte* scratch, View<Exponentials<float>> sums) noexcept;
[[nodiscard]] Error exponentials_of(Stream stream, const ReduceJob& job, std::int64_t total,
                                    std::byte* scratch, View<Exponentials<double>> sums) noexcept;

/// The sums of sequences from those of their chunks.
[[nodiscard]] Error join_sums(Stream stream, const Chunks& chunks, std::int64_t columns,
                              const NumberSink& sink, View<double> partial) noexcept;

}  // namespace varlen::cuda
