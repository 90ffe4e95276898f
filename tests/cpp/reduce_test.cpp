// Reductions read nothing but the values, which end where their memory does, and write every result once.
#include "varlen/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::draw_level;
using varlen::test::RandomLevel;
using varlen::test::z;

namespace {

// Small whole numbers, which add up to the same in any order.
template <class T>
std::vector<T> integers(std::int64_t count) {
  std::vector<T> result(z(count));
  for (T& x : result) x = static_cast<T>(draw(1, 9));
  return result;
}

template <class T>
void sums(varlen::Type type, const RandomLevel& of, std::int64_t columns) {
  const std::vector<T> values = integers<T>(of.level().total() * columns);
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  const varlen::ReduceJob job{varlen::Reduce::sum, type, of.level(), of.longest, bytes, columns, nullptr};
  std::vector<std::int64_t> scratch(z(varlen::reduce_scratch(job) / 8));
  const std::int64_t width = varlen::size_of(varlen::reduced_type(job.op, type));
  Bytes out(z(of.level().count * columns * width));
  varlen::reduce(job, reinterpret_cast<std::byte*>(scratch.data()), out.data());
  for (std::int64_t i = 0; i < of.level().count; ++i) {
    for (std::int64_t c = 0; c < columns; ++c) {
      double expected = 0;
      for (std::int64_t row = of.level().start(i); row < of.level().end(i); ++row) {
        expected += static_cast<double>(values[z(row * columns + c)]);
      }
      double got = 0;
      const std::byte* at = out.data() + (i * columns + c) * width;
      if (width == 4) {
        float x = 0;
        std::memcpy(&x, at, sizeof x);
        got = static_cast<double>(x);
      } else if (type == varlen::Type::f64) {
        std::memcpy(&got, at, sizeof got);
      } else {
        std::int64_t x = 0;
        std::memcpy(&x, at, sizeof x);
        got = static_cast<double>(x);
      }
      CHECK_EQ(got, expected);
    }
  }
}

// Halves, beside the floats that they are: the same bits of every result.
void halves(varlen::Type type, varlen::Reduce op, const RandomLevel& of, std::int64_t columns) {
  const std::int64_t count = of.level().total() * columns;
  std::vector<std::uint16_t> values(z(count));
  const int lowest = type == varlen::Type::f16 ? 0x2C00 : 0x3D80;  // from 1/16 to 16, about
  const int highest = type == varlen::Type::f16 ? 0x4C00 : 0x4180;
  for (std::uint16_t& x : values) x = static_cast<std::uint16_t>(draw(lowest, highest) | draw(0, 1) << 15);
  std::vector<float> wide(z(count));
  const auto* const input = reinterpret_cast<const std::byte*>(values.data());
  auto* const floats = reinterpret_cast<std::byte*>(wide.data());
  varlen::cast(varlen::cast_of(type, varlen::Type::f32), input, count, floats);
  std::vector<std::int64_t> scratch(z(64 * columns));
  auto* const room = reinterpret_cast<std::byte*>(scratch.data());
  Bytes got(z(of.level().count * columns * 4)), expected(got.size());
  varlen::reduce({op, type, of.level(), of.longest, input, columns, nullptr}, room, got.data());
  varlen::reduce({op, varlen::Type::f32, of.level(), of.longest, floats, columns, nullptr}, room,
                 expected.data());
  CHECK(got == expected);
}

// Extremes with their places, beside those that are found one after another.
template <class T>
void extremes(varlen::Type type, const RandomLevel& of, std::int64_t columns, bool with_nan) {
  std::vector<T> values = integers<T>(of.level().total() * columns);
  for (std::size_t k = 0; with_nan && k < values.size(); k += 97)
    values[k] = std::numeric_limits<T>::quiet_NaN();
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  for (const varlen::Reduce op : {varlen::Reduce::max, varlen::Reduce::min}) {
    const varlen::ReduceJob job{op, type, of.level(), of.longest, bytes, columns, nullptr};
    std::vector<std::int64_t> scratch(z(varlen::reduce_scratch(job) / 8));
    auto* const room = reinterpret_cast<std::byte*>(scratch.data());
    const std::size_t count = z(of.level().count * columns);
    Bytes one_by_one(count * sizeof(T)), at_once(count * sizeof(T));
    std::vector<std::int64_t> expected(count, 77);
    std::vector<std::int32_t> which(count, 77);
    varlen::reduce(job, room, one_by_one.data());
    varlen::reduce_which(job, one_by_one.data(), {expected.data(), nullptr});
    varlen::reduce_extreme(job, room, at_once.data(), {nullptr, which.data()});
    for (std::size_t k = 0; k < count; ++k) {
      T a{}, b{};
      std::memcpy(&a, one_by_one.data() + k * sizeof(T), sizeof a);
      std::memcpy(&b, at_once.data() + k * sizeof(T), sizeof b);
      CHECK(a == b || (std::isnan(a) && std::isnan(b)));
      CHECK_EQ(std::int64_t{which[k]}, expected[k]);
    }
  }
}

}  // namespace

