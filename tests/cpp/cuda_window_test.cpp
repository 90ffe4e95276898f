// Neighbours of rows, on the device: byte for byte what the CPU gives.
#include <cstdint>
#include <limits>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/window.hpp"
#include "varlen/pool.hpp"
#include "varlen/window.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

void check(std::int64_t n, std::int64_t longest, Window how) {
  const std::int64_t width = kWidths[z(draw(0, std::ssize(kWidths) - 1))];
  const Nest nest = draw_nest(n, 1, longest, width);
  Ints ends(z(n));
  window_kept(nest.levels[0], how.stride, ends.data());
  const Offsets kept{ends.data(), n};
  const std::int64_t size = kept.total() * how.places() * width;
  Place want(size), out(size);
  seq2col(nest.values, nest.levels[0], kept, how, want.data());
  CHECK_EQ(cuda::seq2col({}, nest.values, nest.levels[0], kept, how, kept.total(), out.data()), 0);
  CHECK(out.taken() == want.taken());
}

}  // namespace

TEST(cuda_window, neighbours_are_those_of_the_cpu) {
  set_num_threads(1);
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  for (int turn = 0; turn < turns_of_one_thread(400); ++turn) {
    const std::int64_t far = draw(0, 9) == 0 ? kFar : draw(1, 4);
    const std::int64_t apart = draw(0, 9) == 0 ? kFar : draw(1, 4);
    check(draw(0, 30), draw(0, 9) == 0 ? 200 : 12, {draw(0, 3), draw(0, 3), far, apart});
  }
  check(1, 5'000, {1, 1, 1, 1});
  check(3, 4, {300, 200, 1, 2});
}
