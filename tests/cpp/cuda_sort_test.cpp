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
  const std::int64_t most = draw(0, 1) == 0 ? job.longest : draw(0, job.longest);
  Ints ends(z(n));
  sort_kept(job.level, most, ends.data());
  const Offsets kept{ends.data(), n};
  const std::int64_t count = kept.total() * columns;
  const SortRoom room = sort_room(job, most);
  Bytes scratch(z(room.bytes)), want(z(count * size_of(type))), got(z(count * size_of(type)));
  Ints want_places(z(count)), got_places(z(count), -1);
  sort(job, kept, room, scratch.data(), want.data(), want_places.data());
  Bytes there(z(cuda::sort_scratch(job, total)));
  CHECK_EQ(cuda::sort(kStream, job, total, kept, there.data(), got.data(), got_places.data()), 0);
  CHECK(got_places == want_places);
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
