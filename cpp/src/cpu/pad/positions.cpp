#include <algorithm>
#include <numeric>

#include "job.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

constexpr auto kSize = static_cast<std::int64_t>(sizeof(std::int64_t));

/// The slots [from, to) of a rectangle.
class Places {
 public:
  Places(const PadJob& job, std::int64_t* out, std::int64_t from, std::int64_t to) noexcept
      : job_(job), out_(out), from_(from), to_(to) {}

  /// A sequence of `rows` on `axis`, whose first slot is `at`; levels are those below it.
  void sequence(const Offsets* levels, Range rows, int axis, std::int64_t at) noexcept {
    const std::int64_t below = job_.slot_bytes(axis) / kSize;
    const std::int64_t slots = job_.sizes[axis];
    const std::int64_t keep = std::min(rows.size(), job_.most(axis));
    const std::int64_t skip = job_.how.cut == Side::left ? rows.size() - keep : 0;
    const std::int64_t first = at + (job_.how.side == Side::left ? (slots - keep) * below : 0);
    zeros(at, first);
    zeros(first + keep * below, at + slots * below);
    if (axis + 1 == job_.depth) {
      const Range some = inside(first, first + keep);
      std::iota(out_ + some.begin, out_ + some.end, skip + some.begin - first);
      return;
    }
    const Range some = inside(first, first + keep * below);
    if (some.size() == 0) return;
    const std::int64_t last = (some.end - first + below - 1) / below;
    for (std::int64_t k = (some.begin - first) / below; k < last; ++k) {
      const std::int64_t i = rows.begin + skip + k;
      sequence(levels + 1, {levels[0].start(i), levels[0].end(i)}, axis + 1, first + k * below);
    }
  }

 private:
  [[nodiscard]] Range inside(std::int64_t begin, std::int64_t end) const noexcept {
    const std::int64_t first = std::clamp(begin, from_, to_);
    return {first, std::clamp(end, first, to_)};
  }
  void zeros(std::int64_t begin, std::int64_t end) noexcept {
    const Range some = inside(begin, end);
    std::fill(out_ + some.begin, out_ + some.end, std::int64_t{0});
  }

  const PadJob& job_;
  std::int64_t* out_;
  std::int64_t from_;
  std::int64_t to_;
};

/// rows_of(k): the rows of output row k.
template <class RowsOf>
void write(std::int64_t n, const Offsets* levels, int depth, const std::int64_t* sizes, const Padding& how,
           std::int64_t* out, RowsOf rows_of) noexcept {
  const PadJob job{depth, sizes, how, kSize, false};
  const std::int64_t row = job.slot_bytes(-1) / kSize;
  const std::int64_t total = n * row;
  if (total <= 0) return;
  const std::int64_t chunks = std::min(total, chunks_for(total * kSize));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    Places places(job, out, cut(c), cut(c + 1));
    for (std::int64_t k = cut(c) / row; k * row < cut(c + 1); ++k) {
      places.sequence(levels, rows_of(k), 0, k * row);
    }
  });
}

}  // namespace

void pad_positions(const Offsets* levels, int depth, Range rows, const std::int64_t* sizes, Padding how,
                   std::int64_t* out) noexcept {
  write(rows.size(), levels + 1, depth, sizes, how, out, [&](std::int64_t k) {
    return Range{levels[0].start(rows.begin + k), levels[0].end(rows.begin + k)};
  });
}

void pad_picked_positions(const Range* picked, std::int64_t n, const Offsets* levels, int depth,
                          const std::int64_t* sizes, Padding how, std::int64_t* out) noexcept {
  write(n, levels, depth, sizes, how, out, [&](std::int64_t k) { return picked[k]; });
}

}  // namespace varlen
