// Rows repeated fill the rows of their sequences, which end where the memory does, and whatever way they go.
#include "varlen/expand.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::z;

namespace {

/// Expands `count` rows, each up to `max_length` times, to `shift` bytes past where memory begins; counts the
/// rows that are wrong.
std::int64_t wrong_rows(std::int64_t count, std::int64_t width, std::int64_t max_length, std::int64_t shift) {
  std::vector<std::int64_t> ends;
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < count; ++i) ends.push_back(total += draw(0, max_length));
  const varlen::Offsets level{ends.data(), count};
  const Bytes rows = varlen::test::noise(count * width);
  Bytes out(z(shift + total * width));
  std::byte* const to = out.data() + shift;
  varlen::expand(level, {rows.data(), count, width}, to);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t row = level.start(i); row < level.end(i); ++row) {
      wrong += std::memcmp(to + row * width, rows.data() + i * width, z(width)) != 0 ? 1 : 0;
    }
  }
  return wrong;
}

}  // namespace

TEST(expand, repeats_rows_and_writes_nothing_else) {
  varlen::set_num_threads(3);
  for (const std::int64_t width : {1, 2, 3, 4, 8, 16, 24, 32, 100, 500}) {
    for (const std::int64_t count : {1, 50, width < 10 ? 200'000 : 60}) {
      CHECK_EQ(wrong_rows(count, width, 9, 0), 0);
    }
  }
}

TEST(expand, rows_of_a_line_or_two_cross_blocks_threads_and_empty_sequences) {
  varlen::set_num_threads(3);
  for (const std::int64_t width : {31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    // Rows of a block come from one sequence, and from all.
    for (const std::int64_t max_length : {0, 1, 9, 700}) {
      for (const std::int64_t count : {1, 255, max_length == 700 ? 12 : 6000}) {
        for (const std::int64_t shift : {0, 20}) CHECK_EQ(wrong_rows(count, width, max_length, shift), 0);
      }
    }
  }
}

TEST(expand, large_outputs_have_the_same_bytes) {
  varlen::set_num_threads(3);
  for (const std::int64_t width : {64, 128, 192, 500}) {
    const std::int64_t count = varlen::past_caches_from() / width / 80;
    for (const std::int64_t shift : {0, 20}) CHECK_EQ(wrong_rows(count, width, 200, shift), 0);
  }
}

// Another thread may write places anew after they were checked.
TEST(expand, elements_go_to_places_inside_their_sequence_alone) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> ends{2, 2, 5};
  const std::vector<std::int16_t> rows{1, 2, 3, 4, 5, 6};  // of two columns
  for (const std::int64_t bad : {std::int64_t{3}, std::int64_t{-1}, std::int64_t{1} << 40, kFar, -kFar - 1}) {
    const std::vector<std::int64_t> which{1, bad, bad, 0, 2, bad};
    std::vector<std::int16_t> out(10, -1);
    varlen::expand_which({ends.data(), 3}, reinterpret_cast<const std::byte*>(rows.data()), 2, 2,
                         which.data(), reinterpret_cast<std::byte*>(out.data()));
    CHECK(out == (std::vector<std::int16_t>{0, 0, 1, 0, 0, 0, 0, 0, 5, 0}));
  }
}
