// Columns under shared levels, kernel by kernel: against plain loops where levels hold together, and refused
// at the first bad row where they do not.
#include "varlen/joint.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"

namespace {

using namespace varlen;
using varlen::test::draw;
using varlen::test::Ints;
using varlen::test::z;

constexpr std::int64_t kSentinel = -77;

/// Ends of sequences of up to `longest` rows, every fourth empty.
Ints draw_ends(std::int64_t count, std::int64_t longest) {
  Ints ends(z(count));
  std::int64_t sum = 0;
  for (auto& end : ends) end = sum += draw(0, 3) == 0 ? 0 : draw(0, longest);
  return ends;
}

Offsets view(const Ints& ends) {
  return {ends.data(), std::ssize(ends)};
}

/// Rows [begin, end) of up to `count`.
Range draw_range(std::int64_t count) {
  const std::int64_t begin = draw(0, count);
  return {begin, draw(begin, count)};
}

}  // namespace

TEST(joint, ends_are_counted_from_the_shift) {
  for (int turn = 0; turn < 200; ++turn) {
    const Ints ends = draw_ends(draw(0, 20), 5);
    const Range rows = draw_range(std::ssize(ends));
    const std::int64_t shift = draw(-9, 9);
    Ints out(z(rows.size() + 1), kSentinel);
    CHECK(joint_ends(view(ends), rows, shift, out.data()).ok());
    for (std::int64_t i = 0; i < rows.size(); ++i) CHECK_EQ(out[z(i)], ends[z(rows.begin + i)] - shift);
    CHECK_EQ(out.back(), kSentinel);
  }
}

TEST(joint, falling_ends_are_refused_at_the_first_row_that_falls) {
  for (std::int64_t count = 1; count < 40; ++count) {
    for (std::int64_t bad = 0; bad < count; ++bad) {
      Ints ends(z(count));
      std::iota(ends.begin(), ends.end(), std::int64_t{10});
      ends[z(bad)] = bad == 0 ? -1 : ends[z(bad)] - 2;
      Ints out(z(count));
      const Status status = joint_ends(view(ends), {0, count}, 0, out.data());
      CHECK(status.code == Code::decreasing);
      CHECK_EQ(status.where, bad);
      CHECK_EQ(status.value, ends[z(bad)]);
      // Nor where the fall is the first or the last of the rows in question.
      CHECK(joint_ends(view(ends), {bad, count}, 0, out.data()).where == bad);
      CHECK(joint_ends(view(ends), {0, bad + 1}, 0, out.data()).where == bad);
      // Rows beside it are none of its business.
      CHECK(joint_ends(view(ends), {0, bad}, 0, out.data()).ok());
      CHECK(joint_ends(view(ends), {bad + 1, count}, 0, out.data()).ok());
    }
  }
}

TEST(joint, levels_are_refused_at_the_first_row_that_does_not_fit) {
  const Ints upper{1, 1, 3};
  const std::int64_t counts[] = {3, 3, 6};
  const auto check = [&](const Ints& lower, Code code, std::int64_t where, std::int64_t value) {
    const Offsets levels[] = {view(upper), view(lower)};
    const Nest nest{levels, counts, 2};
    Range ranges[] = {{0, 3}, {0, 3}, {0, 6}};
    int level = 0;
    const Status status = joint_check(nest, 0, ranges, level);
    CHECK(status.code == code);
    CHECK_EQ(status.where, where);
    CHECK_EQ(status.value, value);
    CHECK_EQ(level, 2);
  };
  check({2, 4, 6}, Code::ok, -1, 0);
  check({2, 1, 6}, Code::decreasing, 1, 1);
  check({2, 4, 3}, Code::decreasing, 2, 3);
  check({2, 7, 6}, Code::beyond_total, 1, 7);
  check({2, 4, 7}, Code::beyond_total, 2, 7);
  check({-1, 4, 6}, Code::decreasing, 0, -1);
}

