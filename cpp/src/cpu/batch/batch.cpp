#include "varlen/batch.hpp"

#include <algorithm>

#include "support/prefetch.hpp"
#include "support/read_once.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {
namespace {

// Bounds of scattered rows: far enough ahead to hide a miss of all caches, near enough to stay in the first.
constexpr std::int64_t kPrefetchRuns = 32;

/// The rows of dim d + 1 under `range` of dim d, from its outer bounds alone.
Status below_of(const Nest& nest, int d, Range range, Range& children) noexcept {
  const Offsets& level = nest.levels[d];
  const std::int64_t begin = level.start(range.begin);
  const std::int64_t end = range.end > range.begin ? level.end(range.end - 1) : begin;
  if (begin < 0 || end < begin) return {Code::decreasing, range.end - 1, end};
  if (end > nest.rows[d + 1]) return {Code::beyond_total, range.end - 1, end};
  children = {begin, end};
  return {};
}

/// The same with every bound between looked at.
Status walk(const Nest& nest, int d, Range range, Range& children, std::int64_t& longest) noexcept {
  const Status status = below_of(nest, d, range, children);
  if (!status.ok()) return status;
  const Offsets& level = nest.levels[d];
  std::int64_t previous = children.begin;
  bool falls = false;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const std::int64_t end = level.end(i);
    falls |= end < previous;
    // Unsigned, because a damaged level may hold anything; what comes of it is not used then.
    longest = std::max(longest, static_cast<std::int64_t>(static_cast<std::uint64_t>(end) -
                                                          static_cast<std::uint64_t>(previous)));
    previous = end;
  }
  if (!falls) return {};
  std::int64_t i = range.begin;  // by now it may rise again, where another thread writes
  while (i + 1 < range.end && level.end(i) >= level.start(i)) ++i;
  return {Code::decreasing, i, level.end(i)};
}

/// The last source that begins at or before a row. Without a branch, because rows come in any order.
std::int64_t source_of(const std::int64_t* starts, std::int64_t count, std::int64_t row) noexcept {
  const std::int64_t* first = starts;
  for (; count > 1; count -= count / 2) first += first[count / 2] <= row ? count / 2 : 0;
  return first - starts;
}

}  // namespace

Status batch_records(const Source* sources, std::int64_t source_count, const std::int64_t* starts,
                     const std::int64_t* rows, std::int64_t n, std::int64_t stride, std::int32_t* index,
                     Range* records) noexcept {
  const std::int64_t total = starts[source_count];
  std::int64_t s = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t number = read_once(rows + k);
    const std::int64_t row = number < 0 ? number + total : number;
    if (row < 0 || row >= total) return {Code::index_out_of_range, k, number};
    if (row < starts[s] || row >= starts[s + 1]) {
      s = source_of(starts, source_count, row);
    }
    const std::int64_t record = sources[s].records.begin + row - starts[s];
    if (index != nullptr) index[k * stride] = static_cast<std::int32_t>(s);
    records[k * stride] = {record, record + 1};
  }
  return {};
}

Status batch_first(const Source& source, const std::int64_t* rows, std::int64_t n, Range* records,
                   Range* children, std::int64_t* ends, std::int64_t& longest, Place& place) noexcept {
  const Nest& nest = source.nest;
  const Offsets level = nest.levels[0];
  const std::int64_t first = source.records.begin;
  const std::int64_t total = source.records.size();
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    if (k + kPrefetchRuns < n && rows[k + kPrefetchRuns] < total)
      prefetch(level.ends, first + rows[k + kPrefetchRuns], 8);
    const std::int64_t number = read_once(rows + k);
    const std::int64_t row = number < 0 ? number + total : number;
    if (row < 0 || row >= total) return {Code::index_out_of_range, k, number};
    const Range record{first + row, first + row + 1};
    if (records != nullptr) records[k] = record;
    const Status status = below_of(nest, 0, record, children[k]);
    if (!status.ok()) {
      place = {k, 1};
      return status;
    }
    const std::int64_t size = children[k].size();
    if (!checked_add(sum, size, sum)) return {Code::overflow, k, sum};
    longest = std::max(longest, size);
    ends[k] = sum;
  }
  return {};
}

