// Blocks of a mask end where the memory does, and are the same for any number of threads.
#include "varlen/mask.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::z;

TEST(mask, fills_blocks_and_writes_nothing_else) {
  for (const int threads : {1, 3}) {
    varlen::set_num_threads(threads);
    for (const std::int64_t unit : {1, 2, 3, 4, 8, 16, 24}) {
      for (const std::int64_t count : {0, 1, 7, 60}) {
        std::vector<std::int64_t> ends;
        std::int64_t total = 0;
        for (std::int64_t i = 0; i < count; ++i) ends.push_back(total += draw(0, 3) == 0 ? 0 : draw(0, 25));
        const varlen::Offsets level{ends.data(), count};
        const varlen::AttentionWindow sight{draw(0, 1) == 0 ? INT64_MAX : draw(0, 9),
                                            draw(0, 1) == 0 ? INT64_MAX : draw(0, 9)};
        const Bytes in = varlen::test::noise(unit);
        const Bytes zeros(z(unit));
        Bytes out(z(total * total * unit));
        varlen::block_mask(level, sight, {in.data(), unit}, {zeros.data(), unit}, out.data());
        std::vector<std::int64_t> of;
        for (std::int64_t s = 0; s < count; ++s) of.insert(of.end(), z(level.length(s)), s);
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < total; ++i) {
          for (std::int64_t j = 0; j < total; ++j) {
            const bool sees = of[z(i)] == of[z(j)] && i - j <= sight.left && j - i <= sight.right;
            const std::byte* const expected = sees ? in.data() : zeros.data();
            wrong += std::memcmp(out.data() + (i * total + j) * unit, expected, z(unit)) != 0 ? 1 : 0;
          }
        }
        CHECK_EQ(wrong, 0);
      }
    }
  }
}

TEST(mask, shares_rows_among_threads) {
  const std::vector<std::int64_t> ends{0, 900, 900, 1700};
  const varlen::Offsets level{ends.data(), 4};
  const std::byte one{1};
  Bytes serial(z(1700 * 1700));
  Bytes shared(serial.size());
  varlen::set_num_threads(1);
  varlen::block_mask(level, {5, 1000}, {&one, 1}, {nullptr, 1}, serial.data());
  varlen::set_num_threads(3);
  varlen::block_mask(level, {5, 1000}, {&one, 1}, {nullptr, 1}, shared.data());
  CHECK(serial == shared);
}
