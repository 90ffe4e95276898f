// Rows copied by whole vectors stay inside exact allocations, for one thread and for several.
#include "varlen/gather.hpp"

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

}  // namespace

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
