// Sequences in order on the device: the numbers and the places that the CPU gives.
#include <cstdint>
#include <cstring>
#include <iterator>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/sort.hpp"
#include "varlen/offsets.hpp"
#include "varlen/pool.hpp"
#include "varlen/sort.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

constexpr Type kTypes[] = {Type::b1,  Type::i8,  Type::i16, Type::i32,  Type::i64, Type::u8, Type::u16,
                           Type::u32, Type::u64, Type::f16, Type::bf16, Type::f32, Type::f64};

/// Numbers of which some are equal, and some are NaN, infinities and zeros of both signs.
Bytes draw_numbers(Type type, std::int64_t count) {
  Bytes result = noise(count * size_of(type));
  const std::int64_t size = size_of(type);
  for (std::int64_t k = 0; k < count; ++k) {
    std::byte* const number = result.data() + k * size;
    const std::int64_t kind = draw(0, 5);
    if (type == Type::b1 || kind == 0)
      std::memset(number, type == Type::b1 ? static_cast<int>(draw(0, 1)) : 0, z(size));
    if (kind == 1) std::memset(number, 0xff, z(type == Type::b1 ? 0 : size));  // NaN, -1 or the largest
    if (kind == 2 && type != Type::b1) {                                       // -0 or the lowest
      std::memset(number, 0, z(size));
      number[size - 1] = std::byte{0x80};
    }
    if (kind == 3 && k > 0) std::memcpy(number, number - size, z(size));
  }
  return result;
}

void check_sort(Type type, std::int64_t n, std::int64_t longest, std::int64_t columns) {
  const Nest nest = draw_nest(n, 1, longest, 0);
  SortJob job;
  job.type = type;
  job.level = nest.levels[0];
  job.longest = level_stats(job.level).longest;
  job.columns = columns;
  job.descending = draw(0, 1) == 0;
  const std::int64_t total = job.level.total();
  const Bytes numbers = draw_numbers(type, total * columns);
  job.values = numbers.data();
  const std::int64_t limit = draw(0, 1) == 0 ? job.longest : draw(0, job.longest);
  Ints ends(z(n));
  sort_kept(job.level, limit, ends.data());
  const Offsets kept_level{ends.data(), n};
  const std::int64_t count = kept_level.total() * columns;
  const SortRoom room = sort_room(job, limit);
  Bytes scratch(z(room.bytes)), want(z(count * size_of(type))), got(z(count * size_of(type)));
  Ints want_places(z(count)), got_places(z(count), -1);
  sort(job, kept_level, room, scratch.data(), want.data(), want_places.data());
  Bytes device_scratch(z(cuda::sort_scratch(job, total)));
  CHECK_EQ(cuda::sort(kStream, job, total, kept_level, device_scratch.data(), got.data(), got_places.data()),
           0);
  CHECK(got_places == want_places);
  CHECK(got == want);
}

/// A job over drawn sequences, whose numbers and level live as long.
struct SortCase {
  Nest nest;
  Bytes numbers;
  SortJob job;
  std::int64_t total = 0;

  SortCase(Type type, std::int64_t n, std::int64_t longest, std::int64_t columns)
      : nest(draw_nest(n, 1, longest, 0)) {
    job.type = type;
    job.level = nest.levels[0];
    job.longest = level_stats(job.level).longest;
    job.columns = columns;
    job.descending = draw(0, 1) == 0;
    total = job.level.total();
    numbers = draw_numbers(type, total * columns);
    job.values = numbers.data();
  }
};

void check_ranks(Type type, std::int64_t n, std::int64_t longest, std::int64_t columns) {
  const SortCase sort_case(type, n, longest, columns);
  const SortJob& job = sort_case.job;
  const SortRoom room = sort_room(job, job.longest);
  Bytes scratch(z(room.bytes));
  for (const Ranks how : {Ranks::ordinal, Ranks::min, Ranks::max, Ranks::dense, Ranks::average}) {
    Ints want(z(sort_case.total * columns)), got(want.size(), -1);
    rank(job, how, room, scratch.data(), reinterpret_cast<std::byte*>(want.data()));
    Bytes device_scratch(z(cuda::rank_scratch(job, how, sort_case.total)));
    CHECK_EQ(cuda::rank(kStream, job, how, sort_case.total, device_scratch.data(),
                        reinterpret_cast<std::byte*>(got.data())),
             0);
    CHECK(got == want);
  }
}

