// Spans and places that a caller names, checked, as rows of the values.
#include "support/read_once.hpp"
#include "varlen/span_rows.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {

Status span_ranges(Offsets level, Offsets groups, const std::int64_t* pairs, Range* ranges,
                   std::int64_t* ends) noexcept {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t start = level.start(i);
    const std::int64_t length = level.length(i);
    for (std::int64_t s = groups.start(i); s < groups.end(i); ++s) {
      const std::int64_t begin = read_once(pairs + 2 * s);
      const std::int64_t end = read_once(pairs + 2 * s + 1);
      if (begin < 0 || end > length) return {Code::index_out_of_range, s, length};
      if (end < begin) return {Code::decreasing, s, length};
      if (!checked_add(sum, end - begin, sum)) return {Code::overflow, s, 0};
      ranges[s] = {start + begin, start + end};
      ends[s] = sum;
    }
  }
  return {};
}

Status span_cut(Offsets level, const std::int64_t* firsts, const std::int64_t* sizes, Range* ranges,
                std::int64_t* ends) noexcept {
  std::int64_t sum = 0;  // no more than the rows that there are
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t length = level.length(i);
    const std::int64_t first = read_once(firsts + i);
    const std::int64_t size = read_once(sizes + i);
    if (first < 0 || size < 0) return {Code::negative_length, i, length};
    if (size > length - first) return {Code::index_out_of_range, i, length};
    const std::int64_t begin = level.start(i) + first;
    ranges[i] = {begin, begin + size};
    ends[i] = sum += size;
  }
  return {};
}

Status span_rows(Offsets level, Offsets groups, const std::int64_t* places, bool allows_end,
                 std::int64_t* rows) noexcept {
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t start = level.start(i);
    const std::int64_t length = level.length(i);
    const std::int64_t limit = allows_end ? length : length - 1;
    for (std::int64_t k = groups.start(i); k < groups.end(i); ++k) {
      const std::int64_t place = read_once(places + k);
      if (!is_inside(place, limit + 1)) return {Code::index_out_of_range, k, length};
      rows[k] = start + place;
      if (allows_end && k > groups.start(i) && rows[k] < rows[k - 1]) return {Code::decreasing, k, length};
    }
  }
  return {};
}

Status span_between(const std::int64_t* rows, std::int64_t n, std::int64_t total) noexcept {
  std::int64_t previous = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    if (rows[k] < 0 || rows[k] > total) return {Code::index_out_of_range, k, rows[k]};
    if (rows[k] < previous) return {Code::decreasing, k, rows[k]};
    previous = rows[k];
  }
  return {};
}

Status span_grown(Offsets level, Offsets groups, std::int64_t* ends) noexcept {
  for (std::int64_t i = 0; i < level.count; ++i) {
    if (!checked_add(level.end(i), groups.end(i), ends[i])) return {Code::overflow, i, 0};
  }
  return {};
}

}  // namespace varlen
