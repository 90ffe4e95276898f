// The part of a batch that moves values: runs to rows end to end.
#include <algorithm>
#include <atomic>
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

/// Calls body(bytes, place, count) for the numbers of rows [from, to) of a feed of bits, block by block,
/// while it returns true. `place` counts from the first of them.
template <class Body>
Status each_block(const Feed& feed, std::int64_t from, std::int64_t to, Body body) noexcept {
  alignas(64) std::byte block[kBlockNumbers * 8];
  const std::int64_t words = feed.rows.width / feed.bits->width;
  const std::int64_t stop = to * words;
  for (std::int64_t first = from * words; first < stop;) {
    const std::int64_t last = std::min(stop, (first / kBlockNumbers + 1) * kBlockNumbers);
    const Status status = decode_bits(*feed.bits, {first, last}, block);
    if (!status.ok()) return status;
    if (!body(block, first - from * words, last - first)) break;
    first = last;
  }
  return {};
}

/// Whether a type holds all of another, so that nothing has to be read to know that it fits.
bool holds(Type to, Type from) noexcept {
  if (to == from || from == Type::b1) return true;
  if (is_float(to)) return !may_overflow(from, to);
  if (is_float(from) || to == Type::b1) return false;
  const bool from_signs = from <= Type::i64;
  const bool to_signs = to <= Type::i64;
  if (from_signs == to_signs) return size_of(to) >= size_of(from);
  return to_signs && size_of(to) > size_of(from);
}

/// Rows [from, to) of a feed.
Status put(const Feed& feed, std::int64_t from, std::int64_t to, std::byte* out) noexcept {
  if (feed.bits != nullptr && feed.convert.run == nullptr) {
    const std::int64_t words = feed.rows.width / feed.bits->width;
    return decode_bits(*feed.bits, {from * words, to * words}, out);
  }
  if (feed.bits != nullptr) {
    return each_block(feed, from, to, [&](const std::byte* block, std::int64_t first, std::int64_t n) {
      feed.convert.run(block, n, feed.convert.nan, out + first * feed.convert.to);
      return true;
    });
  }
  const std::byte* input = feed.rows.data + from * feed.rows.width;
  if (feed.convert.run == nullptr) {
    copy_bytes(out, input, (to - from) * feed.rows.width);
  } else {
    feed.convert.run(input, (to - from) * feed.elements(), feed.convert.nan, out);
  }
  return {};
}

/// The first failure that any thread sees.
class Failure {
 public:
  void note(Status status, std::int64_t run, int dim) noexcept {
    if (status.ok() || is_known_.exchange(true)) return;
    status_ = status;
    place_ = {run, dim};
  }
  Status status(Place& place) const noexcept {
    if (!status_.ok()) place = place_;
    return status_;
  }

 private:
  std::atomic<bool> is_known_{false};
  Status status_;
  Place place_;
};

/// Slots `part` of one run of a column that lies above them.
Status broadcast_run(const Feed& feed, const Nest& nest, Range rows, Range part, FillMode mode,
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
    const Status status = put(feed, row, row + 1, to);
    if (!status.ok()) return status;
    if (mode == FillMode::repeat) {
      for (std::int64_t i = 1; i < last - begin; ++i)
        std::memcpy(to + i * width, to, static_cast<std::size_t>(width));
    }
  }
  return {};
}

}  // namespace

Status batch_fits(const Feed* feeds, const Type* from, Type to, bool skip_nan, const Runs& runs,
                  const Range* ranges, Place& place) noexcept {
  for (std::int64_t i = 0; i < runs.count; ++i) {
    const Feed& feed = feeds[runs.from(i)];
    if (feed.convert.run == nullptr) continue;
    if (feed.bits != nullptr && holds(to, from[runs.from(i)])) continue;
    const Type type = from[runs.from(i)];
    const std::int64_t first = ranges[i].begin * feed.elements();
    Status status;
    if (feed.bits == nullptr) {
      status = cast_check(type, to, skip_nan, feed.rows.data + first * feed.convert.from,
                          ranges[i].size() * feed.elements());
    } else {
      const Status read = each_block(feed, ranges[i].begin, ranges[i].end,
                                     [&](const std::byte* block, std::int64_t at, std::int64_t n) {
                                       status = cast_check(type, to, skip_nan, block, n);
                                       status.where += at;
                                       return status.ok();
                                     });
      if (!read.ok()) {
        place = {i, feed.dim};
        return read;
      }
    }
    if (!status.ok()) {
      status.where = (first + status.where) / feed.elements();
      place = {i, feed.dim};
      return status;
    }
  }
  return {};
}

Status batch_rows(const Feed* feeds, const Runs& runs, const Range* ranges, const std::int64_t* ends,
                  std::int64_t width, std::byte* out, Place& place) noexcept {
  if (runs.index == nullptr && feeds[0].convert.run == nullptr && feeds[0].bits == nullptr) {
    gather_rows(feeds[0].rows, ranges, ends, runs.count, out);
    return {};
  }
  Failure failure;
  pieces(runs.count, ends, width,
         [&](std::int64_t i, std::int64_t from, std::int64_t to, std::int64_t cursor) {
           const std::int64_t next_run = i + kRunsAhead;
           if (next_run < runs.count) {
             const Feed& next = feeds[runs.from(next_run)];
             if (next.bits == nullptr) prefetch(next.rows.data, ranges[next_run].begin, next.rows.width);
           }
           const Feed& feed = feeds[runs.from(i)];
           failure.note(put(feed, ranges[i].begin + from, ranges[i].begin + to, out + cursor * width), i,
                        feed.dim);
         });
  return failure.status(place);
}

Status batch_broadcast(const Feed* feeds, const Runs& runs, const Range* slots, Range* const* up,
                       const std::int64_t* ends, FillMode mode, const std::byte* fill, std::int64_t width,
                       std::byte* out, Place& place) noexcept {
  Failure failure;
  pieces(runs.count, ends, width,
         [&](std::int64_t i, std::int64_t from, std::int64_t to, std::int64_t cursor) {
           const Feed& feed = feeds[runs.from(i)];
           const Nest& nest = runs.source(i).nest;
           const Range part{slots[i].begin + from, slots[i].begin + to};
           if (feed.dim == nest.depth) {
             failure.note(put(feed, part.begin, part.end, out + cursor * width), i, feed.dim);
           } else {
             failure.note(
                 broadcast_run(feed, nest, up[feed.dim][i], part, mode, fill, width, out + cursor * width), i,
                 feed.dim);
           }
         });
  return failure.status(place);
}

}  // namespace varlen
