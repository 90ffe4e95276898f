// Many blocks of memory laid end to end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace varlen {

struct Block {
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

/// Copies every block after the one before it. Threaded by bytes. Blocks do not overlap out.
void concat(const Block* blocks, std::int64_t n, std::byte* out) noexcept;

}  // namespace varlen
