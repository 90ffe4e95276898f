// Lookups read the rows that they name and nothing else; what is added is the same in either way, for any
// number of threads.
#include "varlen/scatter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"
#include "varlen/span_rows.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::Ints;
using varlen::test::z;

namespace {

std::vector<float> floats(std::int64_t n) {
  std::vector<float> result(z(n));
  for (float& x : result) x = static_cast<float>(draw(-99, 99)) / 7;
  return result;
}

template <class T>
const std::byte* bytes_of(const std::vector<T>& from) {
  return reinterpret_cast<const std::byte*>(from.data());
}
template <class T>
std::byte* bytes_of(std::vector<T>& from) {
  return reinterpret_cast<std::byte*>(from.data());
}

Ints numbers(std::int64_t n, std::int64_t rows) {
  Ints result(z(n));
  for (auto& x : result) x = draw(0, rows - 1);
  return result;
}

}  // namespace

TEST(scatter, sums_the_rows_that_are_named) {
  for (const int threads : {1, 3}) {
    varlen::set_num_threads(threads);
    for (const std::int64_t columns : {1, 17, 300}) {
      for (const std::int64_t per_row : {0, 3, 4}) {
        const std::int64_t rows = draw(1, 40);
        const std::int64_t n = threads == 1 ? 20 : 3000;
        const std::vector<float> table = floats(rows * columns);
        const Ints at = numbers(n * per_row, rows);
        std::vector<float> out(z(n * columns), -1);
        std::vector<float> want(out.size());
        const varlen::Lookups lookups{varlen::Type::i64, bytes_of(at), n * per_row};
        CHECK(varlen::scatter_check(lookups, rows).ok());
        varlen::gather_add(varlen::Type::f32, bytes_of(table), rows, columns, lookups, n, per_row,
                           bytes_of(out));
        for (std::int64_t t = 0; t < n; ++t) {
          for (std::int64_t c = 0; c < columns; ++c) {
            float sum = 0;
            for (std::int64_t k = 0; k < per_row; ++k) sum += table[z(at[z(t * per_row + k)] * columns + c)];
            want[z(t * columns + c)] = sum;
          }
        }
        CHECK(out == want);
      }
    }
  }
}

TEST(scatter, adds_the_same_in_either_way) {
  for (const std::int64_t columns : {1, 96}) {
    for (const std::int64_t rows : {9, 5000}) {
      const std::int64_t per_row = 2;
      const std::int64_t n = rows == 9 ? draw(0, 30) : 700'000 / columns;
      const std::vector<float> values = floats(n * columns);
      const Ints at = numbers(n * per_row, rows);
      const varlen::Lookups lookups{varlen::Type::i64, bytes_of(at), n * per_row};
      const std::vector<float> initial = floats(rows * columns);
      for (const bool fresh : {false, true}) {
        std::vector<float> want = initial;
        if (fresh) want.assign(want.size(), 0);
        for (std::int64_t k = 0; k < n * per_row; ++k) {
          for (std::int64_t c = 0; c < columns; ++c) {
            want[z(at[z(k)] * columns + c)] += values[z(k / per_row * columns + c)];
          }
        }
        for (const int threads : varlen::test::one_and(4)) {
          varlen::set_num_threads(threads);
          std::vector<float> direct = initial;
          varlen::scatter_direct(varlen::Type::f32, bytes_of(values), columns, lookups, per_row, rows, fresh,
                                 bytes_of(direct));
          CHECK(direct == want);
          Ints counts(z(rows + 1));
          Ints own(z(n * per_row));
          for (std::int64_t* const count_out : {counts.data(), static_cast<std::int64_t*>(nullptr)}) {
            std::vector<varlen::Addition> additions(z(n * per_row));
            varlen::scatter_order(lookups, per_row, rows, count_out, own.data(), additions.data());
            std::vector<float> by_order = initial;
            varlen::scatter_add(varlen::Type::f32, bytes_of(values), columns, additions.data(), n * per_row,
                                rows, fresh, bytes_of(by_order));
            CHECK(by_order == want);
          }
        }
      }
    }
  }
}

TEST(scatter, finds_the_first_that_is_no_row) {
  const std::vector<std::uint32_t> few{0, 4'000'000'000, 7};
  const std::vector<std::int32_t> negative{0, 6, -1};
  const std::vector<std::uint64_t> wide{1, ~std::uint64_t{0}};
  const auto where = [](varlen::Type type, const auto& of, std::int64_t rows) {
    const auto n = static_cast<std::int64_t>(of.size());
    return varlen::scatter_check({type, bytes_of(of), n}, rows).where;
  };
  CHECK_EQ(where(varlen::Type::u32, few, 8), 1);
  CHECK_EQ(where(varlen::Type::u32, few, std::int64_t{1} << 40), -1);
  CHECK_EQ(where(varlen::Type::i32, negative, 7), 2);
  CHECK_EQ(where(varlen::Type::i32, negative, std::int64_t{1} << 40), 2);
  CHECK_EQ(where(varlen::Type::u64, wide, std::int64_t{1} << 62), 1);
  CHECK_EQ(where(varlen::Type::i64, Ints(3000, 5), 5), 0);
}

TEST(scatter, puts_rows_in_and_takes_them_out) {
  for (int turn = 0; turn < 60; ++turn) {
    varlen::set_num_threads(turn % 2 == 0 ? 1 : 3);
    const std::int64_t width = turn % 3 == 0 ? draw(0, 9) : draw(1, 400);
    const std::int64_t total = turn % 2 == 0 ? draw(0, 12) : draw(9000, 12'000);
    Ints positions = numbers(draw(0, 30), total + 1);
    std::sort(positions.begin(), positions.end());
    const auto n = static_cast<std::int64_t>(positions.size());
    const Bytes values = varlen::test::noise(total * width);
    const Bytes new_rows = varlen::test::noise(n * width);
    Bytes out(z((total + n) * width), std::byte{7});
    varlen::insert_rows({values.data(), total, width}, positions.data(), n, new_rows.data(), out.data());
    Bytes want;
    for (std::int64_t t = 0, k = 0; t <= total; ++t) {
      for (; k < n && positions[z(k)] == t; ++k) {
        want.insert(want.end(), new_rows.begin() + k * width, new_rows.begin() + (k + 1) * width);
      }
      if (t < total) want.insert(want.end(), values.begin() + t * width, values.begin() + (t + 1) * width);
    }
    CHECK(out == want);
    Bytes kept_rows(values.size());
    Bytes removed_rows(new_rows.size());
    varlen::remove_rows({out.data(), total + n, width}, positions.data(), n, kept_rows.data(),
                        removed_rows.data());
    CHECK(kept_rows == values);
    CHECK(removed_rows == new_rows);
  }
}

TEST(scatter, takes_rows_and_nothing_beside_them) {
  for (const int threads : {1, 3}) {
    varlen::set_num_threads(threads);
    for (const std::int64_t width : {0, 1, 3, 4, 8, 16, 20, 32, 100, 700}) {
      const std::int64_t total = draw(1, 40);
      const std::int64_t n = threads == 1 ? draw(0, 30) : 9000;
      const Bytes values = varlen::test::noise(total * width);
      const Ints rows = numbers(n, total);
      Bytes out(z(n * width));
      varlen::take_rows({values.data(), total, width}, rows.data(), n, out.data());
      for (std::int64_t k = 0; k < n; ++k) {
        CHECK(std::equal(out.begin() + k * width, out.begin() + (k + 1) * width,
                         values.begin() + rows[z(k)] * width));
      }
    }
  }
}
