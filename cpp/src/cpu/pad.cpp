#include "varlen/pad.hpp"

#include <algorithm>
#include <cstring>

#include "varlen/pool.hpp"

namespace varlen {
namespace {

void fill_rows(std::byte* out, std::int64_t bytes, std::int64_t width, const std::byte* fill) noexcept {
  if (bytes <= 0) return;
  if (fill == nullptr) {
    std::memset(out, 0, static_cast<std::size_t>(bytes));
    return;
  }
  const std::int64_t first = std::min(width, bytes);
  std::memcpy(out, fill, static_cast<std::size_t>(first));
  for (std::int64_t done = first; done < bytes;) {
    const std::int64_t step = std::min(done, bytes - done);
    std::memcpy(out + done, out, static_cast<std::size_t>(step));
    done += step;
  }
}

/// Writes one kind of output (values or mask) slot by slot, in ascending order.
struct Writer {
  int depth;
  const std::int64_t* sizes;
  Padding how;
  std::int64_t width;
  bool mask;
  std::byte* out;

  [[nodiscard]] std::int64_t slot_bytes(int axis) const noexcept {
    std::int64_t bytes = width;
    for (int a = axis + 1; a < depth; ++a) bytes *= sizes[a];
    return bytes;
  }

  void fill(std::int64_t bytes) noexcept {
    fill_rows(out, bytes, width, how.fill);
    out += bytes;
  }

  void rows(const Offsets* levels, Rows values, Range range, int axis) noexcept {
    if (axis == depth - 1) {
      const std::int64_t bytes = range.size() * width;
      if (bytes == 0) return;
      if (mask) {
        std::memset(out, 1, static_cast<std::size_t>(bytes));
      } else {
        std::memcpy(out, values.data + range.begin * width, static_cast<std::size_t>(bytes));
      }
      out += bytes;
      return;
    }
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const Segment one{levels + 1, values, {levels[0].start(i), levels[0].end(i)}};
      sequence(&one, 1, axis + 1);
    }
  }

  void sequence(const Segment* segments, std::int64_t count, int axis) noexcept {
    std::int64_t have = 0;
    for (std::int64_t s = 0; s < count; ++s) have += segments[s].rows.size();
    const std::int64_t slots = sizes[axis];
    std::int64_t skip = how.cut == Side::left ? std::max<std::int64_t>(0, have - slots) : 0;
    std::int64_t keep = std::min(have, slots);
    const std::int64_t gap = (slots - keep) * slot_bytes(axis);
    if (how.side == Side::left) fill(gap);
    for (std::int64_t s = 0; s < count; ++s) {
      Range range = segments[s].rows;
      const std::int64_t skipped = std::min(skip, range.size());
      skip -= skipped;
      range.begin += skipped;
      range.end = std::min(range.end, range.begin + keep);
      keep -= range.size();
      rows(segments[s].levels, segments[s].values, range, axis);
    }
    if (how.side == Side::right) fill(gap);
  }
};

template <class Each>
void in_chunks(std::int64_t n, std::int64_t row_bytes, Each each) noexcept {
  const std::int64_t chunks = std::min(n, chunks_for(n * row_bytes));
  parallel(chunks, [&](std::int64_t c) { each(n * c / chunks, n * (c + 1) / chunks); });
}

void write(const Offsets* levels, int depth, Range rows, Rows values, const std::int64_t* sizes, Padding how,
           bool mask, std::byte* out) noexcept {
  const Writer whole{depth, sizes, how, values.width, mask, out};
  const std::int64_t row_bytes = whole.slot_bytes(-1);
  in_chunks(rows.size(), row_bytes, [&](std::int64_t begin, std::int64_t end) {
    Writer part = whole;
    part.out += begin * row_bytes;
    for (std::int64_t i = rows.begin + begin; i < rows.begin + end; ++i) {
      const Segment one{levels + 1, values, {levels[0].start(i), levels[0].end(i)}};
      part.sequence(&one, 1, 0);
    }
  });
}

void write_segments(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                    const std::int64_t* sizes, Padding how, std::int64_t width, bool mask,
                    std::byte* out) noexcept {
  const Writer whole{depth, sizes, how, width, mask, out};
  const std::int64_t row_bytes = whole.slot_bytes(-1);
  in_chunks(n, row_bytes, [&](std::int64_t begin, std::int64_t end) {
    Writer part = whole;
    part.out += begin * row_bytes;
    for (std::int64_t i = begin; i < end; ++i) part.sequence(segments + i * per_row, per_row, 0);
  });
}

}  // namespace

void pad(const Offsets* levels, int depth, Range rows, Rows values, const std::int64_t* sizes, Padding how,
         std::byte* out) noexcept {
  write(levels, depth, rows, values, sizes, how, false, out);
}

void pad_segments(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                  const std::int64_t* sizes, Padding how, std::byte* out) noexcept {
  if (n * per_row == 0) return;
  write_segments(segments, per_row, n, depth, sizes, how, segments[0].values.width, false, out);
}

void pad_mask(const Offsets* levels, int depth, Range rows, const std::int64_t* sizes, Padding how,
              std::byte* out) noexcept {
  how.fill = nullptr;
  write(levels, depth, rows, {nullptr, 0, 1}, sizes, how, true, out);
}

void pad_segments_mask(const Segment* segments, std::int64_t per_row, std::int64_t n, int depth,
                       const std::int64_t* sizes, Padding how, std::byte* out) noexcept {
  how.fill = nullptr;
  if (n * per_row == 0) return;
  write_segments(segments, per_row, n, depth, sizes, how, 1, true, out);
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
