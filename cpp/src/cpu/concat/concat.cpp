#include "varlen/concat.hpp"

#include <algorithm>
#include <cstring>

#include "support/prefetch.hpp"
#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {

void concat(const ConcatBlock* blocks, std::int64_t n, std::byte* out) noexcept {
  constexpr std::int64_t kPrefetchBlocks = 8;
  const std::int64_t total = n > 0 ? blocks[n - 1].end : 0;
  const std::int64_t chunks = std::max<std::int64_t>(1, std::min(total, chunks_for(total)));
  parallel(chunks, [&](std::int64_t c) {
    const std::int64_t from = total / chunks * c;
    const std::int64_t to = c + 1 == chunks ? total : total / chunks * (c + 1);
    std::int64_t first = 0;
    std::int64_t i = 0;
    while (i < n && blocks[i].end <= from) first = blocks[i++].end;
    for (; i < n && first < to; first = blocks[i++].end) {
      if (i + kPrefetchBlocks < n) prefetch(blocks[i + kPrefetchBlocks].data, 0, 0);
      const std::int64_t begin = std::max(first, from);
      const std::int64_t end = std::min(blocks[i].end, to);
      copy_exact(out + begin, blocks[i].data + (begin - first), end - begin);
    }
  });
}

Status concat_ends(const Offsets* levels, std::int64_t n, std::int64_t* out) noexcept {
  std::int64_t shift = 0;
  for (std::int64_t d = 0; d < n; ++d) {
    const Offsets level = levels[d];
    std::int64_t next = 0;
    if (!checked_add(shift, level.total(), next)) return {Code::overflow, d, shift};
    for (std::int64_t i = 0; i < level.count; ++i) out[i] = level.ends[i] + shift;
    out += level.count;
    shift = next;
  }
  return {};
}

}  // namespace varlen
