// Rows move inside exact allocations, whatever their width, for one thread and for several.
#include "varlen/shift.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::z;

namespace {

void check_moves(const std::vector<std::int64_t>& ends, std::int64_t width) {
  const varlen::Offsets level{ends.data(), static_cast<std::int64_t>(ends.size())};
  const Bytes values = varlen::test::noise(level.total() * width);
  std::vector<std::int64_t> by(ends.size());
  for (std::int64_t& n : by) n = draw(-30, 30);
  const Bytes fill(z(width), std::byte{0x5A});
  Bytes reversed, shifted, rolled;
  for (Bytes* const to : {&reversed, &shifted, &rolled}) to->reserve(values.size());
  const auto put = [&](Bytes& to, std::int64_t row) {
    const std::byte* const from = row < 0 ? fill.data() : values.data() + row * width;
    to.insert(to.end(), from, from + width);
  };
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t start = level.start(i);
    const std::int64_t n = level.length(i);
    for (std::int64_t t = 0; t < n; ++t) {
      const std::int64_t from = t - by[z(i)];
      put(reversed, level.end(i) - 1 - t);
      put(shifted, from >= 0 && from < n ? start + from : -1);
      put(rolled, start + (from % n + n) % n);
    }
  }
  const varlen::Rows rows{values.data(), level.total(), width};
  Bytes out(values.size(), std::byte{0xA5});
  varlen::reverse_rows(rows, level, out.data());
  CHECK(out == reversed);
  varlen::shift_rows(rows, level, {by.data(), 1}, fill.data(), out.data());
  CHECK(out == shifted);
  varlen::roll_rows(rows, level, {by.data(), 1}, out.data());
  CHECK(out == rolled);
  // All by one number: in one go where it is small beside the sequences.
  const std::int64_t mean = level.count > 0 ? level.total() / level.count : 0;
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t one : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, mean / 4, mean / 4 + 1,
                                 -(mean / 4), -(mean / 4) - 1, kFar, -kFar}) {
    shifted.clear();
    for (std::int64_t i = 0; i < level.count; ++i) {
      for (std::int64_t t = 0; t < level.length(i); ++t) {
        const bool stays = one >= 0 ? t >= one : t < level.length(i) + one;
        put(shifted, stays ? level.start(i) + t - one : -1);
      }
    }
    std::fill(out.begin(), out.end(), std::byte{0xA5});
    varlen::shift_rows(rows, level, {&one, 0}, fill.data(), out.data());
    CHECK(out == shifted);
  }
}

}  // namespace

TEST(shift, stays_inside_exact_allocations) {
  for (const int threads : {1, 3}) {
    varlen::set_num_threads(threads);
    for (const std::int64_t width : {0, 1, 2, 3, 4, 8, 16, 24, 100, 300}) {
      for (int turn = 0; turn < 10; ++turn) {
        std::vector<std::int64_t> ends;
        std::int64_t sum = 0;
        for (std::int64_t i = draw(0, 8); i > 0; --i) ends.push_back(sum += draw(0, 40));
        check_moves(ends, width);
      }
    }
    check_moves({3, 1'500'000, 1'500'003}, 4);
    std::vector<std::int64_t> many;
    for (std::int64_t i = 0, sum = 0; i < 40'000; ++i) many.push_back(sum += draw(0, 80));
    for (const std::int64_t width : {1, 4, 16}) check_moves(many, width);
  }
  varlen::set_num_threads(1);
}
