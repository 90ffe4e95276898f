// Windows and consecutive batches against plain loops, at the ends of what 63 bits hold.
#include "varlen/span.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"
#include "pad_draw.hpp"
#include "varlen/span_rows.hpp"

namespace {

using varlen::Dice;
using varlen::Range;
using varlen::test::draw;
using varlen::test::Ints;
using varlen::test::z;
using Way = varlen::Draw;

constexpr std::int64_t kMax = INT64_MAX;
constexpr std::int64_t kMin = INT64_MIN;

bool are_equal(const Range& a, const Range& b) {
  return a.begin == b.begin && a.end == b.end;
}

/// One window of a sequence of `length` rows.
Range one(Way way, Dice dice, std::int64_t room, std::int64_t counter, std::int64_t length) {
  Range window{0, length};
  varlen::span_draw(way, dice, &room, &counter, 1, &window);
  return window;
}

/// Windows that step through one sequence, as a loop writes them.
std::vector<Range> plain_steps(std::int64_t length, std::int64_t room, std::int64_t stride) {
  std::vector<Range> windows;
  for (std::int64_t begin = 0; begin < length; begin += stride) {
    windows.push_back({begin, std::min(begin + room, length)});
    if (begin + room >= length) break;
  }
  return windows;
}

Ints plain_budget(const Ints& lengths, std::int64_t limit, std::int64_t count, bool padded) {
  Ints ends;
  std::size_t first = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    __int128 sum = 0;
    std::int64_t top = 0;
    for (std::size_t k = first; k <= i; ++k) {
      sum += lengths[k];
      top = std::max(top, lengths[k]);
    }
    const auto n = static_cast<std::int64_t>(i - first + 1);
    const __int128 cost = padded ? static_cast<__int128>(top) * n : sum;
    if (i > first && (cost > limit || n > count)) {
      ends.push_back(static_cast<std::int64_t>(i));
      first = i;
    }
  }
  if (!lengths.empty()) ends.push_back(static_cast<std::int64_t>(lengths.size()));
  return ends;
}

}  // namespace

TEST(span, clips_as_slices_do) {
  for (std::int64_t n = 0; n <= 4; ++n) {
    for (std::int64_t begin = -6; begin <= 6; ++begin) {
      for (std::int64_t end = -6; end <= 6; ++end) {
        Ints slice;
        for (std::int64_t i = 0; i < n; ++i) {
          if (i >= (begin < 0 ? begin + n : begin) && i < (end < 0 ? end + n : end)) slice.push_back(i);
        }
        const Range got = varlen::span_clip(begin, end, n);
        CHECK_EQ(got.size(), static_cast<std::int64_t>(slice.size()));
        CHECK(got.begin >= 0 && got.end <= n);
        if (!slice.empty()) CHECK_EQ(got.begin, slice[0]);
      }
    }
  }
  CHECK(are_equal(varlen::span_clip(kMin, kMax, 5), {0, 5}));
  CHECK(are_equal(varlen::span_clip(kMax, kMin, 5), {5, 5}));
  CHECK(are_equal(varlen::span_clip(-1, kMax, kMax), {kMax - 1, kMax}));
}

TEST(span, windows_lie_inside_and_are_as_long_as_they_can) {
  for (int turn = 0; turn < 4000; ++turn) {
    const std::int64_t length = draw(0, 12);
    const std::int64_t room = draw(-1, 14);
    const Dice dice{static_cast<std::uint64_t>(draw(0, 99)), static_cast<std::uint64_t>(draw(0, 9))};
    const std::int64_t full = room < 0 ? length : std::min(room, length);
    const std::int64_t counter = draw(0, 1000);
    CHECK(are_equal(one(Way::from_start, dice, room, counter, length), {0, full}));
    const Range last = one(Way::to_end, dice, room, counter, length);
    CHECK_EQ(last.size(), full);
    if (full > 0) CHECK_EQ(last.end, length);
    const Range any = one(Way::random, dice, room, counter, length);
    CHECK(any.begin >= 0 && any.end <= length);
    CHECK_EQ(any.size(), full);
    const Range hung = one(Way::balanced_random, dice, room, counter, length);
    CHECK(hung.begin >= 0 && hung.end <= length && hung.size() <= full);
    if (full > 0) CHECK(hung.size() > 0);
  }
  CHECK_EQ(one(Way::random, {1, 2}, kMax - 1, 3, kMax).size(), kMax - 1);
}

TEST(span, windows_keep_where_their_sequence_begins) {
  const std::int64_t room = 2;
  const std::int64_t counter = 4;
  for (const Way way : {Way::from_start, Way::to_end, Way::random, Way::balanced_random}) {
    Range shifted_window{100, 105};
    varlen::span_draw(way, {5, 6}, &room, &counter, 1, &shifted_window);
    const Range origin_window = one(way, {5, 6}, room, counter, 5);
    CHECK(are_equal(shifted_window, {origin_window.begin + 100, origin_window.end + 100}));
  }
}

TEST(span, draws_depend_on_seed_epoch_and_counter_alone) {
  constexpr std::int64_t n = 64;
  Ints rooms(n, 3);
  Ints counters;
  std::vector<Range> at_once(n);
  for (std::int64_t i = 0; i < n; ++i) counters.push_back((i * 37) % n);
  for (auto& window : at_once) window = {0, 1000};
  varlen::span_draw(Way::random, {7, 1}, rooms.data(), counters.data(), n, at_once.data());
  int n_moved = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    CHECK(are_equal(one(Way::random, {7, 1}, 3, counters[z(i)], 1000), at_once[z(i)]));
    n_moved += are_equal(one(Way::random, {7, 2}, 3, counters[z(i)], 1000), at_once[z(i)]) ? 0 : 1;
    n_moved += are_equal(one(Way::random, {8, 1}, 3, counters[z(i)], 1000), at_once[z(i)]) ? 0 : 1;
  }
  CHECK(n_moved > 2 * n - 8);
}

