// Batches from several sources against plain loops, in exact memory; damaged levels fail or stay inside.
#include "varlen/batch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "batch_draw.hpp"
#include "check.hpp"

namespace {

using varlen::Code;
using varlen::Offsets;
using varlen::Range;
using varlen::Runs;
using varlen::Source;
using varlen::Status;
using varlen::test::draw;
using varlen::test::Ints;
using varlen::test::Picked;
using varlen::test::Ranges;
using varlen::test::Sources;
using varlen::test::z;

/// Rows of dim d + 1 under rows of dim d, by reading every bound.
Range under(const Offsets& level, Range rows) {
  Range below{level.start(rows.begin), level.start(rows.begin)};
  for (std::int64_t i = rows.begin; i < rows.end; ++i) below.end = level.end(i);
  return below;
}

bool inside(const Range& range, std::int64_t count) {
  return range.begin >= 0 && range.begin <= range.end && range.end <= count;
}

}  // namespace

TEST(batch, finds_records_of_many_sources) {
  for (int turn = 0; turn < 500; ++turn) {
    const Sources sources(1, 2, 5);
    if (sources.total() == 0) continue;
    const Picked picked(sources, draw(0, 20));
    for (std::size_t k = 0; k < picked.rows.size(); ++k) {
      const std::int64_t row = picked.rows[k] < 0 ? picked.rows[k] + sources.total() : picked.rows[k];
      const auto s = z(picked.of[k]);
      CHECK_EQ(sources.starts[s] + picked.records[k].begin, row);
      CHECK_EQ(picked.records[k].size(), 1);
      CHECK(picked.records[k].begin < sources.all[s].nest.rows[0]);
    }
    for (const std::int64_t wrong : {sources.total(), -sources.total() - 1, INT64_MAX, INT64_MIN}) {
      const Ints rows{0, wrong};
      std::vector<std::int32_t> of(2);
      Ranges records(2);
      const Status status =
          varlen::batch_records(sources.all.data(), std::ssize(sources.all), sources.starts.data(),
                                rows.data(), 2, 1, of.data(), records.data());
      CHECK(status.code == Code::index_out_of_range);
      CHECK_EQ(status.where, 1);
      CHECK_EQ(status.value, wrong);
    }
  }
}

TEST(batch, takes_the_first_level_in_one_pass) {
  int failed = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    Sources sources(static_cast<int>(draw(1, 3)), 4, 5);
    if (sources.total() == 0) continue;
    if (turn % 2 == 0) sources.damage();
    Source& source = sources.all[0];
    source.records.begin = draw(0, source.nest.rows[0]);
    const std::int64_t total = source.records.size();
    const std::int64_t n = draw(0, 30);
    Ints rows(z(n));
    for (auto& row : rows) row = total == 0 || draw(0, 200) == 0 ? draw(-9, 9) : draw(-total, total - 1);
    const Ints starts{0, total};

    std::vector<std::int32_t> of(z(n));
    Ranges records(z(n)), below(z(n));
    Ints ends(z(n));
    varlen::Place place;
    Status want =
        varlen::batch_records(&source, 1, starts.data(), rows.data(), n, 1, of.data(), records.data());
    const Runs runs{&source, nullptr, n};
    if (want.ok()) want = varlen::batch_enter(runs, false, records.data(), below.data(), place);
    if (want.ok()) want = varlen::batch_ends(below.data(), n, ends.data());

    Ranges found(z(n)), under_found(z(n));
    Ints found_ends(z(n));
    std::int64_t longest = 0;
    varlen::Place where;
    const bool keeps = turn % 3 > 0;
    const Status got = varlen::batch_first(source, rows.data(), n, keeps ? found.data() : nullptr,
                                           under_found.data(), found_ends.data(), longest, where);
    CHECK_EQ(got.ok(), want.ok());
    if (!got.ok()) {
      ++failed;
      CHECK((got.code == Code::index_out_of_range) == (where.run < 0 && got.code != Code::overflow));
      continue;
    }
    CHECK(found_ends == ends);
    std::int64_t want_longest = 0;
    for (std::size_t k = 0; k < z(n); ++k) {
      CHECK(under_found[k].begin == below[k].begin && under_found[k].end == below[k].end);
      CHECK(!keeps || (found[k].begin == records[k].begin && found[k].end == records[k].end));
      want_longest = std::max(want_longest, below[k].size());
    }
    CHECK_EQ(longest, want_longest);
  }
  CHECK(failed > 100);
}

