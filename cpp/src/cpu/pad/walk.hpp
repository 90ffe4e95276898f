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

/// Walks the levels and writes slot by slot into Out, one of CacheWriter and PastCaches.
template <class Out>
class Walk {
 public:
  Walk(const PadJob& job, const Pattern& pattern, std::byte* out, std::byte* limit) noexcept
      : job_(job), out_(out, limit, pattern), last_(job.depth - 1) {
    const std::int64_t bytes = job.slot_bytes(last_ - 1);
    small_ = bytes <= kSmallRow;
    if (small_) fill_row(pattern, bytes);
    medium_ = std::is_same_v<Out, CacheWriter> && bytes <= kMediumRow && !job.mask &&
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
    const std::int64_t cap = job_.slot_limit(axis);
    const std::int64_t slot_bytes = job_.slot_bytes(axis);
    const bool left = job_.how.side == Side::left;
    const bool cut_left = job_.how.cut == Side::left;
    const std::int64_t* ends = levels[0].ends;
    std::int64_t start = levels[0].start(rows.begin);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const std::int64_t have = ends[i] - start;
      const std::int64_t keep = std::min(have, cap);
      const std::int64_t first = start + (cut_left ? have - keep : 0);
      const std::int64_t gap = (slots - keep) * slot_bytes;
      start = ends[i];
      if (left && gap > 0) out_.fill(gap);
      put_rows(levels + 1, values, {first, first + keep}, axis);
      if (!left && gap > 0) out_.fill(gap);
    }
  }

  /// One sequence made of segments, on `axis`.
  void sequence(const Segment* segments, std::int64_t count, int axis) noexcept {
    put_segments(segments, count, axis,
                 [&](const Segment& s, Range rows) { put_rows(s.levels, s.values, rows, axis); });
  }

  /// The bytes [begin, end) of what sequence() writes. Both are a multiple of a row.
  void part(const Segment* segments, std::int64_t count, int axis, std::int64_t begin,
            std::int64_t end) noexcept {
    const std::int64_t slot_bytes = job_.slot_bytes(axis);
    std::int64_t place = 0;  // bytes of this sequence that are behind us
    const auto clip = [&](std::int64_t bytes) {
      const std::int64_t from = std::clamp(begin - place, std::int64_t{0}, bytes);
      const std::int64_t to = std::clamp(end - place, std::int64_t{0}, bytes);
      place += bytes;
      return Range{from, to};
    };
    put_segments(
        segments, count, axis,
        [&](const Segment& s, Range rows) {
          if (axis == last_) {
            const Range piece = clip(rows.size() * slot_bytes);
            put_rows(s.levels, s.values,
                     {rows.begin + piece.begin / slot_bytes, rows.begin + piece.end / slot_bytes}, axis);
            return;
          }
          for (std::int64_t i = rows.begin; i < rows.end; ++i) {
            const Range piece = clip(slot_bytes);
            const Segment inner{s.levels + 1, s.values, {s.levels[0].start(i), s.levels[0].end(i)}};
            if (piece.size() > 0) part(&inner, 1, axis + 1, piece.begin, piece.end);
          }
        },
        [&](std::int64_t gap) { out_.fill(clip(gap).size()); });
  }

  void finish() noexcept { out_.finish(); }

 private:
  template <class Data>
  void put_segments(const Segment* segments, std::int64_t count, int axis, Data data) noexcept {
    put_segments(segments, count, axis, data, [this](std::int64_t gap) { out_.fill(gap); });
  }

  /// A sequence as fill and ranges of its segments, after the cut.
  template <class Data, class Gap>
  void put_segments(const Segment* segments, std::int64_t count, int axis, Data data, Gap gap_of) noexcept {
    std::int64_t have = 0;
    for (std::int64_t s = 0; s < count; ++s) have += segments[s].rows.size();
    const std::int64_t slots = job_.sizes[axis];
    std::int64_t keep = std::min(have, job_.slot_limit(axis));
    std::int64_t skip = job_.how.cut == Side::left ? have - keep : 0;
    const std::int64_t gap = (slots - keep) * job_.slot_bytes(axis);
    if (job_.how.side == Side::left && gap > 0) gap_of(gap);
    for (std::int64_t s = 0; s < count; ++s) {
      Range rows = segments[s].rows;
      const std::int64_t lead = std::min(skip, rows.size());
      skip -= lead;
      rows.begin += lead;
      rows.end = std::min(rows.end, rows.begin + keep);
      keep -= rows.size();
      if (rows.size() > 0) data(segments[s], rows);
    }
    if (job_.how.side == Side::right && gap > 0) gap_of(gap);
  }

  /// What is in the slots of a sequence: sequences of the next axis, or rows.
  void put_rows(const Offsets* levels, const Rows& values, Range rows, int axis) noexcept {
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
    const std::byte* input = values.data + rows.begin * values.width;
    const Convert& convert = job_.how.convert;
    if (convert.run == nullptr) {
      out_.copy(input, bytes, values.data, values.data + values.count * values.width);
    } else if constexpr (std::is_same_v<Out, CacheWriter>) {
      convert.apply(input, bytes / convert.to, out_.out);
      out_.out += bytes;
    } else {
      put_converted(input, bytes / convert.to);
    }
  }

  void put_converted(const std::byte* input, std::int64_t count) noexcept {
    const Convert& convert = job_.how.convert;
    const std::int64_t cap = kScratch / convert.to;
    while (count > 0) {
      const std::int64_t piece = std::min(count, cap);
      convert.apply(input, piece, scratch_);
      out_.copy(scratch_, piece * convert.to, scratch_, scratch_ + sizeof scratch_);
      input += piece * convert.from;
      count -= piece;
    }
  }

  void fill_row(const Pattern& pattern, std::int64_t bytes) noexcept {
    CacheWriter row(fill_row_, fill_row_ + sizeof fill_row_, pattern);
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
            job_.slot_limit(last_),
            job_.how.side == Side::left,
            job_.how.cut == Side::left,
            job_.mask,
            fill_row_};
  }

  std::int64_t medium(Offsets level, const Rows& values, Range rows) noexcept {
    if constexpr (std::is_same_v<Out, CacheWriter>) {
      return pad_medium(rows_of(level, values, rows), out_.pattern, out_.out, out_.limit);
    }
    return rows.begin;
  }

  void small(Offsets level, const Rows& values, Range rows) noexcept {
    SmallRows piece = rows_of(level, values, rows);
    if (job_.mask || job_.how.convert.run == nullptr) {
      put(piece);
      return;
    }
    // Many rows are converted in one run, and padded from there.
    const Convert& convert = job_.how.convert;
    const std::int64_t cap = kScratch / job_.width;
    piece.begin = scratch_;
    piece.data = scratch_ + kSmallRow;
    piece.end = scratch_ + sizeof scratch_;
    for (std::int64_t i = rows.begin; i < rows.end;) {
      const std::int64_t first = level.start(i);
      std::int64_t next = i + 1;
      std::int64_t stop = level.end(i);
      if (stop - first > cap) {  // cut far below its length: not worth converting whole
        const Segment one{nullptr, values, {first, stop}};
        sequence(&one, 1, last_);
        i = next;
        continue;
      }
      while (next < rows.end && level.end(next) - first <= cap) stop = level.end(next++);
      convert.apply(values.data + first * values.width, (stop - first) * job_.width / convert.to,
                    scratch_ + kSmallRow);
      piece.rows = {i, next};
      piece.first = first;
      put(piece);
      i = next;
    }
  }

  void put(SmallRows piece) noexcept {
    const std::int64_t bytes = piece.slots * piece.width;
    if constexpr (std::is_same_v<Out, CacheWriter>) {
      pad_small(piece, out_.out, out_.limit);
      out_.out += piece.rows.size() * bytes;
    } else {
      const Range rows = piece.rows;
      for (std::int64_t i = rows.begin; i < rows.end; i = piece.rows.end) {
        piece.rows = {i, std::min(rows.end, i + kScratch / bytes)};
        pad_small(piece, stage_, stage_ + sizeof stage_);
        out_.copy(stage_, piece.rows.size() * bytes, stage_, stage_ + sizeof stage_);
      }
    }
  }

  const PadJob& job_;
  Out out_;
  int last_;
  bool small_ = false;
  bool medium_ = false;
  std::byte fill_row_[kSmallRow + kWideBytes];
  alignas(64) std::byte scratch_[kScratch + 2 * kSmallRow];
  alignas(64) std::byte stage_[std::is_same_v<Out, CacheWriter> ? 1 : kScratch + kSmallRow];
};

}  // namespace varlen
