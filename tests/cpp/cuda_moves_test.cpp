// The kernels of the GPU that move rows, run thread by thread: byte for byte what those of the CPU give.
#include <cstdint>
#include <iterator>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/expand.hpp"
#include "varlen/cuda/pad.hpp"
#include "varlen/expand.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

void check_pad(std::int64_t n, int depth, std::int64_t longest) {
  const std::int64_t width = draw_width();
  const Nest nest = draw_nest(n, depth, longest, width);
  const Draw d = draw_padding(depth, longest, width);
  const Range rows{n > 0 ? draw(0, n - 1) : 0, n};
  const std::int64_t slots = slots_of(d.sizes, rows.size());
  Place want(slots * width), want_mask(slots);
  pad(nest.levels.data(), depth, rows, nest.values, d.sizes.data(), d.how, want.data());
  pad_mask(nest.levels.data(), depth, rows, d.sizes.data(), d.how, want_mask.data());
  Place out(slots * width), mask(slots);
  CHECK_EQ(
      cuda::pad(kStream, nest.levels.data(), depth, rows, nest.values, d.sizes.data(), d.how, out.data()), 0);
  CHECK_EQ(cuda::pad_mask(kStream, nest.levels.data(), depth, rows, d.sizes.data(), d.how, mask.data()), 0);
  CHECK(out.taken() == want.taken());
  CHECK(mask.taken() == want_mask.taken());
}

}  // namespace

TEST(cuda_moves, pad_is_that_of_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(800); ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    check_pad(draw(0, depth == 1 ? 40 : 6), depth, draw_longest(depth));
  }
  check_pad(1, 1, 20'000);
}

TEST(cuda_moves, unpad_is_the_way_back) {
  for (int turn = 0; turn < turns_of_one_thread(800); ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    const std::int64_t width = draw_width();
    const std::int64_t n = draw(0, depth == 1 ? 40 : 6);
    const Nest nest = draw_nest(n, depth, draw_longest(depth), width);
    Draw d = draw_padding(depth, 1, width);
    pad_sizes(nest.levels.data(), depth, {0, n}, d.sizes.data());
    for (std::int64_t& size : d.sizes) size += draw(0, 2);
    Bytes dense(z(slots_of(d.sizes, n) * width));
    pad(nest.levels.data(), depth, {0, n}, nest.values, d.sizes.data(), d.how, dense.data());
    Place out(std::ssize(nest.data));
    CHECK_EQ(cuda::unpad(kStream, dense.data(), width, nest.levels.data(), depth, d.sizes.data(), d.how.side,
                         nest.values.count, out.data()),
             0);
    CHECK(out.taken() == nest.data);
  }
}

TEST(cuda_moves, expand_is_that_of_the_cpu) {
  for (int turn = 0; turn < turns_of_one_thread(400); ++turn) {
    const std::int64_t width = draw_width();
    const std::int64_t n = draw(0, 60);
    const Nest nest = draw_nest(n, 1, draw(0, 9) == 0 ? 4000 : 9, 0);
    const std::int64_t total = nest.levels[0].total();
    const Bytes rows = noise(n * width);
    for (const int way : {0, 1, 2}) {
      Place want(total * width), out(total * width);
      const Rows in{rows.data(), n, width};
      if (way == 0) {
        expand(nest.levels[0], in, want.data());
        CHECK_EQ(cuda::expand(kStream, nest.levels[0], total, in, out.data()), 0);
      } else {
        expand_end(nest.levels[0], in, way == 1, want.data());
        CHECK_EQ(cuda::expand_end(kStream, nest.levels[0], total, in, way == 1, out.data()), 0);
      }
      CHECK(out.taken() == want.taken());
    }
  }
}