void check_unique(Type type, std::int64_t n, std::int64_t longest) {
  SortCase sort_case(type, n, longest, 1);
  SortJob& job = sort_case.job;
  job.descending = false;
  const std::int64_t total = sort_case.total;
  const SortRoom room = sort_room(job, job.longest);
  Bytes scratch(z(room.bytes));
  Ints firsts(z(total)), often(z(total)), want_inverse(z(total)), ends(z(n));
  const Distinct uniques{firsts.data(), often.data(), want_inverse.data()};
  unique_find(job, room, scratch.data(), uniques, ends.data());
  const Offsets result{ends.data(), n};
  const std::int64_t count = result.total();
  Bytes want(z(count * size_of(type))), got(want.size());
  Ints want_counts(z(count)), counts(z(count), -1), inverse(z(total), -1), lengths(z(n), -1);
  unique_take(job, uniques, result, want.data(), want_counts.data());

  Bytes device_scratch(z(cuda::unique_scratch(job, total)));
  CHECK_EQ(cuda::unique_find(kStream, job, total, device_scratch.data(), inverse.data(), lengths.data()), 0);
  for (std::int64_t i = 0; i < n; ++i) CHECK_EQ(lengths[z(i)], result.length(i));
  CHECK_EQ(
      cuda::unique_take(kStream, job, total, device_scratch.data(), result, count, got.data(), counts.data()),
      0);
  CHECK(inverse == want_inverse);
  CHECK(counts == want_counts);
  CHECK(got == want);
  CHECK_EQ(cuda::unique_find(kStream, job, total, device_scratch.data(), nullptr, lengths.data()), 0);
  CHECK_EQ(cuda::unique_take(kStream, job, total, device_scratch.data(), result, count, got.data(), nullptr),
           0);
  CHECK(got == want);
}

/// Places that several rows have in common, that name nothing, and, if `lies`, that no sequence has.
void check_unsort(std::int64_t n, std::int64_t longest, std::int64_t columns, std::int64_t size, bool lies) {
  const Nest nest = draw_nest(n, 1, longest, 0);
  const Offsets level = nest.levels[0];
  Ints ends(z(n));
  sort_kept(level, draw(0, 1) == 0 ? longest : draw(0, longest), ends.data());
  const Offsets kept_level{ends.data(), n};
  Ints places(z(kept_level.total() * columns)), honest;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t e = kept_level.start(i) * columns; e < kept_level.end(i) * columns; ++e) {
      places[z(e)] = draw(-1, level.length(i) - 1);
    }
  }
  honest = places;
  for (std::size_t e = 0; lies && e < places.size(); ++e) {
    if (draw(0, 2) > 0) continue;
    honest[e] = -1;
    places[e] = draw(0, 1) == 0 ? -draw(2, INT64_C(1) << 62) : longest + draw(0, INT64_C(1) << 62);
  }
  const Bytes rows = noise(std::ssize(places) * size);
  const std::int64_t total = level.total();
  Bytes want(z(total * columns * size)), got(want.size(), std::byte{0xA5});
  unsort(level, kept_level, rows.data(), columns, size, honest.data(), want.data());
  Bytes device_scratch(z(cuda::unsort_scratch(total, columns)));
  CHECK_EQ(cuda::unsort(kStream, level, total, kept_level, kept_level.total(), rows.data(), columns, size,
                        places.data(), device_scratch.data(), got.data()),
           0);
  CHECK(got == want);
}

}  // namespace

TEST(cuda_sort, order_is_that_of_the_cpu) {
  set_num_threads(1);
  for (const Type type : kTypes) {
    for (const std::int64_t columns : {1, 3}) {
      check_sort(type, draw(0, 20), 9, columns);
      check_sort(type, 5, 40, columns);
      check_sort(type, 3, 300, columns);
    }
  }
}

TEST(cuda_sort, runs_of_one_giant_are_merged) {
  for (const std::int64_t longest : {127, 128, 129, 256, 257, 1000}) check_sort(Type::f32, 2, longest, 1);
  check_sort(Type::i64, 1, 5000, 1);
}

TEST(cuda_sort, rows_go_back_to_where_the_cpu_puts_them) {
  set_num_threads(1);
  for (const std::int64_t size : {1, 2, 4, 8}) {
    for (const std::int64_t columns : {0, 1, 3}) {
      for (const bool lies : {false, true}) {
        check_unsort(draw(0, 20), 9, columns, size, lies);
        check_unsort(3, 500, columns, size, lies);
      }
    }
  }
  check_unsort(60, 0, 1, 4, false);
}

TEST(cuda_sort, ranks_are_those_of_the_cpu) {
  set_num_threads(1);
  for (const Type type : kTypes) {
    for (const std::int64_t columns : {0, 1, 3}) check_ranks(type, draw(0, 20), 9, columns);
    check_ranks(type, 4, 150, 2);
  }
  check_ranks(Type::u8, 1, 3000, 1);
  check_ranks(Type::f64, 60, 0, 1);
}

TEST(cuda_sort, distinct_numbers_are_those_of_the_cpu) {
  set_num_threads(1);
  for (const Type type : kTypes) {
    check_unique(type, draw(0, 20), 9);
    check_unique(type, 5, 200);
  }
  check_unique(Type::u8, 1, 3000);
  check_unique(Type::f32, 60, 0);
}
