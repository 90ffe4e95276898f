#include "varlen/gather.hpp"

#include <algorithm>
#include <cstring>

#include "varlen/checked.hpp"
#include "varlen/pool.hpp"

namespace varlen {

Status gather_index(const std::int64_t* index, std::int64_t n, std::int64_t count, Range* ranges) noexcept {
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = index[k] < 0 ? index[k] + count : index[k];
    if (i < 0 || i >= count) return {Code::index_out_of_range, k, index[k]};
    ranges[k] = {i, i + 1};
  }
  return {};
}

Status gather_descend(Offsets level, const Range* ranges, std::int64_t n, std::int64_t limit, Range* below,
                      std::int64_t* ends) noexcept {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const Range r = ranges[k];
    const std::int64_t begin = level.start(r.begin);
    const std::int64_t end = r.end > r.begin ? level.end(r.end - 1) : begin;
    if (begin < 0 || end < begin) return {Code::decreasing, r.end - 1, end};
    if (end > limit) return {Code::beyond_total, r.end - 1, end};
    if (!checked_add(sum, end - begin, sum)) return {Code::overflow, k, sum};
    below[k] = {begin, end};
    ends[k] = sum;
  }
  return {};
}

Status gather_ends(Offsets level, const Range* ranges, const Range* below, const std::int64_t* ends,
                   std::int64_t n, std::int64_t* out) noexcept {
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t shift = below[k].begin - (k > 0 ? ends[k - 1] : 0);
    std::int64_t before = below[k].begin;
    for (std::int64_t i = ranges[k].begin; i < ranges[k].end; ++i) {
      const std::int64_t end = level.end(i);
      if (end < before || end > below[k].end) return {Code::decreasing, i, end};
      *out++ = end - shift;
      before = end;
    }
  }
  return {};
}

void gather_rows(Rows values, const Range* ranges, const std::int64_t* ends, std::int64_t n,
                 std::byte* out) noexcept {
  if (n == 0) return;
  const std::int64_t width = values.width;
  const std::int64_t chunks = std::min(n, chunks_for(ends[n - 1] * width));
  parallel(chunks, [&](std::int64_t c) {
    // Chunks are cut by rows of the output, so that one giant range does not hold up the rest.
    const std::int64_t total = ends[n - 1];
    const std::int64_t from = total / chunks * c;
    const std::int64_t to = c + 1 == chunks ? total : total / chunks * (c + 1);
    std::int64_t k = std::upper_bound(ends, ends + n, from) - ends;
    for (std::int64_t at = from; at < to; ++k) {
      const std::int64_t first = k > 0 ? ends[k - 1] : 0;
      const std::int64_t stop = std::min(to, ends[k]);
      std::memcpy(out + at * width, values.data + (ranges[k].begin + at - first) * width,
                  static_cast<std::size_t>((stop - at) * width));
      at = stop;
    }
  });
}

}  // namespace varlen
