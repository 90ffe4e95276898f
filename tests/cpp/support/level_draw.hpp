// Levels that tests draw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pad_draw.hpp"
#include "varlen/views.hpp"

namespace varlen::test {

struct RandomLevel {
  std::vector<std::int64_t> ends;
  std::int64_t longest = 0;

  [[nodiscard]] Offsets level() const { return {ends.data(), static_cast<std::int64_t>(ends.size())}; }
};

/// So many sequences of at most so many rows.
inline RandomLevel draw_level(std::int64_t count, std::int64_t max_length) {
  RandomLevel result;
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t length = draw(0, max_length);
    result.longest = std::max(result.longest, length);
    result.ends.push_back(total += length);
  }
  return result;
}

}  // namespace varlen::test
