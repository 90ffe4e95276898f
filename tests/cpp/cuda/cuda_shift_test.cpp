// Rows that change places inside their sequence, on the device: byte for byte what the CPU gives.
#include <cstdint>
#include <limits>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/shift.hpp"
#include "varlen/pool.hpp"
#include "varlen/shift.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

void check_moves(const Nest& nest, Moves moves, const Bytes& fill) {
  const Offsets level = nest.levels[0];
  const std::int64_t size = std::ssize(nest.data);
  Place want(size), out(size);
  shift_rows(nest.values, level, moves, fill.data(), want.data());
  CHECK_EQ(cuda::shift_rows(kStream, nest.values, level, moves, {fill.data(), std::ssize(fill)}, out.data()),
           0);
  CHECK(out.contents() == want.contents());
  roll_rows(nest.values, level, moves, want.data());
  CHECK_EQ(cuda::roll_rows(kStream, nest.values, level, moves, out.data()), 0);
  CHECK(out.contents() == want.contents());
}

void check(std::int64_t n, std::int64_t longest, std::int64_t width) {
  const Nest nest = draw_nest(n, 1, longest, width);
  const std::int64_t size = std::ssize(nest.data);
  Place want(size), out(size);
  reverse_rows(nest.values, nest.levels[0], want.data());
  CHECK_EQ(cuda::reverse_rows(kStream, nest.values, nest.levels[0], out.data()), 0);
  CHECK(out.contents() == want.contents());
  Ints by(z(n));
  for (std::int64_t& step : by) step = draw(-longest - 2, longest + 2);
  const Bytes fill = noise(width);
  check_moves(nest, {by.data(), 1}, fill);
  const std::int64_t all = draw(-longest, longest);
  check_moves(nest, {&all, 0}, Bytes(z(width)));
}

}  // namespace

TEST(cuda_shift, rows_move_as_on_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(600); ++turn) {
    const std::int64_t width = kWidths[z(draw(0, std::ssize(kWidths) - 1))];
    check(draw(0, 60), draw(0, 9) == 0 ? 4000 / width : draw(1, 12), width);
  }
  check(1, 20'000, 3);
  check(0, 1, 4);
  check(50, 0, 4);
}

TEST(cuda_shift, any_number_is_a_distance) {
  using Limits = std::numeric_limits<std::int64_t>;
  const Nest nest = draw_nest(40, 1, 12, 8);
  for (const std::int64_t all : {Limits::max(), Limits::min() + 1, std::int64_t{0}, std::int64_t{-12}}) {
    check_moves(nest, {&all, 0}, noise(8));
  }
}

TEST(cuda_shift, fills_of_other_widths_repeat_or_lie_on_the_device) {
  const Nest nest = draw_nest(20, 1, 9, 24);
  const std::int64_t by = 2;
  const Bytes four = noise(4);
  Bytes fill;
  for (int k = 0; k < 6; ++k) fill.insert(fill.end(), four.begin(), four.end());
  Place want(std::ssize(nest.data)), out(std::ssize(nest.data));
  shift_rows(nest.values, nest.levels[0], {&by, 0}, fill.data(), want.data());
  CHECK_EQ(cuda::shift_rows(kStream, nest.values, nest.levels[0], {&by, 0}, {four.data(), 4}, out.data()), 0);
  CHECK(out.contents() == want.contents());
}