TEST(batch, descends_as_a_loop_does) {
  for (int turn = 0; turn < 600; ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    const Sources sources(depth, 4, 5);
    if (sources.total() == 0) continue;
    const std::int64_t n = draw(1, 30);
    const Picked picked(sources, n);
    const Runs runs = picked.runs(sources);
    varlen::Place place;
    Ranges above(z(n));
    CHECK(varlen::batch_enter(runs, false, picked.records.data(), above.data(), place).ok());
    for (int d = 1; d < depth; ++d) {
      Ranges below(z(n));
      std::int64_t longest = 0;
      CHECK(varlen::batch_under(runs, d, above.data(), below.data(), longest, place).ok());
      std::int64_t want_longest = 0;
      Ints want_ends;
      std::int64_t total = 0;
      for (std::size_t i = 0; i < z(n); ++i) {
        const Offsets& level = sources.all[z(picked.of[i])].nest.levels[d];
        const Range want = under(level, above[i]);
        CHECK_EQ(below[i].begin, want.begin);
        CHECK_EQ(below[i].end, want.end);
        for (std::int64_t j = above[i].begin; j < above[i].end; ++j) {
          want_longest = std::max(want_longest, level.length(j));
          want_ends.push_back(total += level.length(j));
        }
      }
      CHECK_EQ(longest, want_longest);
      Ints ends(want_ends.size());
      varlen::batch_level(runs, d, above.data(), below.data(), ends.data());
      CHECK(ends == want_ends);
      above = below;
    }
    Ranges deepest(z(n));
    CHECK(varlen::batch_enter(runs, true, picked.records.data(), deepest.data(), place).ok());
    for (std::size_t i = 0; i < z(n); ++i) {
      CHECK_EQ(deepest[i].begin, above[i].begin);
      CHECK_EQ(deepest[i].end, above[i].end);
    }
  }
}

TEST(batch, damaged_levels_fail_or_stay_inside) {
  int failed = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    Sources sources(depth, 4, 5);
    if (sources.total() == 0) continue;
    const std::int64_t n = draw(1, 8);
    const Picked picked(sources, n);
    sources.damage();
    const Runs runs = picked.runs(sources);
    varlen::Place place;
    Ranges above(z(n));
    Status status = varlen::batch_enter(runs, false, picked.records.data(), above.data(), place);
    for (int d = 1; d < depth && status.ok(); ++d) {
      Ranges below(z(n));
      std::int64_t longest = 0;
      status = varlen::batch_under(runs, d, above.data(), below.data(), longest, place);
      for (std::size_t i = 0; status.ok() && i < z(n); ++i) {
        CHECK(inside(below[i], sources.all[z(picked.of[i])].nest.rows[d + 1]));
      }
      above = below;
    }
    if (!status.ok()) {
      ++failed;
      CHECK(status.code == Code::decreasing || status.code == Code::beyond_total);
      CHECK(place.run >= 0 && place.run < n && place.level >= 1 && place.level <= depth);
    }
    Ranges slots(z(n));
    if (!varlen::batch_enter(runs, true, picked.records.data(), slots.data(), place).ok()) continue;
    std::vector<Ranges> up(z(depth), Ranges(z(n)));
    std::vector<Range*> views;
    for (Ranges& one : up) views.push_back(one.data());
    if (!varlen::batch_rise(runs, picked.records.data(), slots.data(), views.data(), place).ok()) continue;
    for (int d = 1; d < depth; ++d) {
      for (std::size_t i = 0; i < z(n); ++i) {
        CHECK(inside(up[z(d)][i], sources.all[z(picked.of[i])].nest.rows[d]));
      }
    }
  }
  CHECK(failed > 100);
}

TEST(batch, ends_that_do_not_fit_say_where) {
  const Ranges runs{{0, 5}, {0, INT64_MAX - 5}, {0, 1}};
  Ints ends(3);
  const Status status = varlen::batch_ends(runs.data(), 3, ends.data());
  CHECK(status.code == Code::overflow);
  CHECK_EQ(status.where, 2);
  CHECK(varlen::batch_ends(runs.data(), 2, ends.data()).ok());
  CHECK_EQ(ends[1], INT64_MAX);
}
