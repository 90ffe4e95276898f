#include "varlen/pad.hpp"

#include <algorithm>

#include "support/caches.hpp"
#include "varlen/pool.hpp"
#include "walk.hpp"

namespace varlen {
namespace {

/// One chunk: the bytes [begin, end) of the output. row(i) gives the segments of output row i.
template <class Out, class Row, class Body>
void write_chunk(const PadJob& job, const Pattern& pattern, std::byte* out, std::int64_t begin,
                 std::int64_t end, std::int64_t per_row, Row row, Body body) noexcept {
  const std::int64_t row_bytes = job.slot_bytes(-1);
  Walk<Out> walk(job, pattern, out + begin, out + end);
  std::int64_t i = begin / row_bytes;
  const auto piece = [&](std::int64_t from, std::int64_t to) {
    Segment one;
    walk.part(row(i, one), per_row, 0, from - i * row_bytes, to - i * row_bytes);
    ++i;
  };
  if (begin % row_bytes != 0) piece(begin, std::min(end, (i + 1) * row_bytes));
  if (const std::int64_t last = end / row_bytes; i < last) {
    body(walk, i, last);
    i = last;
  }
  if (i * row_bytes < end) piece(i * row_bytes, end);
  walk.finish();
}

template <class Row, class Body>
void write(const PadJob& job, std::int64_t n, std::int64_t per_row, std::byte* out, Row row,
           Body body) noexcept {
  const std::int64_t row_bytes = job.slot_bytes(-1);
  const std::int64_t total = n * row_bytes;
  if (total <= 0) return;
  const Pattern pattern(job.how.fill, job.how.period > 0 ? job.how.period : job.width);
  const Stores stores = job.how.stores == Stores::by_size ? stores_for(total) : job.how.stores;
  const bool past = stores == Stores::past_caches;
  const std::int64_t chunks = std::min(total / job.width, chunks_for(total));
  // Cut between output rows where there are many, else anywhere between two rows of values: one giant
  // sequence is shared by all threads.
  const std::int64_t grain = n >= 4 * chunks ? row_bytes : job.width;
  const std::int64_t units = total / grain;
  const auto cut = [&](std::int64_t c) { return (units / chunks * c + std::min(c, units % chunks)) * grain; };
  parallel(chunks, [&](std::int64_t c) {
    if (past) {
      write_chunk<PastCaches>(job, pattern, out, cut(c), cut(c + 1), per_row, row, body);
    } else {
      write_chunk<CacheWriter>(job, pattern, out, cut(c), cut(c + 1), per_row, row, body);
    }
  });
}

/// Whether every sequence fills its slots, and the rows of values that they take together.
bool is_full(const Offsets* levels, int depth, Range rows, const std::int64_t* sizes,
             const std::int64_t* keeps, Range& target) noexcept {
  for (int d = 0; d < depth; ++d) {
    if (keeps != nullptr && keeps[d] < sizes[d]) return false;
    if (rows.size() <= 0) return false;
    const Range children{levels[d].start(rows.begin), levels[d].end(rows.end - 1)};
    if (children.size() == 0 || children.size() != rows.size() * sizes[d]) return false;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      if (levels[d].length(i) != sizes[d]) return false;
    }
    rows = children;
  }
  target = rows;
  return true;
}

void write_levels(const Offsets* levels, int depth, Range rows, const Rows& values, const std::int64_t* sizes,
                  const Padding& how, bool mask, std::byte* out) noexcept {
  if (Range all;
      rows.size() > 1 && is_full(levels, depth, rows, sizes, how.keeps, all)) {  // as one long sequence
    const std::int64_t slots = all.size();
    const Offsets level{&slots, 1};
    const Rows from =
        mask ? values : Rows{values.data + all.begin * values.width, values.count - all.begin, values.width};
    Padding padding = how;
    padding.keeps = nullptr;
    write_levels(&level, 1, {0, 1}, from, &slots, padding, mask, out);
    return;
  }
  const PadJob job{depth, sizes, how, mask ? 1 : how.convert.out_bytes(values.width), mask};
  write(
      job, rows.size(), 1, out,
      [&](std::int64_t i, Segment& one) {
        const std::int64_t place = rows.begin + i;
        one = {levels + 1, values, {levels[0].start(place), levels[0].end(place)}};
        return static_cast<const Segment*>(&one);
      },
      [&](auto& walk, std::int64_t begin, std::int64_t end) {
        walk.block(levels, values, {rows.begin + begin, rows.begin + end}, 0);
      });
}

void write_segments(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                    const std::int64_t* sizes, const Padding& how, bool mask, std::byte* out) noexcept {
  if (n <= 0 || per_row <= 0) return;
  const std::int64_t width = mask ? 1 : how.convert.out_bytes(segments[0].values.width);
  const PadJob job{depth, sizes, how, width, mask};
  write(
      job, n, per_row, out, [&](std::int64_t i, Segment& /*one*/) { return segments + i * per_row; },
      [&](auto& walk, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) walk.sequence(segments + i * per_row, per_row, 0);
      });
}

