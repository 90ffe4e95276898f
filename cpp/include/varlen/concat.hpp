// Many blocks of memory, or levels, laid end to end, or interleaved. Outputs do not overlap inputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// Memory, and the byte of the output that it ends at.
struct ConcatBlock {
  const std::byte* data = nullptr;
  std::int64_t end = 0;
};

/// Rows, and the ends of the checked level over them.
struct Part {
  const std::byte* data = nullptr;
  const std::int64_t* ends = nullptr;
};

/// Copies every block after the one before it. Threaded by bytes.
void concat(const ConcatBlock* blocks, std::int64_t n, std::byte* out) noexcept;

/// The ends of every checked level after those before it, counted on: out holds the sum of their counts.
/// Fails with overflow, where = the level.
Status concat_ends(const Offsets* levels, std::int64_t n, std::int64_t* out) noexcept;

/// The ends of the level whose sequence i is sequence i of every level, end to end. All n >= 1 checked levels
/// have as many sequences as the first, and out holds that many. Fails with overflow, where = the level.
Status interleave_ends(const Offsets* levels, std::int64_t n, std::int64_t* out) noexcept;

/// Sequence i of every part, in the order of the parts, then sequence i + 1: out has the rows of
/// `result`, which interleave_ends made of the parts' levels. Rows of all n >= 1 parts have `width`
/// bytes. One pass, threaded by bytes.
void interleave(const Part* parts, std::int64_t n, std::int64_t width, Offsets result,
                std::byte* out) noexcept;

}  // namespace varlen