TEST(span, every_place_is_as_likely_and_balanced_every_row) {
  constexpr std::int64_t kDraws = 20'000;
  constexpr std::int64_t kLength = 10;
  constexpr std::int64_t kRoom = 4;
  Ints begins(kLength - kRoom + 1);
  Ints cover_counts(kLength);
  for (std::int64_t i = 0; i < kDraws; ++i) {
    ++begins[z(one(Way::random, {3, 0}, kRoom, i, kLength).begin)];
    const Range window = one(Way::balanced_random, {3, 0}, kRoom, i, kLength);
    for (std::int64_t k = window.begin; k < window.end; ++k) ++cover_counts[z(k)];
  }
  for (const Ints* counts : {&begins, &cover_counts}) {
    const auto [low, high] = std::minmax_element(counts->begin(), counts->end());
    CHECK(*low * 10 > *high * 9);
  }
}

TEST(span, steps_as_a_loop_does) {
  for (int turn = 0; turn < 2000; ++turn) {
    const std::int64_t room = draw(1, 6);
    const std::int64_t stride = draw(1, 8);
    Ints lengths(z(draw(0, 6)));
    for (auto& length : lengths) length = draw(0, 20);
    const auto n = static_cast<std::int64_t>(lengths.size());
    Ints rows;
    Ints begins;
    Ints ends;
    for (std::int64_t i = 0; i < n; ++i) {
      for (const Range& window : plain_steps(lengths[z(i)], room, stride)) {
        rows.push_back(i);
        begins.push_back(window.begin);
        ends.push_back(window.end);
      }
    }
    const std::int64_t count = varlen::span_count(lengths.data(), n, room, stride);
    CHECK_EQ(count, static_cast<std::int64_t>(rows.size()));
    Ints got_rows(z(count));
    Ints got_begins(z(count));
    Ints got_ends(z(count));
    varlen::span_steps(lengths.data(), n, room, stride, got_rows.data(), got_begins.data(), got_ends.data());
    CHECK(got_rows == rows && got_begins == begins && got_ends == ends);
  }
}

TEST(span, counts_what_does_not_fit_as_that) {
  const Ints once{kMax};
  const Ints huge_lengths{kMax, kMax};
  CHECK_EQ(varlen::span_count(once.data(), 1, 1, 1), kMax);
  CHECK_EQ(varlen::span_count(huge_lengths.data(), 2, 1, 1), -1);
  CHECK_EQ(varlen::span_count(huge_lengths.data(), 2, kMax, 1), 2);
}

TEST(span, budgets_as_a_loop_does) {
  for (int turn = 0; turn < 3000; ++turn) {
    Ints lengths(z(draw(0, 12)));
    const bool large = draw(0, 9) == 0;
    for (auto& length : lengths) length = large ? kMax / draw(1, 6) : draw(0, 9);
    const std::int64_t limit = large ? kMax : draw(1, 30);
    const std::int64_t count = draw(1, 6);
    const bool padded = draw(0, 1) == 0;
    Ints ends(lengths.size());
    const std::int64_t got = varlen::span_budget(lengths.data(), static_cast<std::int64_t>(lengths.size()),
                                                 limit, count, padded, ends.data());
    ends.resize(z(got));
    CHECK(ends == plain_budget(lengths, limit, count, padded));
  }
}

TEST(span, cuts_sequences_where_it_is_told) {
  for (int turn = 0; turn < 500; ++turn) {
    const varlen::test::RandomLevel sample = varlen::test::draw_level(draw(0, 9), 6);
    const varlen::Offsets level = sample.level();
    Ints firsts;
    Ints sizes;
    for (std::int64_t i = 0; i < level.count; ++i) {
      firsts.push_back(draw(0, level.length(i)));
      sizes.push_back(draw(0, level.length(i) - firsts.back()));
    }
    std::vector<Range> ranges(z(level.count));
    Ints ends(z(level.count));
    CHECK(varlen::span_cut(level, firsts.data(), sizes.data(), ranges.data(), ends.data()).ok());
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const std::int64_t begin = level.start(static_cast<std::int64_t>(i)) + firsts[i];
      CHECK(are_equal(ranges[i], {begin, begin + sizes[i]}));
      CHECK_EQ(ends[i], sum += sizes[i]);
    }
  }
}

TEST(span, cuts_nothing_that_leaves_a_sequence) {
  const Ints level_ends{2, 5};
  const varlen::Offsets level{level_ends.data(), 2};
  std::vector<Range> ranges(2);
  Ints ends(2);
  const auto code = [&](std::int64_t first, std::int64_t size) {
    const Ints firsts{0, first};
    const Ints sizes{2, size};
    const varlen::Status status =
        varlen::span_cut(level, firsts.data(), sizes.data(), ranges.data(), ends.data());
    CHECK(status.ok() || (status.where == 1 && status.value == 3));
    return status.code;
  };
  CHECK(code(3, 0) == varlen::Code::ok);
  CHECK(code(-1, 1) == varlen::Code::negative_length);
  CHECK(code(0, kMin) == varlen::Code::negative_length);
  CHECK(code(1, kMax) == varlen::Code::index_out_of_range);
  CHECK(code(kMax, 0) == varlen::Code::index_out_of_range);
  CHECK(code(kMax, kMax) == varlen::Code::index_out_of_range);
}
