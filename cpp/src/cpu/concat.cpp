#include "varlen/concat.hpp"

#include <algorithm>
#include <cstring>

#include "varlen/pool.hpp"

namespace varlen {

void concat(const Block* blocks, std::int64_t n, std::byte* out) noexcept {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) total += blocks[i].bytes;
  const std::int64_t chunks = chunks_for(total);
  parallel(chunks, [&](std::int64_t c) {
    const std::int64_t from = total / chunks * c;
    const std::int64_t to = c + 1 == chunks ? total : total / chunks * (c + 1);
    std::int64_t first = 0;
    for (std::int64_t i = 0; i < n && first < to; ++i) {
      const std::int64_t last = first + blocks[i].bytes;
      const std::int64_t begin = std::max(first, from);
      const std::int64_t end = std::min(last, to);
      if (begin < end) {
        std::memcpy(out + begin, blocks[i].data + (begin - first), static_cast<std::size_t>(end - begin));
      }
      first = last;
    }
  });
}

}  // namespace varlen
