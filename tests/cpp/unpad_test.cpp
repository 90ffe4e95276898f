#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

}  // namespace

TEST(unpad, is_the_way_back) {
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    for (int turn = 0; turn < (threads == 1 ? 2000 : 30); ++turn) {
      const int depth = static_cast<int>(draw(1, 3));
      const bool large = threads > 1;
      const std::int64_t width = draw_width();
      const std::int64_t rows = rows_for_threads(width);
      const std::int64_t longest = large ? (depth == 1   ? std::min<std::int64_t>(rows, 90'000)
                                            : depth == 2 ? std::min<std::int64_t>(root(rows), 400)
                                                         : std::min<std::int64_t>(2 * root(root(rows)), 60))
                                         : draw_longest(depth);
      const std::int64_t n = draw(0, large ? 4 : depth == 1 ? 40 : 6);
      const Nest nest = draw_nest(n, depth, longest, width);
      Draw d = draw_padding(depth, longest, width);
      Ints longest_of(z(depth));
      pad_sizes(nest.levels.data(), depth, {0, n}, longest_of.data());
      for (std::size_t a = 0; a < longest_of.size(); ++a) d.sizes[a] = longest_of[a] + draw(0, 2);
      for (int a = 0; a < depth; ++a) CHECK(unpad_check(nest.levels[z(a)], d.sizes[z(a)]).ok());
      Bytes dense(z(slots_of(d.sizes, n) * width));
      pad(nest.levels.data(), depth, {0, n}, nest.values, d.sizes.data(), d.how, dense.data());
      Place out(std::ssize(nest.data));
      unpad(dense.data(), width, nest.levels.data(), depth, d.sizes.data(), d.how.side, out.data());
      CHECK(same_bytes(out.contents(), nest.data));
    }
  }
  set_num_threads(1);
}

TEST(unpad, masks_give_lengths_back) {
  for (int turn = 0; turn < 300; ++turn) {
    const std::int64_t n = draw(0, 9);
    const std::int64_t slots = draw(0, 70);
    const Side side = draw(0, 1) == 0 ? Side::right : Side::left;
    const Nest nest = draw_nest(n, 1, slots, 1);
    Bytes mask(z(n * slots));
    Padding how;
    how.side = side;
    pad_mask(nest.levels.data(), 1, {0, n}, &slots, how, mask.data());
    Ints lengths(z(n), -1);
    CHECK(lengths_from_mask(mask.data(), n, slots, side, lengths.data()).ok());
    for (std::int64_t i = 0; i < n; ++i) CHECK_EQ(lengths[z(i)], nest.levels[0].length(i));
    if (n == 0 || slots < 3) continue;
    const std::int64_t bad = draw(0, n - 1);
    for (const std::int64_t j : {0, 1, 2}) mask[z(bad * slots + j)] = static_cast<std::byte>(j == 1 ? 0 : 1);
    const Status status = lengths_from_mask(mask.data(), n, slots, Side::right, lengths.data());
    CHECK(status.code == Code::not_prefix_mask);
    if (side == Side::right) CHECK_EQ(status.where, bad);
  }
}