Status batch_enter(const Runs& runs, bool deepest, const Range* records, Range* children,
                   Place& place) noexcept {
  for (std::int64_t i = 0; i < runs.count; ++i) {
    if (i + kPrefetchRuns < runs.count) {
      const Nest& next = runs.source(i + kPrefetchRuns).nest;
      if (next.depth > 0) prefetch(next.levels[0].ends, records[i + kPrefetchRuns].begin, 8);
    }
    const Nest& nest = runs.source(i).nest;
    Range range = records[i];
    const int stop = deepest ? nest.depth : std::min(nest.depth, 1);
    for (int d = 0; d < stop; ++d) {
      const Status status = below_of(nest, d, range, range);
      if (!status.ok()) {
        place = {i, d + 1};
        return status;
      }
    }
    children[i] = range;
  }
  return {};
}

Status batch_under(const Runs& runs, int d, const Range* parents, Range* children, std::int64_t& longest,
                   Place& place) noexcept {
  for (std::int64_t i = 0; i < runs.count; ++i) {
    const Status status = walk(runs.source(i).nest, d, parents[i], children[i], longest);
    if (!status.ok()) {
      place = {i, d + 1};
      return status;
    }
  }
  return {};
}

Status batch_rise(const Runs& runs, const Range* records, const Range* slots, Range* const* up,
                  Place& place) noexcept {
  for (std::int64_t i = 0; i < runs.count; ++i) {
    const Source& source = runs.source(i);
    const Nest& nest = source.nest;
    if (nest.depth < 2) continue;
    Range bounds[kMaxBatchDepth + 1];
    bounds[0] = records[i];
    for (int d = 0; d < nest.depth; ++d) {
      const Status status = below_of(nest, d, bounds[d], bounds[d + 1]);
      if (!status.ok()) {
        place = {i, d + 1};
        return status;
      }
    }
    Range want = slots[i];
    if (want.size() == 0) {
      for (int d = 1; d < nest.depth; ++d) up[d][i] = {bounds[d].begin, bounds[d].begin};
      continue;
    }
    for (int d = nest.depth - 1; d > 0; --d) {
      const std::int64_t* ends = nest.levels[d].ends;
      const std::int64_t* first = std::upper_bound(ends + bounds[d].begin, ends + bounds[d].end, want.begin);
      const std::int64_t* last = std::lower_bound(first, ends + bounds[d].end, want.end);
      const std::int64_t begin = first - ends;
      want = {begin, std::min(last - ends + 1, bounds[d].end)};
      up[d][i] = want;
    }
    if (source.trust) continue;
    for (int d = 1; d < nest.depth; ++d) {
      std::int64_t longest = 0;
      Status status = walk(nest, d, want, want, longest);
      // A search in a damaged level may have come out anywhere.
      const bool is_inside =
          d + 1 == nest.depth || (up[d + 1][i].begin >= want.begin && up[d + 1][i].end <= want.end);
      if (status.ok() && !is_inside) status = {Code::decreasing, up[d + 1][i].begin, up[d + 1][i].end};
      if (!status.ok()) {
        place = {i, d + 1};
        return status;
      }
    }
  }
  return {};
}

Status batch_ends(const Range* runs, std::int64_t count, std::int64_t* ends) noexcept {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!checked_add(total, runs[i].size(), total)) return {Code::overflow, i, total};
    ends[i] = total;
  }
  return {};
}

void batch_level(const Runs& runs, int d, const Range* parents, const Range* children,
                 std::int64_t* out) noexcept {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < runs.count; ++i) {
    const Offsets& level = runs.source(i).nest.levels[d];
    const std::int64_t shift = children[i].begin - total;
    for (std::int64_t j = parents[i].begin; j < parents[i].end; ++j) *out++ = level.end(j) - shift;
    total += children[i].size();
  }
}

Status batch_own_ends(const Runs& runs, int d, const Range* parents, const Range* children, std::int64_t* own,
                      Place& place) noexcept {
  for (std::int64_t i = 0; i < runs.count; ++i) {
    const Offsets& level = runs.source(i).nest.levels[d];
    std::int64_t previous = children[i].begin;
    for (std::int64_t j = parents[i].begin; j < parents[i].end; ++j) {
      const std::int64_t end = read_once(level.ends + j);
      const bool is_last = j + 1 == parents[i].end;
      if (end < previous || end > children[i].end || (is_last && end != children[i].end)) {
        place = {i, d + 1};
        return {Code::decreasing, j, end};
      }
      *own++ = end - children[i].begin;
      previous = end;
    }
  }
  return {};
}

void batch_own_level(std::int64_t count, const Range* parents, const Range* children, const std::int64_t* own,
                     std::int64_t* out) noexcept {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = parents[i].begin; j < parents[i].end; ++j) *out++ = *own++ + total;
    total += children[i].size();
  }
}

}  // namespace varlen