TEST(joint, ranges_descend_to_the_rows_below) {
  for (int turn = 0; turn < 200; ++turn) {
    const Ints upper = draw_ends(draw(0, 9), 4);
    const Ints lower = draw_ends(view(upper).total(), 3);
    const Offsets levels[] = {view(upper), view(lower)};
    const std::int64_t counts[] = {std::ssize(upper), std::ssize(lower), view(lower).total()};
    Range ranges[3] = {draw_range(std::ssize(upper))};
    CHECK(joint_descend({levels, counts, 2}, 0, ranges).ok());
    for (int d = 0; d < 2; ++d) {
      CHECK_EQ(ranges[d + 1].begin, levels[d].start(ranges[d].begin));
      std::int64_t size = 0;
      for (std::int64_t i = ranges[d].begin; i < ranges[d].end; ++i) size += levels[d].length(i);
      CHECK_EQ(ranges[d + 1].size(), size);
    }
  }
  const std::int64_t counts[] = {2, 3};
  const auto code_of = [&](const Ints& ends, Range rows) {
    const Offsets level = view(ends);
    Range ranges[2] = {rows};
    return joint_descend({&level, counts, 1}, 0, ranges).code;
  };
  CHECK(code_of({2, 3}, {0, 2}) == Code::ok);
  CHECK(code_of({2, 4}, {0, 2}) == Code::beyond_total);
  CHECK(code_of({2, 1}, {1, 2}) == Code::decreasing);
  CHECK(code_of({-2, 1}, {1, 2}) == Code::decreasing);
}

TEST(joint, two_levels_merge_to_one) {
  for (int turn = 0; turn < 200; ++turn) {
    const Ints upper = draw_ends(draw(0, 9), 4);
    const Ints lower = draw_ends(view(upper).total(), 3);
    const Range rows = draw_range(std::ssize(upper));
    const std::int64_t shift = draw(-3, 3);
    Ints out(z(rows.size() + 1), kSentinel);
    joint_merge(view(upper), view(lower), rows, shift, out.data());
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      const std::int64_t end = upper[z(rows.begin + i)];
      CHECK_EQ(out[z(i)], (end > 0 ? lower[z(end - 1)] : 0) - shift);
    }
    CHECK_EQ(out.back(), kSentinel);
  }
}

TEST(joint, rows_are_put_into_their_first_slot_or_into_every_one) {
  for (int turn = 0; turn < 400; ++turn) {
    const Ints upper = draw_ends(draw(1, 9), 4);
    const Ints lower = draw_ends(view(upper).total(), 3);
    const int depth = static_cast<int>(draw(1, 2));
    const Offsets levels[] = {view(upper), view(lower)};
    const Offsets& deepest = levels[depth - 1];
    const Range rows = draw_range(std::ssize(upper));
    const auto start = [&](std::int64_t i) {
      return depth == 1 ? levels[0].start(i) : levels[1].start(levels[0].start(i));
    };
    const Range slots = draw_range(deepest.total());
    const std::int64_t fill = turn % 2 == 0 ? 0 : -1;
    std::vector<std::int64_t> values(z(std::ssize(upper)));
    std::iota(values.begin(), values.end(), std::int64_t{100});
    Ints first(z(deepest.total()), fill);
    Ints slot_values(z(deepest.total()), kSentinel);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t slot = start(i); slot < start(i + 1); ++slot) {
        if (slot == start(i)) first[z(slot)] = values[z(i)];
        slot_values[z(slot)] = values[z(i)];
      }
    }
    const Rows all{reinterpret_cast<const std::byte*>(values.data()), std::ssize(values), 8};
    Ints out(z(slots.size() + 1), kSentinel);
    const auto* blank = turn % 2 == 0 ? nullptr : reinterpret_cast<const std::byte*>(&fill);
    joint_spread(levels, depth, rows, all, slots, blank, reinterpret_cast<std::byte*>(out.data()));
    for (std::int64_t k = 0; k < slots.size(); ++k) CHECK_EQ(out[z(k)], first[z(slots.begin + k)]);
    CHECK_EQ(out.back(), kSentinel);
    // Slots from the first row on: joint_repeat writes them without a gap.
    const std::int64_t from = std::max(slots.begin, start(rows.begin));
    const Range repeated{from, std::max(from, slots.end)};
    out.assign(z(repeated.size() + 1), kSentinel);
    joint_repeat(levels, depth, rows, all, repeated, reinterpret_cast<std::byte*>(out.data()));
    for (std::int64_t k = 0; k < repeated.size(); ++k)
      CHECK_EQ(out[z(k)], slot_values[z(repeated.begin + k)]);
    CHECK_EQ(out.back(), kSentinel);
  }
}
