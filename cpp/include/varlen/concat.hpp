// Many blocks of memory, or levels, laid end to end. Outputs do not overlap inputs.
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

}  // namespace varlen
