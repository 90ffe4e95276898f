// The part of a batch that moves values: runs to rows end to end.
#include <algorithm>
#include <cstring>

#include "support/prefetch.hpp"
#include "support/slots.hpp"
#include "varlen/batch.hpp"
#include "varlen/copy.hpp"
#include "varlen/gather.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

// Rows of 1 KB at random from a map: half the time of none ahead, and no gain from more than their first
// line, behind which the machine looks ahead by itself.
constexpr std::int64_t kRunsAhead = 2;

/// Calls body(run, from, to, at) for pieces of all runs, about as many bytes a chunk: rows [from, to) of the
/// run go to output row `cursor`.
template <class Body>
void pieces(std::int64_t count, const std::int64_t* ends, std::int64_t width, Body body) noexcept {
  if (count == 0) return;
  const std::int64_t total = ends[count - 1];
  const std::int64_t chunks = std::min(std::max<std::int64_t>(total, 1), chunks_for(total * width));
  parallel(chunks, [&](std::int64_t c) {
    const std::int64_t from = total / chunks * c;
    const std::int64_t to = c + 1 == chunks ? total : total / chunks * (c + 1);
    std::int64_t i = std::upper_bound(ends, ends + count, from) - ends;
    for (std::int64_t cursor = from; cursor < to; ++i) {
      const std::int64_t first = i > 0 ? ends[i - 1] : 0;
      const std::int64_t stop = std::min(to, ends[i]);
      if (stop > cursor) body(i, cursor - first, stop - first, cursor);
      cursor = stop;
    }
  });
}

/// Rows [from, to) of a feed.
void put(const Feed& feed, std::int64_t from, std::int64_t to, std::byte* out) noexcept {
  const std::byte* input = feed.rows.data + from * feed.rows.width;
  if (feed.convert.run == nullptr) {
    copy_bytes(out, input, (to - from) * feed.rows.width);
  } else {
    feed.convert.run(input, (to - from) * feed.elements(), feed.convert.nan, out);
  }
}

/// Slots `part` of one run of a column that lies above them.
void broadcast_run(const Feed& feed, const Nest& nest, Range rows, Range part, FillMode mode,
                   const std::byte* fill, std::int64_t width, std::byte* out) noexcept {
  if (mode == FillMode::first) fill_rows(out, part.size(), width, fill);
  const Offsets* levels = nest.levels + feed.dim;
  const int depth = nest.depth - feed.dim;
  std::int64_t row = row_of_slot(levels, depth, rows, part.begin);
  for (; row < rows.end; ++row) {
    const std::int64_t first = first_slot(levels, depth, row);
    if (first >= part.end) break;
    const std::int64_t last = std::min(first_slot(levels, depth, row + 1), part.end);
    const std::int64_t begin = std::max(first, part.begin);
    if (last <= begin || (mode == FillMode::first && first < part.begin)) continue;
    std::byte* to = out + (begin - part.begin) * width;
    put(feed, row, row + 1, to);
    if (mode == FillMode::repeat) {
      for (std::int64_t i = 1; i < last - begin; ++i)
        std::memcpy(to + i * width, to, static_cast<std::size_t>(width));
    }
  }
}

}  // namespace

Status batch_fits(const Feed* feeds, const Type* from, Type to, bool skip_nan, const Runs& runs,
                  const Range* ranges, Place& place) noexcept {
  for (std::int64_t i = 0; i < runs.count; ++i) {
    const Feed& feed = feeds[runs.from(i)];
    if (feed.convert.run == nullptr) continue;
    const std::int64_t first = ranges[i].begin * feed.elements();
    Status status = cast_check(from[runs.from(i)], to, skip_nan, feed.rows.data + first * feed.convert.from,
                               ranges[i].size() * feed.elements());
    if (!status.ok()) {
      status.where = (first + status.where) / feed.elements();
      place = {i, feed.dim};
      return status;
    }
  }
  return {};
}

void batch_rows(const Feed* feeds, const Runs& runs, const Range* ranges, const std::int64_t* ends,
                std::int64_t width, std::byte* out) noexcept {
  if (runs.index == nullptr && feeds[0].convert.run == nullptr) {
    gather_rows(feeds[0].rows, ranges, ends, runs.count, out);
    return;
  }
  pieces(runs.count, ends, width,
         [&](std::int64_t i, std::int64_t from, std::int64_t to, std::int64_t cursor) {
           const std::int64_t next_run = i + kRunsAhead;
           if (next_run < runs.count) {
             const Rows& next = feeds[runs.from(next_run)].rows;
             prefetch(next.data, ranges[next_run].begin, next.width);
           }
           put(feeds[runs.from(i)], ranges[i].begin + from, ranges[i].begin + to, out + cursor * width);
         });
}

void batch_broadcast(const Feed* feeds, const Runs& runs, const Range* slots, Range* const* up,
                     const std::int64_t* ends, FillMode mode, const std::byte* fill, std::int64_t width,
                     std::byte* out) noexcept {
  pieces(runs.count, ends, width,
         [&](std::int64_t i, std::int64_t from, std::int64_t to, std::int64_t cursor) {
           const Feed& feed = feeds[runs.from(i)];
           const Nest& nest = runs.source(i).nest;
           const Range part{slots[i].begin + from, slots[i].begin + to};
           if (feed.dim == nest.depth) {
             put(feed, part.begin, part.end, out + cursor * width);
           } else {
             broadcast_run(feed, nest, up[feed.dim][i], part, mode, fill, width, out + cursor * width);
           }
         });
}

}  // namespace varlen
