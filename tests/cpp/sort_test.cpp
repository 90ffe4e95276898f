// Order reads nothing but the values and writes every result once, inside exact allocations, for one thread
// and for several.
#include "varlen/sort.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::z;

namespace {

using Ints = std::vector<std::int64_t>;

varlen::Offsets view(const Ints& ends) {
  return {ends.data(), static_cast<std::int64_t>(ends.size())};
}

template <class T>
void check_order(varlen::Type type, const Ints& lengths, std::int64_t columns, std::int64_t limit,
                 std::int64_t range) {
  Ints ends(lengths.size());
  std::partial_sum(lengths.begin(), lengths.end(), ends.begin());
  const varlen::Offsets level = view(ends);
  std::vector<T> values(z(level.total() * columns));
  for (T& x : values) x = static_cast<T>(draw(0, range));
  varlen::SortJob job;
  job.type = type;
  job.level = level;
  job.longest = *std::max_element(lengths.begin(), lengths.end());
  job.values = reinterpret_cast<const std::byte*>(values.data());
  job.columns = columns;
  const varlen::SortRoom room = varlen::sort_room(job, std::min(limit, job.longest));
  std::vector<std::int64_t> scratch(z(room.bytes / 8));
  auto* const in = reinterpret_cast<std::byte*>(scratch.data());
  Ints kept_ends(lengths.size());
  varlen::sort_kept(level, limit, kept_ends.data());
  const varlen::Offsets kept_level = view(kept_ends);
  std::vector<T> result(z(kept_level.total() * columns));
  Ints places(result.size(), -7);
  varlen::sort(job, kept_level, room, in, reinterpret_cast<std::byte*>(result.data()), places.data());
  CHECK_EQ(varlen::sort_misplaced(level, kept_level, columns, places.data()), -1);
  for (std::int64_t i = 0; i < level.count; ++i) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto value = [&](std::int64_t row) { return values[z((level.start(i) + row) * columns + c)]; };
      Ints order(z(level.length(i)));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](std::int64_t a, std::int64_t b) { return value(a) < value(b); });
      for (std::int64_t r = 0; r < kept_level.length(i); ++r) {
        const std::size_t at = z((kept_level.start(i) + r) * columns + c);
        CHECK_EQ(places[at], order[z(r)]);
        CHECK(result[at] == value(order[z(r)]));
      }
    }
  }
  std::vector<T> round_trip(values.size(), T{9});
  varlen::unsort(level, kept_level, reinterpret_cast<const std::byte*>(result.data()), columns, sizeof(T),
                 places.data(), reinterpret_cast<std::byte*>(round_trip.data()));
  if (limit >= job.longest) CHECK(round_trip == values);
  const varlen::SortRoom full_room = varlen::sort_room(job, job.longest);
  std::vector<std::int64_t> rank_scratch(z(full_room.bytes / 8));
  Ints ranks(values.size(), -7);
  varlen::rank(job, varlen::Ranks::min, full_room, reinterpret_cast<std::byte*>(rank_scratch.data()),
               reinterpret_cast<std::byte*>(ranks.data()));
  CHECK(std::all_of(ranks.begin(), ranks.end(), [&](std::int64_t x) { return x > 0 && x <= job.longest; }));
}

Ints drawn_lengths(std::int64_t count, std::int64_t limit) {
  Ints lengths(z(count));
  for (std::int64_t& n : lengths) n = draw(0, limit);
  return lengths;
}

}  // namespace

TEST(sort, orders_what_is_there) {
  varlen::set_num_threads(3);
  for (const std::int64_t limit : {1, 7, 33, 70, 3000}) {
    const Ints lengths = drawn_lengths(limit > 100 ? 6 : 40, limit);
    for (const std::int64_t columns : {1, 3}) {
      check_order<float>(varlen::Type::f32, lengths, columns, limit, 50);
      check_order<double>(varlen::Type::f64, lengths, columns, 5, 50);
      check_order<std::uint8_t>(varlen::Type::u8, lengths, columns, limit, 255);
      check_order<std::int64_t>(varlen::Type::i64, lengths, columns, 2 * limit, 1'000'000'000);
      check_order<std::uint16_t>(varlen::Type::u16, lengths, columns, 1, 60'000);
    }
  }
}

TEST(sort, shares_a_giant_among_threads) {
  varlen::set_num_threads(3);
  const Ints lengths{5, 300'000, 0, 140'000, 90};
  check_order<float>(varlen::Type::f32, lengths, 1, 300'000, 1'000'000);
  check_order<std::int64_t>(varlen::Type::i64, lengths, 1, 200'000, 1'000'000);
  check_order<std::int32_t>(varlen::Type::i32, lengths, 1, 10, 1'000'000);
}

TEST(sort, finds_distinct_numbers_in_exact_memory) {
  for (const std::int64_t limit : {1, 20, 300}) {
    const Ints lengths = drawn_lengths(20, limit);
    Ints ends(lengths.size());
    std::partial_sum(lengths.begin(), lengths.end(), ends.begin());
    const varlen::Offsets level = view(ends);
    std::vector<std::int16_t> values(z(level.total()));
    for (std::int16_t& x : values) x = static_cast<std::int16_t>(draw(-9, 9));
    varlen::SortJob job;
    job.type = varlen::Type::i16;
    job.level = level;
    job.longest = *std::max_element(lengths.begin(), lengths.end());
    job.values = reinterpret_cast<const std::byte*>(values.data());
    const varlen::SortRoom room = varlen::sort_room(job, job.longest);
    std::vector<std::int64_t> scratch(z(room.bytes / 8));
    Ints firsts(values.size());
    Ints counts(values.size());
    Ints inverse(values.size(), -7);
    Ints made_ends(lengths.size());
    const varlen::Distinct uniques{firsts.data(), counts.data(), inverse.data()};
    varlen::unique_find(job, room, reinterpret_cast<std::byte*>(scratch.data()), uniques, made_ends.data());
    const varlen::Offsets result = view(made_ends);
    std::vector<std::int16_t> distinct(z(result.total()));
    Ints often(distinct.size());
    varlen::unique_take(job, uniques, result, reinterpret_cast<std::byte*>(distinct.data()), often.data());
    CHECK_EQ(std::accumulate(often.begin(), often.end(), std::int64_t{0}), level.total());
    for (std::int64_t i = 0; i < level.count; ++i) {
      for (std::int64_t row = level.start(i); row < level.end(i); ++row) {
        CHECK(distinct[z(result.start(i) + inverse[z(row)])] == values[z(row)]);
      }
    }
  }
}