Padding for_mask(Padding how) noexcept {
  how.fill = nullptr;
  how.convert = {};
  return how;
}

}  // namespace

void pad(const Offsets* levels, int depth, Range rows, Rows values, const std::int64_t* sizes, Padding how,
         std::byte* out) noexcept {
  write_levels(levels, depth, rows, values, sizes, how, false, out);
}

void pad_segments_of(const Range* ranges, std::int64_t n, const Offsets* levels, Rows values,
                     Segment* segments) noexcept {
  for (std::int64_t k = 0; k < n; ++k) segments[k] = {levels, values, ranges[k]};
}

void pad_segments(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                  const std::int64_t* sizes, Padding how, std::byte* out) noexcept {
  write_segments(segments, per_row, n, depth, sizes, how, false, out);
}

void pad_mask(const Offsets* levels, int depth, Range rows, const std::int64_t* sizes, Padding how,
              std::byte* out) noexcept {
  write_levels(levels, depth, rows, {nullptr, 0, 1}, sizes, for_mask(how), true, out);
}

void pad_segments_mask(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                       const std::int64_t* sizes, Padding how, std::byte* out) noexcept {
  write_segments(segments, per_row, n, depth, sizes, for_mask(how), true, out);
}

namespace {

void longest_kept(const Offsets* levels, int depth, Range rows, const std::int64_t* caps, Side cut,
                  std::int64_t* sizes) noexcept {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const std::int64_t have = levels[0].length(i);
    const std::int64_t keep = std::min(have, caps[0]);
    sizes[0] = std::max(sizes[0], keep);
    const std::int64_t first = levels[0].start(i) + (cut == Side::left ? have - keep : 0);
    if (depth > 1) longest_kept(levels + 1, depth - 1, {first, first + keep}, caps + 1, cut, sizes + 1);
  }
}

}  // namespace

void pad_kept_sizes(const Offsets* levels, int depth, Range rows, const std::int64_t* caps, Side cut,
                    std::int64_t* sizes) noexcept {
  std::fill_n(sizes, depth, 0);
  longest_kept(levels, depth, rows, caps, cut, sizes);
}

std::int64_t past_caches_from() noexcept {
  // Measured: with a cache of 32 MB, 0.7 of the time of ordinary stores at 17 MB, and less above; with 480
  // MB, 1.0 to 1.3 at 17 to 24 MB, 0.9 at 32 MB, 0.7 to 0.85 from 50 MB on, also where the output is read
  // next.
  constexpr std::int64_t kLimit = std::int64_t{32} << 20;
  const std::int64_t cache = last_cache_bytes();
  return cache > 0 ? std::clamp(cache / 2, kLimit / 4, kLimit) : kLimit;
}

void pad_sizes(const Offsets* levels, int depth, Range rows, std::int64_t* sizes) noexcept {
  for (int d = 0; d < depth; ++d) {
    std::int64_t longest = 0;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) longest = std::max(longest, levels[d].length(i));
    sizes[d] = longest;
    rows = {levels[d].start(rows.begin),
            rows.size() > 0 ? levels[d].end(rows.end - 1) : levels[d].start(rows.begin)};
  }
}

}  // namespace varlen
