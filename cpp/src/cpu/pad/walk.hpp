// The walk over the levels: which bytes follow which. Where they go is Out's business.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "job.hpp"
#include "medium.hpp"
#include "small.hpp"
#include "support/writers.hpp"
#include "varlen/pad.hpp"

namespace varlen {

// Values are converted this many bytes of output at a time where they cannot go straight to their place.
inline constexpr std::int64_t kScratch = 4096;

/// Walks the levels and writes slot by slot into Out, one of Cached and PastCaches.
template <class Out>
class Walk {
 public:
  Walk(const PadJob& job, const Pattern& pattern, std::byte* out, std::byte* limit) noexcept
      : job_(job), out_(out, limit, pattern), last_(job.depth - 1) {
    const std::int64_t bytes = job.slot_bytes(last_ - 1);
    small_ = bytes <= kSmallRow;
    if (small_) fill_row(pattern, bytes);
    medium_ = std::is_same_v<Out, Cached> && bytes <= kMediumRow && !job.mask &&
              job.how.convert.run == nullptr && pattern.repeats_in_vector();
  }

  /// Sequences `rows` of levels[0], each on `axis`.
  void block(const Offsets* levels, const Rows& values, Range rows, int axis) noexcept {
    if (axis == last_ && small_) {
      small(levels[0], values, rows);
      return;
    }
    if (axis == last_ && medium_) rows.begin = medium(levels[0], values, rows);
    const std::int64_t slots = job_.sizes[axis];
    const std::int64_t most = job_.most(axis);
    const std::int64_t slot_bytes = job_.slot_bytes(axis);
    const bool left = job_.how.side == Side::left;
    const bool cut_left = job_.how.cut == Side::left;
    const std::int64_t* ends = levels[0].ends;
    std::int64_t start = levels[0].start(rows.begin);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const std::int64_t have = ends[i] - start;
      const std::int64_t keep = std::min(have, most);
      const std::int64_t first = start + (cut_left ? have - keep : 0);
      const std::int64_t gap = (slots - keep) * slot_bytes;
      start = ends[i];
      if (left && gap > 0) out_.fill(gap);
      inside(levels + 1, values, {first, first + keep}, axis);
      if (!left && gap > 0) out_.fill(gap);
    }
  }

  /// One sequence made of segments, on `axis`.
  void sequence(const Segment* segments, std::int64_t count, int axis) noexcept {
    each(segments, count, axis,
         [&](const Segment& s, Range rows) { inside(s.levels, s.values, rows, axis); });
  }

