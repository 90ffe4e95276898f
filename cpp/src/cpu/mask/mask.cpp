#include "varlen/mask.hpp"

#include <algorithm>

#include "varlen/pool.hpp"

namespace varlen {
namespace {

/// Fills end to end; what may run over is written again by the next.
class Filler {
 public:
  Filler(std::byte* cursor, const std::byte* stop) noexcept : cursor_(cursor), stop_(stop) {}

  void put(const FillPattern& fill, std::int64_t bytes) noexcept {
    if (fill.blocks && stop_ - cursor_ >= bytes + 16) {
      fill_over(cursor_, bytes, fill);
    } else {
      fill_exact(cursor_, bytes, fill);
    }
    cursor_ += bytes;
  }

 private:
  std::byte* cursor_;
  const std::byte* stop_;
};

}  // namespace

void block_mask(Offsets level, AttentionWindow window, const FillPattern& content, const FillPattern& blank,
                std::byte* out) noexcept {
  const std::int64_t total = level.total();
  const std::int64_t unit = content.unit;
  const std::int64_t chunks = std::min(total, chunks_for(total * total * unit));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    const Range rows{cut(c), cut(c + 1)};
    Filler filler(out + rows.begin * total * unit, out + rows.end * total * unit);
    std::int64_t s = std::upper_bound(level.ends, level.ends + level.count, rows.begin) - level.ends;
    std::int64_t gap = 0;  // what is outside behind the block of one row and before that of the next
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      while (level.end(s) <= i) ++s;
      const std::int64_t from = i - std::min(window.left, i - level.start(s));
      const std::int64_t to = i + 1 + std::min(window.right, level.end(s) - i - 1);
      filler.put(blank, (gap + from) * unit);
      filler.put(content, (to - from) * unit);
      gap = total - to;
    }
    filler.put(blank, gap * unit);
  });
}

}  // namespace varlen
