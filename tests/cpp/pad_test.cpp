#include "varlen/pad.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/offsets.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

/// Positions are those of all rows, padded with zeros: of sequences one after another, and of named ones.
void check_positions(const Nest& nest, int depth, Range rows, Draw d) {
  Ints numbers(z(nest.levels.back().total()));
  positions_of(nest.levels.back(), numbers.data());
  d.how.fill = nullptr;
  const Rows values{reinterpret_cast<const std::byte*>(numbers.data()), std::ssize(numbers), 8};
  const std::int64_t slots = slots_of(d.sizes, rows.size());
  Ints want(z(slots), -1);
  Ints out(z(slots), -1);
  pad(nest.levels.data(), depth, rows, values, d.sizes.data(), d.how,
      reinterpret_cast<std::byte*>(want.data()));
  pad_positions(nest.levels.data(), depth, rows, d.sizes.data(), d.how, out.data());
  CHECK(out == want);
  std::vector<Range> row_ranges;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    row_ranges.push_back({nest.levels[0].start(i), nest.levels[0].end(i)});
  }
  std::fill(out.begin(), out.end(), -1);
  pad_picked_positions(row_ranges.data(), rows.size(), nest.levels.data() + 1, depth, d.sizes.data(), d.how,
                       out.data());
  CHECK(out == want);
}

void check_levels(std::int64_t n, int depth, std::int64_t longest, std::int64_t width) {
  const Nest nest = draw_nest(n, depth, longest, width);
  const Draw d = draw_padding(depth, longest, width);
  const Range rows{n > 0 ? draw(0, n - 1) : 0, n};
  Bytes want;
  Bytes want_mask;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const Segment one{nest.levels.data() + 1, nest.values, {nest.levels[0].start(i), nest.levels[0].end(i)}};
    plain(&one, 1, 0, depth, d.sizes, d.how, d.fill, want, want_mask);
  }
  Place out(slots_of(d.sizes, rows.size()) * width);
  Place mask(slots_of(d.sizes, rows.size()));
  pad(nest.levels.data(), depth, rows, nest.values, d.sizes.data(), d.how, out.data());
  pad_mask(nest.levels.data(), depth, rows, d.sizes.data(), d.how, mask.data());
  CHECK(same_bytes(out.contents(), want));
  CHECK(same_bytes(mask.contents(), want_mask));
  check_positions(nest, depth, rows, d);
}

}  // namespace

TEST(pad, equals_slot_by_slot) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(3000); ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    check_levels(draw(0, depth == 1 ? 40 : 6), depth, draw_longest(depth), draw_width());
  }
}

TEST(pad, threads_change_nothing) {
  set_num_threads(3);
  for (int turn = 0; turn < turns_of_threads(12); ++turn) {
    const std::int64_t width = draw_width();
    const std::int64_t rows = rows_for_threads(width);
    check_levels(draw(1, 3), 1, std::min<std::int64_t>(rows, 300'000), width);
    check_levels(std::min<std::int64_t>(rows / 10, 60'000), 1, 20, width);
    check_levels(2, 2, std::min<std::int64_t>(2 * root(rows), 700), width);
  }
  set_num_threads(1);
}

TEST(pad, segments_equal_slot_by_slot) {
  for (int turn = 0; turn < turns_of_one_thread(1500); ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    const std::int64_t width = draw_width();
    const std::int64_t longest = draw_longest(depth);
    const std::int64_t per_row = draw(1, 3);
    const std::int64_t n = draw(0, 6);
    std::vector<Nest> nests;
    nests.reserve(4);
    for (int k = 0; k < 4; ++k) nests.push_back(draw_nest(8, depth, longest, width));
    std::vector<Segment> segments;
    for (std::int64_t s = 0; s < n * per_row; ++s) {
      const Nest& nest = nests[z(draw(0, 3))];
      const std::int64_t i = draw(0, 7);
      segments.push_back(
          {nest.levels.data() + 1, nest.values, {nest.levels[0].start(i), nest.levels[0].end(i)}});
    }
    const Draw d = draw_padding(depth, longest, width);
    Bytes want;
    Bytes want_mask;
    for (std::int64_t i = 0; i < n; ++i) {
      plain(segments.data() + i * per_row, per_row, 0, depth, d.sizes, d.how, d.fill, want, want_mask);
    }
    Place out(slots_of(d.sizes, n) * width);
    Place mask(slots_of(d.sizes, n));
    pad_segments(segments.data(), per_row, n, depth, d.sizes.data(), d.how, out.data());
    pad_segments_mask(segments.data(), per_row, n, depth, d.sizes.data(), d.how, mask.data());
    CHECK(same_bytes(out.contents(), want));
    CHECK(same_bytes(mask.contents(), want_mask));
  }
}

TEST(pad, converts_on_the_way) {
  for (int turn = 0; turn < turns_of_one_thread(1500); ++turn) {
    const int depth = static_cast<int>(draw(1, 2));
    const std::int64_t factor = draw(1, 3);
    const std::int64_t n = draw(0, 40 / depth);
    const std::int64_t longest = depth == 1 ? draw(0, 30) * draw(1, 40) : 10;
    Nest nest = draw_nest(n, depth, longest, factor * 2);
    Bytes wide(nest.data.size() * 2);
    const Convert convert = cast_of(Type::i16, Type::i32);
    cast(convert, nest.data.data(), std::ssize(nest.data) / 2, wide.data());
    Draw d = draw_padding(depth, longest, factor * 4);
    Place want(slots_of(d.sizes, n) * factor * 4);
    Place out(slots_of(d.sizes, n) * factor * 4);
    pad(nest.levels.data(), depth, {0, n}, {wide.data(), nest.values.count, factor * 4}, d.sizes.data(),
        d.how, want.data());
    d.how.convert = convert;
    pad(nest.levels.data(), depth, {0, n}, nest.values, d.sizes.data(), d.how, out.data());
    CHECK(same_bytes(out.contents(), want.contents()));
  }
}