  /// The bytes [begin, end) of what sequence() writes. Both are a multiple of a row.
  void part(const Segment* segments, std::int64_t count, int axis, std::int64_t begin,
            std::int64_t end) noexcept {
    const std::int64_t slot_bytes = job_.slot_bytes(axis);
    std::int64_t at = 0;  // bytes of this sequence that are behind us
    const auto clip = [&](std::int64_t bytes) {
      const std::int64_t from = std::clamp(begin - at, std::int64_t{0}, bytes);
      const std::int64_t to = std::clamp(end - at, std::int64_t{0}, bytes);
      at += bytes;
      return Range{from, to};
    };
    each(
        segments, count, axis,
        [&](const Segment& s, Range rows) {
          if (axis == last_) {
            const Range some = clip(rows.size() * slot_bytes);
            inside(s.levels, s.values,
                   {rows.begin + some.begin / slot_bytes, rows.begin + some.end / slot_bytes}, axis);
            return;
          }
          for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const Range some = clip(slot_bytes);
            const Segment inner{s.levels + 1, s.values, {s.levels[0].start(i), s.levels[0].end(i)}};
            if (some.size() > 0) part(&inner, 1, axis + 1, some.begin, some.end);
          }
        },
        [&](std::int64_t gap) { out_.fill(clip(gap).size()); });
  }

  void finish() noexcept { out_.finish(); }

 private:
  template <class Data>
  void each(const Segment* segments, std::int64_t count, int axis, Data data) noexcept {
    each(segments, count, axis, data, [this](std::int64_t gap) { out_.fill(gap); });
  }

  /// A sequence as fill and ranges of its segments, after the cut.
  template <class Data, class Gap>
  void each(const Segment* segments, std::int64_t count, int axis, Data data, Gap gap_of) noexcept {
    std::int64_t have = 0;
    for (std::int64_t s = 0; s < count; ++s) have += segments[s].rows.size();
    const std::int64_t slots = job_.sizes[axis];
    std::int64_t keep = std::min(have, job_.most(axis));
    std::int64_t skip = job_.how.cut == Side::left ? have - keep : 0;
    const std::int64_t gap = (slots - keep) * job_.slot_bytes(axis);
    if (job_.how.side == Side::left && gap > 0) gap_of(gap);
    for (std::int64_t s = 0; s < count; ++s) {
      Range rows = segments[s].rows;
      const std::int64_t skipped = std::min(skip, rows.size());
      skip -= skipped;
      rows.begin += skipped;
      rows.end = std::min(rows.end, rows.begin + keep);
      keep -= rows.size();
      if (rows.size() > 0) data(segments[s], rows);
    }
    if (job_.how.side == Side::right && gap > 0) gap_of(gap);
  }

  /// What is in the slots of a sequence: sequences of the next axis, or rows.
  void inside(const Offsets* levels, const Rows& values, Range rows, int axis) noexcept {
    if (axis == last_) {
      data(values, rows);
    } else {
      block(levels, values, rows, axis + 1);
    }
  }

  void data(const Rows& values, Range rows) noexcept {
    const std::int64_t bytes = rows.size() * job_.width;
    if (bytes <= 0) return;
    if (job_.mask) {
      out_.ones(bytes);
      return;
    }
    const std::byte* in = values.data + rows.begin * values.width;
    const Convert& convert = job_.how.convert;
    if (convert.run == nullptr) {
      out_.copy(in, bytes, values.data, values.data + values.count * values.width);
    } else if constexpr (std::is_same_v<Out, Cached>) {
      convert.apply(in, bytes / convert.to, out_.out);
      out_.out += bytes;
    } else {
      converted(in, bytes / convert.to);
    }
  }

  void converted(const std::byte* in, std::int64_t count) noexcept {
    const Convert& convert = job_.how.convert;
    const std::int64_t most = kScratch / convert.to;
    while (count > 0) {
      const std::int64_t some = std::min(count, most);
      convert.apply(in, some, scratch_);
      out_.copy(scratch_, some * convert.to, scratch_, scratch_ + sizeof scratch_);
      in += some * convert.from;
      count -= some;
    }
  }

  void fill_row(const Pattern& pattern, std::int64_t bytes) noexcept {
    Cached row(fill_row_, fill_row_ + sizeof fill_row_, pattern);
    row.fill(bytes);
    std::memset(fill_row_ + bytes, 0, sizeof fill_row_ - static_cast<std::size_t>(bytes));
  }

  [[nodiscard]] SmallRows rows_of(Offsets level, const Rows& values, Range rows) const noexcept {
    return {level,
            rows,
            values.data,
            0,
            values.data,
            values.data + values.count * values.width,
            job_.width,
            job_.sizes[last_],
            job_.most(last_),
            job_.how.side == Side::left,
            job_.how.cut == Side::left,
            job_.mask,
            fill_row_};
  }

  std::int64_t medium(Offsets level, const Rows& values, Range rows) noexcept {
    if constexpr (std::is_same_v<Out, Cached>) {
      return pad_medium(rows_of(level, values, rows), out_.pattern, out_.out, out_.limit);
    }
    return rows.begin;
  }

  void small(Offsets level, const Rows& values, Range rows) noexcept {
    SmallRows some = rows_of(level, values, rows);
    if (job_.mask || job_.how.convert.run == nullptr) {
      put(some);
      return;
    }
    // Many rows are converted in one run, and padded from there.
    const Convert& convert = job_.how.convert;
    const std::int64_t most = kScratch / job_.width;
    some.begin = scratch_;
    some.data = scratch_ + kSmallRow;
    some.end = scratch_ + sizeof scratch_;
    for (std::int64_t i = rows.begin; i < rows.end;) {
      const std::int64_t first = level.start(i);
      std::int64_t next = i + 1;
      std::int64_t stop = level.end(i);
      if (stop - first > most) {  // cut far below its length: not worth converting whole
        const Segment one{nullptr, values, {first, stop}};
        sequence(&one, 1, last_);
        i = next;
        continue;
      }
      while (next < rows.end && level.end(next) - first <= most) stop = level.end(next++);
      convert.apply(values.data + first * values.width, (stop - first) * job_.width / convert.to,
                    scratch_ + kSmallRow);
      some.rows = {i, next};
      some.first = first;
      put(some);
      i = next;
    }
  }

  void put(SmallRows some) noexcept {
    const std::int64_t bytes = some.slots * some.width;
    if constexpr (std::is_same_v<Out, Cached>) {
      pad_small(some, out_.out, out_.limit);
      out_.out += some.rows.size() * bytes;
    } else {
      const Range rows = some.rows;
      for (std::int64_t i = rows.begin; i < rows.end; i = some.rows.end) {
        some.rows = {i, std::min(rows.end, i + kScratch / bytes)};
        pad_small(some, staged_, staged_ + sizeof staged_);
        out_.copy(staged_, some.rows.size() * bytes, staged_, staged_ + sizeof staged_);
      }
    }
  }

  const PadJob& job_;
  Out out_;
  int last_;
  bool small_ = false;
  bool medium_ = false;
  std::byte fill_row_[kSmallRow + kOver];
  alignas(64) std::byte scratch_[kScratch + 2 * kSmallRow];
  alignas(64) std::byte staged_[std::is_same_v<Out, Cached> ? 1 : kScratch + kSmallRow];
};

}  // namespace varlen
