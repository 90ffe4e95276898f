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

  /// A sequence of `rows` on `axis`, whose first slot is `place`; levels are those below it.
  void sequence(const Offsets* levels, Range rows, int axis, std::int64_t place) noexcept {
    const std::int64_t stride = job_.slot_bytes(axis) / kSize;
    const std::int64_t slots = job_.sizes[axis];
    const std::int64_t keep = std::min(rows.size(), job_.slot_limit(axis));
    const std::int64_t skip = job_.how.cut == Side::left ? rows.size() - keep : 0;
    const std::int64_t first = place + (job_.how.side == Side::left ? (slots - keep) * stride : 0);
    zeros(place, first);
    zeros(first + keep * stride, place + slots * stride);
    if (axis + 1 == job_.depth) {
      const Range part = clip(first, first + keep);
      std::iota(out_ + part.begin, out_ + part.end, skip + part.begin - first);
      return;
    }
    const Range part = clip(first, first + keep * stride);
    if (part.size() == 0) return;
    const std::int64_t last = (part.end - first + stride - 1) / stride;
    for (std::int64_t k = (part.begin - first) / stride; k < last; ++k) {
      const std::int64_t i = rows.begin + skip + k;
      sequence(levels + 1, {levels[0].start(i), levels[0].end(i)}, axis + 1, first + k * stride);
    }
  }

 private:
  [[nodiscard]] Range clip(std::int64_t begin, std::int64_t end) const noexcept {
    const std::int64_t first = std::clamp(begin, from_, to_);
    return {first, std::clamp(end, first, to_)};
  }
  void zeros(std::int64_t begin, std::int64_t end) noexcept {
    const Range part = clip(begin, end);
    std::fill(out_ + part.begin, out_ + part.end, std::int64_t{0});
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

void pad_picked_positions(const Range* ranges, std::int64_t n, const Offsets* levels, int depth,
                          const std::int64_t* sizes, Padding how, std::int64_t* out) noexcept {
  write(n, levels, depth, sizes, how, out, [&](std::int64_t k) { return ranges[k]; });
}

}  // namespace varlen
