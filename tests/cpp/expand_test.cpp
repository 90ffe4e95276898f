// Rows repeated fill the rows of their sequences, which end where the memory does.
#include "varlen/expand.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::z;

TEST(expand, repeats_rows_and_writes_nothing_else) {
  varlen::set_num_threads(3);
  for (const std::int64_t width : {1, 2, 3, 4, 8, 16, 24, 32, 100, 500}) {
    for (const std::int64_t count : {1, 50, width < 10 ? 200'000 : 60}) {
      std::vector<std::int64_t> ends;
      std::int64_t total = 0;
      for (std::int64_t i = 0; i < count; ++i) ends.push_back(total += draw(0, 9));
      const varlen::Offsets level{ends.data(), count};
      const Bytes rows = varlen::test::noise(count * width);
      Bytes out(z(total * width));
      varlen::expand(level, {rows.data(), count, width}, out.data());
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t row = level.start(i); row < level.end(i); ++row) {
          wrong += std::memcmp(out.data() + row * width, rows.data() + i * width, z(width)) != 0 ? 1 : 0;
        }
      }
      CHECK_EQ(wrong, 0);
    }
  }
}
