// Rows move inside exact allocations, whatever their width, for one thread and for several.
#include "varlen/shift.hpp"

#include <algorithm>
#include <cstddef>
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

/// The same rows by one thread and by several.
void check_moves(const std::vector<std::int64_t>& ends, std::int64_t width) {
  const varlen::Offsets level{ends.data(), static_cast<std::int64_t>(ends.size())};
  const Bytes values = varlen::test::noise(level.total() * width);
  std::vector<std::int64_t> by(ends.size());
  for (std::int64_t& n : by) n = draw(-30, 30);
  constexpr std::byte kFill{0x5A};
  const Bytes fill(z(width), kFill);
  const varlen::Rows rows{values.data(), level.total(), width};
  Bytes want(values.size());
  Bytes out(values.size());
  std::byte* to = nullptr;
  // put(first row, how many of them), row -1 is the fill.
  const auto put = [&](std::int64_t row, std::int64_t count) {
    const std::size_t bytes = z(count * width);
    if (bytes == 0) return;
    if (row < 0) {
      std::memset(to, static_cast<int>(kFill), bytes);
    } else {
      std::memcpy(to, values.data() + row * width, bytes);
    }
    to += bytes;
  };
  const auto check = [&](const auto& rows_of, const auto& move) {
    to = want.data();
    for (std::int64_t i = 0; i < level.count; ++i) rows_of(i, level.start(i), level.length(i));
    for (const int threads : varlen::test::one_and(3)) {
      varlen::set_num_threads(threads);
      std::fill(out.begin(), out.end(), std::byte{0xA5});
      move();
      CHECK(varlen::test::same_bytes(out, want));
    }
    varlen::set_num_threads(1);
  };
  check(
      [&](std::int64_t i, std::int64_t, std::int64_t n) {
        for (std::int64_t t = 0; t < n; ++t) put(level.end(i) - 1 - t, 1);
      },
      [&] { varlen::reverse_rows(rows, level, out.data()); });
  check(
      [&](std::int64_t i, std::int64_t start, std::int64_t n) {
        for (std::int64_t t = 0; t < n; ++t) {
          const std::int64_t from = t - by[z(i)];
          put(from >= 0 && from < n ? start + from : -1, 1);
        }
      },
      [&] {
        varlen::shift_rows(rows, level, {by.data(), 1}, fill.data(), out.data());
      });
  check(
      [&](std::int64_t i, std::int64_t start, std::int64_t n) {
        for (std::int64_t t = 0; t < n; ++t) put(start + ((t - by[z(i)]) % n + n) % n, 1);
      },
      [&] {
        varlen::roll_rows(rows, level, {by.data(), 1}, out.data());
      });
  // All by one number: in one go where it is small beside the sequences.
  const std::int64_t mean = level.count > 0 ? level.total() / level.count : 0;
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t one : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, mean / 4, mean / 4 + 1,
                                 -(mean / 4), -(mean / 4) - 1, kFar, -kFar}) {
    check(
        [&](std::int64_t, std::int64_t start, std::int64_t n) {
          const std::int64_t n_fill = std::min(n, one < 0 ? -one : one);
          if (one >= 0) put(-1, n_fill);
          put(start + (one < 0 ? n_fill : 0), n - n_fill);
          if (one < 0) put(-1, n_fill);
        },
        [&] {
          varlen::shift_rows(rows, level, {&one, 0}, fill.data(), out.data());
        });
  }
}

}  // namespace

TEST(shift, stays_inside_exact_allocations) {
  for (const std::int64_t width : {0, 1, 2, 3, 4, 8, 16, 24, 100, 300}) {
    for (int turn = 0; turn < 20; ++turn) {
      std::vector<std::int64_t> ends;
      std::int64_t sum = 0;
      for (std::int64_t i = draw(0, 8); i > 0; --i) ends.push_back(sum += draw(0, 40));
      check_moves(ends, width);
    }
  }
  check_moves({3, 400'000, 400'003}, 16);
  // A few chunks for each of three threads.
  for (const std::int64_t width : {2, 4, 16}) {
    std::vector<std::int64_t> starts;
    for (std::int64_t i = 0, sum = 0; i < 80'000 / width; ++i) starts.push_back(sum += draw(0, 80));
    check_moves(starts, width);
  }
  // Past the caches.
  const std::int64_t rows = varlen::past_caches_from() / 2000 + 9;
  check_moves({3, rows / 2, rows}, 2000);
}
