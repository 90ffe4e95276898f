// Sequences to time-major blocks and packed rows and back, on the device: byte for byte what the CPU gives.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/pack.hpp"
#include "varlen/pack.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

void check(std::int64_t n, std::int64_t longest_drawn, bool padded) {
  const std::int64_t width = kWidths[z(draw(0, std::ssize(kWidths) - 1))];
  const Nest nest = draw_nest(n, 1, longest_drawn, width);
  const Offsets level = nest.levels[0];
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < n; ++i) longest = std::max(longest, level.length(i));
  Ints lengths(z(n)), indices(z(n)), places(z(n)), sizes(z(longest)), room(z(longest + 1)),
      step_ends(z(longest));
  pack_order(level, Ties::stable, longest, lengths.data(), indices.data(), sizes.data(), room.data());
  pack_places(indices.data(), n, places.data());
  for (std::int64_t t = 0; t < longest; ++t)
    step_ends[z(t)] = (t > 0 ? step_ends[z(t - 1)] : 0) + sizes[z(t)];
  const std::int64_t rows = padded ? longest * n : level.total();
  const Bytes fill = noise(width);
  std::vector<const std::byte*> columns(z(n));
  pack_columns(nest.data.data(), width, level, indices.data(), n, columns.data());
  Place want(rows * width), out(rows * width);
  pack({sizes.data(), longest, n, padded}, columns.data(), width, fill.data(), width, want.data());
  cuda::Steps steps{longest, n, {}, level.total()};
  if (!padded) steps.packed = {step_ends.data(), longest};
  CHECK_EQ(cuda::pack(kStream, steps, nest.values, level, indices.data(), {fill.data(), width}, out.data()),
           0);
  CHECK(out.contents() == want.contents());
  Place round_trip(std::ssize(nest.data));
  CHECK_EQ(
      cuda::unpack(kStream, steps, out.data(), width, level, places.data(), level.total(), round_trip.data()),
      0);
  CHECK(round_trip.contents() == nest.data);
}

}  // namespace

TEST(cuda_pack, blocks_and_packed_rows_are_those_of_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(400); ++turn) {
    check(draw(0, 40), draw(0, 9) == 0 ? 300 : draw(0, 12), draw(0, 1) == 0);
  }
  for (const bool padded : {true, false}) {
    check(1, 20'000, padded);
    check(60, 0, padded);
  }
}
