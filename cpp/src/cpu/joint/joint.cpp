#include "varlen/joint.hpp"

#include <algorithm>

#include "support/slots.hpp"
#include "varlen/copy.hpp"

namespace varlen {

Status joint_descend(const Nest& nest, int from, Range* ranges) noexcept {
  for (int d = from; d < nest.depth; ++d) {
    const Offsets& level = nest.levels[d];
    const Range r = ranges[d];
    const std::int64_t begin = level.start(r.begin);
    const std::int64_t end = r.end > r.begin ? level.end(r.end - 1) : begin;
    if (begin < 0 || end < begin) return {Code::decreasing, r.end - 1, end};
    if (end > nest.rows[d + 1]) return {Code::beyond_total, r.end - 1, end};
    ranges[d + 1] = {begin, end};
  }
  return {};
}

Status joint_check(const Nest& nest, int from, const Range* ranges, int& level) noexcept {
  for (int d = from; d < nest.depth; ++d) {
    level = d + 1;
    const Offsets& ends = nest.levels[d];
    std::int64_t previous = ranges[d + 1].begin;
    for (std::int64_t i = ranges[d].begin; i < ranges[d].end; previous = ends.end(i++)) {
      if (ends.end(i) < previous) return {Code::decreasing, i, ends.end(i)};
      if (ends.end(i) > nest.rows[d + 1]) return {Code::beyond_total, i, ends.end(i)};
    }
  }
  return {};
}

Status joint_ends(Offsets level, Range rows, std::int64_t shift, std::int64_t* out) noexcept {
  bool bad = false;
  std::int64_t previous = level.start(rows.begin);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const std::int64_t end = level.end(i);
    bad |= end < previous;
    previous = end;
    out[i - rows.begin] =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(shift));
  }
  if (!bad) return {};
  std::int64_t i = rows.begin;  // by now it may rise again, where another thread writes
  while (i + 1 < rows.end && level.end(i) >= level.start(i)) ++i;
  return {Code::decreasing, i, level.end(i)};
}

void joint_merge(Offsets upper, Offsets lower, Range rows, std::int64_t shift, std::int64_t* out) noexcept {
  for (std::int64_t i = rows.begin; i < rows.end; ++i)
    out[i - rows.begin] = lower.start(upper.end(i)) - shift;
}

void joint_spread(const Offsets* levels, int depth, Range rows, Rows values, Range slots,
                  const std::byte* fill, std::byte* out) noexcept {
  fill_rows(out, slots.size(), values.width, fill);
  std::int64_t i = row_of_slot(levels, depth, rows, slots.begin);
  if (i >= rows.end) return;
  std::int64_t slot = first_slot(levels, depth, i);
  for (; i < rows.end && slot < slots.end; ++i) {
    const std::int64_t next = first_slot(levels, depth, i + 1);
    if (next > slot && slot >= slots.begin) {
      copy_exact(out + (slot - slots.begin) * values.width, values.data + i * values.width, values.width);
    }
    slot = next;
  }
}

void joint_repeat(const Offsets* levels, int depth, Range rows, Rows values, Range slots,
                  std::byte* out) noexcept {
  std::int64_t i = row_of_slot(levels, depth, rows, slots.begin);
  for (std::int64_t slot = slots.begin; slot < slots.end && i < rows.end; ++i) {
    const std::int64_t end = std::min(slots.end, first_slot(levels, depth, i + 1));
    for (; slot < end; ++slot) {
      copy_exact(out + (slot - slots.begin) * values.width, values.data + i * values.width, values.width);
    }
  }
}

}  // namespace varlen
