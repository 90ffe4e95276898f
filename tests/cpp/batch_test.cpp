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
using varlen::test::Ranges;
using varlen::test::Sample;
using varlen::test::Sources;
using varlen::test::z;

/// Rows of dim d + 1 under rows of dim d, by reading every bound.
Range children_of(const Offsets& level, Range rows) {
  Range children{level.start(rows.begin), level.start(rows.begin)};
  for (std::int64_t i = rows.begin; i < rows.end; ++i) children.end = level.end(i);
  return children;
}

bool is_within(const Range& range, std::int64_t count) {
  return range.begin >= 0 && range.begin <= range.end && range.end <= count;
}

}  // namespace

TEST(batch, finds_records_of_many_sources) {
  for (int turn = 0; turn < 500; ++turn) {
    const Sources sources(1, 2, 5);
    if (sources.total() == 0) continue;
    const Sample sample(sources, draw(0, 20));
    for (std::size_t k = 0; k < sample.rows.size(); ++k) {
      const std::int64_t row = sample.rows[k] < 0 ? sample.rows[k] + sources.total() : sample.rows[k];
      const auto s = z(sample.of[k]);
      CHECK_EQ(sources.starts[s] + sample.records[k].begin, row);
      CHECK_EQ(sample.records[k].size(), 1);
      CHECK(sample.records[k].begin < sources.all[s].nest.rows[0]);
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
  int n_failed = 0;
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
    Ranges records(z(n)), children(z(n));
    Ints ends(z(n));
    varlen::Place place;
    Status want =
        varlen::batch_records(&source, 1, starts.data(), rows.data(), n, 1, of.data(), records.data());
    const Runs runs{&source, nullptr, n};
    if (want.ok()) want = varlen::batch_enter(runs, false, records.data(), children.data(), place);
    if (want.ok()) want = varlen::batch_ends(children.data(), n, ends.data());

    Ranges got_records(z(n)), under_found(z(n));
    Ints found_ends(z(n));
    std::int64_t longest = 0;
    varlen::Place where;
    const bool keeps = turn % 3 > 0;
    const Status got = varlen::batch_first(source, rows.data(), n, keeps ? got_records.data() : nullptr,
                                           under_found.data(), found_ends.data(), longest, where);
    CHECK_EQ(got.ok(), want.ok());
    if (!got.ok()) {
      ++n_failed;
      CHECK((got.code == Code::index_out_of_range) == (where.run < 0 && got.code != Code::overflow));
      continue;
    }
    CHECK(found_ends == ends);
    std::int64_t want_longest = 0;
    for (std::size_t k = 0; k < z(n); ++k) {
      CHECK(under_found[k].begin == children[k].begin && under_found[k].end == children[k].end);
      CHECK(!keeps || (got_records[k].begin == records[k].begin && got_records[k].end == records[k].end));
      want_longest = std::max(want_longest, children[k].size());
    }
    CHECK_EQ(longest, want_longest);
  }
  CHECK(n_failed > 100);
}

TEST(batch, descends_as_a_loop_does) {
  for (int turn = 0; turn < 600; ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    const Sources sources(depth, 4, 5);
    if (sources.total() == 0) continue;
    const std::int64_t n = draw(1, 30);
    const Sample sample(sources, n);
    const Runs runs = sample.runs(sources);
    varlen::Place place;
    Ranges parents(z(n));
    CHECK(varlen::batch_enter(runs, false, sample.records.data(), parents.data(), place).ok());
    for (int d = 1; d < depth; ++d) {
      Ranges children(z(n));
      std::int64_t longest = 0;
      CHECK(varlen::batch_under(runs, d, parents.data(), children.data(), longest, place).ok());
      std::int64_t want_longest = 0;
      Ints want_ends;
      std::int64_t total = 0;
      for (std::size_t i = 0; i < z(n); ++i) {
        const Offsets& level = sources.all[z(sample.of[i])].nest.levels[d];
        const Range want = children_of(level, parents[i]);
        CHECK_EQ(children[i].begin, want.begin);
        CHECK_EQ(children[i].end, want.end);
        for (std::int64_t j = parents[i].begin; j < parents[i].end; ++j) {
          want_longest = std::max(want_longest, level.length(j));
          want_ends.push_back(total += level.length(j));
        }
      }
      CHECK_EQ(longest, want_longest);
      Ints ends(want_ends.size());
      varlen::batch_level(runs, d, parents.data(), children.data(), ends.data());
      CHECK(ends == want_ends);
      parents = children;
    }
    Ranges deepest(z(n));
    CHECK(varlen::batch_enter(runs, true, sample.records.data(), deepest.data(), place).ok());
    for (std::size_t i = 0; i < z(n); ++i) {
      CHECK_EQ(deepest[i].begin, parents[i].begin);
      CHECK_EQ(deepest[i].end, parents[i].end);
    }
  }
}

TEST(batch, damaged_levels_fail_or_stay_inside) {
  int n_failed = 0;
  for (int turn = 0; turn < 3000; ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    Sources sources(depth, 4, 5);
    if (sources.total() == 0) continue;
    const std::int64_t n = draw(1, 8);
    const Sample sample(sources, n);
    sources.damage();
    const Runs runs = sample.runs(sources);
    varlen::Place place;
    Ranges parents(z(n));
    Status status = varlen::batch_enter(runs, false, sample.records.data(), parents.data(), place);
    for (int d = 1; d < depth && status.ok(); ++d) {
      Ranges children(z(n));
      std::int64_t longest = 0;
      status = varlen::batch_under(runs, d, parents.data(), children.data(), longest, place);
      for (std::size_t i = 0; status.ok() && i < z(n); ++i) {
        CHECK(is_within(children[i], sources.all[z(sample.of[i])].nest.rows[d + 1]));
      }
      parents = children;
    }
    if (!status.ok()) {
      ++n_failed;
      CHECK(status.code == Code::decreasing || status.code == Code::beyond_total);
      CHECK(place.run >= 0 && place.run < n && place.level >= 1 && place.level <= depth);
    }
    Ranges slots(z(n));
    if (!varlen::batch_enter(runs, true, sample.records.data(), slots.data(), place).ok()) continue;
    std::vector<Ranges> up(z(depth), Ranges(z(n)));
    std::vector<Range*> views;
    for (Ranges& one : up) views.push_back(one.data());
    if (!varlen::batch_rise(runs, sample.records.data(), slots.data(), views.data(), place).ok()) continue;
    for (int d = 1; d < depth; ++d) {
      for (std::size_t i = 0; i < z(n); ++i) {
        CHECK(is_within(up[z(d)][i], sources.all[z(sample.of[i])].nest.rows[d]));
      }
    }
  }
  CHECK(n_failed > 100);
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
