// Many blocks of memory, or levels, laid end to end, or interleaved. Outputs do not overlap inputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

struct Block {
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

/// Copies every block after the one before it. Threaded by bytes.
void concat(const Block* blocks, std::int64_t n, std::byte* out) noexcept;

/// The ends of every checked level after those before it, counted on: out holds the sum of their counts.
/// Fails with overflow, where = the level.
Status concat_ends(const Offsets* levels, std::int64_t n, std::int64_t* out) noexcept;

/// The ends of the level whose sequence i is sequence i of every level, end to end. All n >= 1 checked levels
/// have as many sequences as the first, and out holds that many. Fails with overflow, where = the level.
Status interleave_ends(const Offsets* levels, std::int64_t n, std::int64_t* out) noexcept;

/// Sequence i of every part, in the order of the parts, then sequence i + 1: out has the rows of
/// `interleaved`, which interleave_ends made of the parts' levels. Rows of all parts are as wide. One pass,
/// threaded by bytes.
void interleave(const Rows* parts, const Offsets* levels, std::int64_t n, Offsets interleaved,
                std::byte* out) noexcept;

}  // namespace varlen
