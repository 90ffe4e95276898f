// Rows copied by whole vectors stay inside exact allocations, for one thread and for several.
#include "varlen/gather.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "check.hpp"
#include "varlen/offsets.hpp"
#include "varlen/pool.hpp"

namespace {

using varlen::Code;
using varlen::Offsets;
using varlen::Range;
using varlen::Slice;
using Ints = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;

std::mt19937_64& random() {
  static std::mt19937_64 engine(7);
  return engine;
}

std::int64_t random_below(std::int64_t n) {
  return static_cast<std::int64_t>(random()() % static_cast<std::uint64_t>(n));
}

/// n sequences of fewer than `limit` rows; rows of width bytes, all of them drawn. No memory to spare.
struct Table {
  Ints offsets;
  Bytes values;
  std::int64_t width;

  Table(std::int64_t n, std::int64_t limit, std::int64_t width_) : offsets{0}, width(width_) {
    for (std::int64_t i = 0; i < n; ++i) offsets.push_back(offsets.back() + random_below(limit));
    values.resize(static_cast<std::size_t>(offsets.back() * width));
    for (std::byte& b : values) b = static_cast<std::byte>(random_below(256));
  }
  [[nodiscard]] Offsets level() const {
    return {offsets.data() + 1, static_cast<std::int64_t>(offsets.size()) - 1};
  }
};

void check_gather(const Table& all, std::int64_t n) {
  const Offsets level = all.level();
  Ints index;
  for (std::int64_t k = 0; k < n; ++k) index.push_back(random_below(2 * level.count) - level.count);
  Bytes want;
  for (const std::int64_t i : index) {
    const std::int64_t at = i < 0 ? i + level.count : i;
    want.insert(want.end(), all.values.begin() + level.start(at) * all.width,
                all.values.begin() + level.end(at) * all.width);
  }
  std::vector<Range> ranges(index.size());
  Ints ends(index.size());
  CHECK(varlen::gather_sequences(level, index.data(), n, ranges.data(), ends.data()).ok());
  Bytes out(want.size());
  varlen::gather_rows({all.values.data(), level.total(), all.width}, ranges.data(), ends.data(), n,
                      out.data());
  CHECK(out == want);
}

/// Rows that marks keep, in memory that ends where they do. Marks of any byte, about `share` of ten set.
void check_marked(const Table& all, std::int64_t share) {
  const Offsets level = all.level();
  std::vector<std::uint8_t> marks;
  Bytes want;
  Ints want_ends;
  for (std::int64_t i = 0; i < level.count; ++i) {
    for (std::int64_t row = level.start(i); row < level.end(i); ++row) {
      const bool is_set = random_below(10) < share;
      marks.push_back(is_set ? static_cast<std::uint8_t>(1 + random_below(255)) : std::uint8_t{0});
      if (is_set) {
        want.insert(want.end(), all.values.begin() + row * all.width,
                    all.values.begin() + (row + 1) * all.width);
      }
    }
    want_ends.push_back(static_cast<std::int64_t>(want.size()) / all.width);
  }
  const std::int64_t count = varlen::gather_count(marks.data(), level.total());
  const varlen::Rows rows{all.values.data(), level.total(), all.width};
  Ints ends(want_ends.size());
  Bytes out(want.size());
  CHECK_EQ(varlen::gather_marked(rows, level, marks.data(), count, out.data(), ends.data()), count);
  CHECK(out == want);
  CHECK(ends == want_ends);
  // Marks that were set since they were counted: as many rows as there is room for.
  const std::int64_t room = count / 2;
  out.resize(static_cast<std::size_t>(room * all.width));
  CHECK_EQ(varlen::gather_marked(rows, level, marks.data(), room, out.data(), ends.data()), room);
  CHECK_EQ(ends.empty() ? room : ends.back(), room);
  CHECK(std::equal(out.begin(), out.end(), want.begin()));
}

}  // namespace

