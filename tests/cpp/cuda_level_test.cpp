// What people ask of a level, on the device: the numbers that the CPU gives.
#include <cstdint>
#include <cstring>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/mask.hpp"
#include "varlen/cuda/offsets.hpp"
#include "varlen/mask.hpp"
#include "varlen/offsets.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

template <class T>
using Numbers = std::vector<T>;

}  // namespace

TEST(cuda_level, numbers_are_those_of_the_cpu) {
  for (int turn = 0; turn < turns_of_one_thread(400); ++turn) {
    const Nest nest = draw_nest(draw(0, 70), 1, draw(0, 9) == 0 ? 5000 : 9, 0);
    const Offsets level = nest.levels[0];
    const std::int64_t total = level.total();
    Ints want(z(total)), got(z(total), -1), lengths(z(level.count)), got_lengths(z(level.count), -1);
    row_ids_of(level, want.data());
    CHECK_EQ(cuda::row_ids_of(kStream, level, total, got.data()), 0);
    CHECK(got == want);
    positions_of(level, want.data());
    CHECK_EQ(cuda::positions_of(kStream, level, total, got.data()), 0);
    CHECK(got == want);
    lengths_of(level, lengths.data());
    CHECK_EQ(cuda::lengths_of(kStream, level, got_lengths.data()), 0);
    CHECK(got_lengths == lengths);
    Numbers<std::int32_t> offsets(z(level.count + 1)), got_offsets(z(level.count + 1), -1);
    offsets_of(level, offsets.data());
    CHECK_EQ(cuda::offsets_of(kStream, level, got_offsets.data()), 0);
    CHECK(got_offsets == offsets);
  }
}

TEST(cuda_level, block_mask_is_that_of_the_cpu) {
  for (int turn = 0; turn < turns_of_one_thread(300); ++turn) {
    const Nest nest = draw_nest(draw(0, 9), 1, 12, 0);
    const Offsets level = nest.levels[0];
    const std::int64_t total = level.total();
    const std::int64_t unit = std::int64_t{1} << draw(0, 3);
    const Bytes two = noise(2 * unit);
    const AttentionWindow window{draw(0, 1) == 0 ? INT64_MAX : draw(0, 5),
                                 draw(0, 1) == 0 ? INT64_MAX : draw(0, 5)};
    Bytes want(z(total * total * unit)), got(z(total * total * unit));
    block_mask(level, window, {two.data(), unit}, {two.data() + unit, unit}, want.data());
    CHECK_EQ(cuda::block_mask(kStream, level, total, window, unit, two.data(), two.data() + unit, got.data()),
             0);
    CHECK(got == want);
  }
}