TEST(reduce, finds_extremes_and_their_places_at_once) {
  varlen::set_num_threads(3);
  for (const std::int64_t columns : {1, 8, 13, 37, 96, 600}) {
    for (const bool with_nan : {false, true}) {
      const RandomLevel of = draw_level(columns > 100 ? 5 : 40, 20);
      extremes<float>(varlen::Type::f32, of, columns, with_nan);
      extremes<double>(varlen::Type::f64, of, columns, with_nan);
    }
  }
  extremes<float>(varlen::Type::f32, {{5, 80'005, 80'005, 80'009}, 80'000}, 16, true);
}

TEST(reduce, adds_repeats_and_writes_nothing_else) {
  varlen::set_num_threads(3);
  for (const std::int64_t columns : {1, 3, 40}) {
    for (const std::int64_t longest : {3, 300, 60'000}) {
      std::vector<std::int64_t> blocks, groups, times;
      for (std::int64_t k = 0, rows = 0, all = 0; k < 7; ++k) {
        times.push_back(draw(0, longest > 1000 ? 40 : 5000) / (longest > 3 ? 20 : 1));
        const std::int64_t n = k == 3 ? longest : draw(0, 4);
        blocks.push_back(rows += n);
        groups.push_back(all += n * times.back());
      }
      const varlen::Offsets of{blocks.data(), 7}, in{groups.data(), 7};
      const std::vector<double> values = integers<double>(in.total() * columns);
      std::vector<double> result(z(of.total() * columns), -1);
      const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
      varlen::reduce_blocks({varlen::Type::f64, in, of, bytes, columns},
                            reinterpret_cast<std::byte*>(result.data()));
      std::int64_t wrong = 0;
      for (std::int64_t k = 0; k < 7; ++k) {
        const std::int64_t n = of.length(k) * columns;
        for (std::int64_t j = 0; j < n; ++j) {
          double expected = 0;
          for (std::int64_t r = 0; r < times[z(k)]; ++r)
            expected += values[z(in.start(k) * columns + r * n + j)];
          wrong += result[z(of.start(k) * columns + j)] != expected ? 1 : 0;
        }
      }
      CHECK_EQ(wrong, 0);
    }
  }
}

TEST(reduce, adds_what_is_there) {
  varlen::set_num_threads(3);
  for (const std::int64_t columns : {1, 2, 3, 4, 8, 13, 40, 600}) {
    for (const std::int64_t max_length : {1, 7, 20, 40, 300}) {
      const RandomLevel of = draw_level(columns > 100 ? 5 : 40, max_length);
      sums<float>(varlen::Type::f32, of, columns);
      sums<double>(varlen::Type::f64, of, columns);
      sums<std::int8_t>(varlen::Type::i8, of, columns);
      sums<std::uint16_t>(varlen::Type::u16, of, columns);
    }
  }
}

TEST(reduce, adds_and_compares_halves_as_the_floats_that_they_are) {
  varlen::set_num_threads(3);
  for (const varlen::Type type : {varlen::Type::f16, varlen::Type::bf16}) {
    for (const varlen::Reduce op : {varlen::Reduce::sum, varlen::Reduce::mean, varlen::Reduce::max,
                                    varlen::Reduce::min, varlen::Reduce::prod}) {
      for (const std::int64_t columns : {1, 2, 3, 4, 8, 13, 40, 600}) {
        for (const std::int64_t max_length : {1, 7, 20, 70, 300}) {
          halves(type, op, draw_level(columns > 100 ? 5 : 40, max_length), columns);
        }
      }
      halves(type, op, RandomLevel{{5, 1'500'005, 1'500'005, 1'500'009}, 1'500'000}, 1);
    }
  }
}

TEST(reduce, shares_a_giant_among_threads) {
  varlen::set_num_threads(3);
  const RandomLevel of{{5, 1'500'005, 1'500'005, 1'500'009}, 1'500'000};
  sums<float>(varlen::Type::f32, of, 1);
  sums<std::int16_t>(varlen::Type::i16, of, 1);
  const RandomLevel wide{{5, 300'005, 300'009}, 300'000};
  sums<float>(varlen::Type::f32, wide, 5);
}