TEST(gather, keeps_the_rows_that_are_marked) {
  for (const std::int64_t width : {1, 2, 3, 4, 8, 12, 16, 40}) {
    for (const std::int64_t limit : {1, 2, 4, 9, 30}) {
      for (const std::int64_t share : {0, 1, 5, 9, 10}) check_marked(Table(40, limit, width), share);
    }
    for (std::int64_t n = 0; n < 4; ++n) check_marked(Table(n, 12, width), 9);
  }
}

TEST(gather, finds_places_inside_sequences) {
  const Ints ends{3, 3, 5};
  const Offsets level{ends.data(), 3};
  const Ints units_ends{2, 2, 4};
  const Ints ids{-1, 0, 1, -2};
  const Ints sequences{0, 0, 2, 2};
  const Ints want{2, 0, 4, 3};
  Ints out(4);
  CHECK(varlen::gather_inside(level, Offsets{units_ends.data(), 3}, ids.data(), out.data()));
  CHECK(out == want);
  CHECK(varlen::gather_inside(level, sequences.data(), ids.data(), 4, out.data()));
  CHECK(out == want);
  for (const std::int64_t bad : {std::int64_t{2}, std::int64_t{-3}, INT64_MAX, INT64_MIN}) {
    const Ints bad_ids{0, 0, bad, 0};
    CHECK(!varlen::gather_inside(level, Offsets{units_ends.data(), 3}, bad_ids.data(), out.data()));
    CHECK(!varlen::gather_inside(level, sequences.data(), bad_ids.data(), 4, out.data()));
    const Ints bad_sequences{0, 0, bad == 2 ? 3 : bad, 2};
    CHECK(!varlen::gather_inside(level, bad_sequences.data(), ids.data(), 4, out.data()));
  }
}

TEST(gather, stays_inside_exact_memory) {
  for (const int threads : {1, 3}) {
    varlen::set_num_threads(threads);
    for (const std::int64_t width : {1, 2, 3, 4, 8, 12, 16, 40}) {
      for (const std::int64_t limit : {1, 4, 12, 70}) {
        for (const std::int64_t n : {1, 2, 31, 33, 400}) check_gather(Table(50, limit, width), n);
      }
    }
    check_gather(Table(3000, 60, 8), 20'000);  // cut into chunks, both the index and the rows
    check_gather(Table(4, 400'000, 4), 9);     // ranges that lie in many chunks
  }
}

TEST(gather, slices_as_python_does) {
  constexpr std::int64_t kMax = INT64_MAX;
  CHECK_EQ((Slice{0, kMax, 1}.resolve(5).size), 5);
  CHECK_EQ((Slice{-2, kMax, 1}.resolve(5).first), 3);
  CHECK_EQ((Slice{kMax, -kMax - 1, -1}.resolve(5).first), 4);
  CHECK_EQ((Slice{kMax, -kMax - 1, -2}.resolve(5).size), 3);
  CHECK_EQ((Slice{3, 1, 1}.resolve(5).size), 0);
  CHECK_EQ((Slice{0, kMax, kMax}.resolve(5).size), 1);
  CHECK_EQ((Slice{kMax, -kMax - 1, -kMax}.resolve(5).size), 1);
}

TEST(gather, descends_only_through_levels_that_hold) {
  const Ints ends{2, 5, 4, 9};
  const Offsets level{ends.data(), 4};
  const std::vector<Range> rows{{0, 2}, {2, 3}, {3, 4}};
  std::vector<Range> below_rows(3);
  Ints below_ends(3);
  const auto status = varlen::gather_descend(level, rows.data(), 3, 9, below_rows.data(), below_ends.data());
  CHECK(status.code == Code::decreasing);
  CHECK_EQ(status.where, 2);
  const auto past_end =
      varlen::gather_descend(level, rows.data() + 2, 1, 8, below_rows.data(), below_ends.data());
  CHECK(past_end.code == Code::beyond_total);
}
