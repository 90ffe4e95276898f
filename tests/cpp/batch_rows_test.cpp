// The values of a batch: rows end to end, repeated over what lies below them, and checked before a cast.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "batch_draw.hpp"
#include "check.hpp"
#include "varlen/batch.hpp"
#include "varlen/pool.hpp"

namespace {

using varlen::Code;
using varlen::Feed;
using varlen::Offsets;
using varlen::Range;
using varlen::Runs;
using varlen::Source;
using varlen::Status;
using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::Ints;
using varlen::test::Ranges;
using varlen::test::Sample;
using varlen::test::Sources;
using varlen::test::z;

Feed feed_of(const Source& source, int dim, const Bytes& data, std::int64_t width) {
  Feed feed;
  feed.rows = {data.data(), source.nest.rows[dim], width};
  feed.dim = dim;
  feed.convert = varlen::cast_of(varlen::Type::u8, varlen::Type::u8);
  return feed;
}

}  // namespace

TEST(batch_rows, rows_and_spread_values_equal_a_loop_for_any_threads) {
  for (int turn = 0; turn < 300; ++turn) {
    varlen::set_num_threads(turn % 2 == 0 ? 1 : 3);
    const bool large = turn % 30 == 0;  // enough bytes to be cut into chunks
    const int depth = static_cast<int>(draw(1, 3));
    const Sources sources(depth, large ? 60 / depth : 4, large ? 200 : 6);
    if (sources.total() == 0) continue;
    const std::int64_t n = large ? 400 : draw(0, 12);
    const Sample sample(sources, n);
    const Runs runs = sample.runs(sources);
    const std::int64_t width = draw(1, 3) * (large ? 40 : 4);
    varlen::Place place;
    Ranges slots(z(n));
    CHECK(varlen::batch_enter(runs, true, sample.records.data(), slots.data(), place).ok());
    for (Range& window : slots) {  // windows of the deepest rows
      window.begin += draw(0, window.size());
      window.end -= draw(0, window.size());
    }
    std::vector<Ranges> up(z(depth) + 1, Ranges(z(n)));
    std::vector<Range*> views;
    for (Ranges& one : up) views.push_back(one.data());
    CHECK(varlen::batch_rise(runs, sample.records.data(), slots.data(), views.data(), place).ok());
    Ints ends(z(n));
    CHECK(varlen::batch_ends(slots.data(), n, ends.data()).ok());
    const std::int64_t total = n > 0 ? ends.back() : 0;
    const auto dim = static_cast<int>(draw(1, depth));
    std::deque<Bytes> columns;
    std::vector<Feed> feeds;
    for (const Source& source : sources.all) {
      columns.push_back(varlen::test::noise(source.nest.rows[dim] * width));
      feeds.push_back(feed_of(source, dim, columns.back(), width));
    }
    const bool repeat = draw(0, 1) == 0;
    const Bytes fill = varlen::test::noise(width);
    const bool zero = draw(0, 1) == 0;
    Bytes want;
    for (std::size_t i = 0; i < z(n); ++i) {
      const varlen::Nest& nest = sources.all[z(sample.of[i])].nest;
      const Bytes& column = columns[z(sample.of[i])];
      const auto put = [&](const Bytes& from, std::int64_t row) {
        want.insert(want.end(), from.begin() + row * width, from.begin() + (row + 1) * width);
      };
      for (std::int64_t slot = slots[i].begin; slot < slots[i].end; ++slot) {
        std::int64_t row = slot;
        for (int d = depth; d > dim; --d) {
          const Offsets& level = nest.levels[d - 1];
          row = std::upper_bound(level.ends, level.ends + level.count, row) - level.ends;
        }
        std::int64_t begin = row;
        for (int d = dim; d < depth; ++d) begin = nest.levels[d].start(begin);
        const bool first = begin == slot;
        if (dim == depth || repeat || first) {
          put(column, row);
        } else {
          put(zero ? Bytes(z(width)) : fill, 0);
        }
      }
    }
    Bytes out(z(total * width));
    CHECK(varlen::batch_broadcast(feeds.data(), runs, slots.data(), views.data(), ends.data(),
                                  repeat ? varlen::FillMode::repeat : varlen::FillMode::first,
                                  zero ? nullptr : fill.data(), width, out.data(), place)
              .ok());
    CHECK(out == want);
    if (dim == depth) {
      Bytes rows(z(total * width));
      CHECK(
          varlen::batch_rows(feeds.data(), runs, slots.data(), ends.data(), width, rows.data(), place).ok());
      CHECK(rows == want);
    }
  }
  varlen::set_num_threads(1);
}

TEST(batch_rows, values_that_do_not_fit_are_named_by_row_and_run) {
  const Ints values{1, 2, 3, 4, 300, 6};
  Source source;
  const Ints counts{3};
  source.nest = {nullptr, counts.data(), 0};
  Feed feed;
  feed.rows = {reinterpret_cast<const std::byte*>(values.data()), 3, 16};  // two elements a row
  feed.convert = varlen::cast_of(varlen::Type::i64, varlen::Type::u8);
  const std::vector<std::int32_t> of{0, 0};
  const Ranges ranges{{0, 2}, {1, 3}};
  const varlen::Type from = varlen::Type::i64;
  varlen::Place place;
  const Runs runs{&source, of.data(), 2};
  const Status bad = varlen::batch_fits(&feed, &from, varlen::Type::u8, false, runs, ranges.data(), place);
  CHECK(bad.code == Code::not_representable);
  CHECK_EQ(bad.where, 2);
  CHECK_EQ(place.run, 1);
  const Runs first{&source, of.data(), 1};
  CHECK(varlen::batch_fits(&feed, &from, varlen::Type::u8, false, first, ranges.data(), place).ok());
}
