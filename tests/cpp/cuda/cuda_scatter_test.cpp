// Lookups on the device and what is added to rows: the numbers of the CPU, and nothing for rows that a table
// does not have.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cast.hpp"
#include "varlen/cuda/scatter.hpp"
#include "varlen/pool.hpp"
#include "varlen/scatter.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

constexpr Type kTypes[] = {Type::b1,  Type::i8,  Type::i16, Type::i32,  Type::i64, Type::u8, Type::u16,
                           Type::u32, Type::u64, Type::f16, Type::bf16, Type::f32, Type::f64};
constexpr Type kLookupTypes[] = {Type::i32, Type::u32, Type::i64, Type::u64};

/// `count` elements: few whole numbers, whose sums are exact in any order, or thirds.
Bytes draw_elements(Type type, std::int64_t count, bool exact) {
  std::vector<double> numbers(z(count));
  const bool is_bool = type == Type::b1;
  for (double& x : numbers) {
    x = static_cast<double>(is_bool ? draw(0, 1) : draw(type >= Type::u8 && type <= Type::u64 ? 0 : -3, 3));
    if (!exact && is_float(type)) x /= 3;
  }
  Bytes result(z(count * size_of(type)));
  cast(cast_of(Type::f64, type), reinterpret_cast<const std::byte*>(numbers.data()), count, result.data());
  return result;
}

/// Numbers of rows as they may come, some of them of no row of the table, and those that are rows.
struct RandomLookups {
  Bytes data;
  Lookups lookups;
  Ints rows;  ///< `none` where there is no such row
};

RandomLookups draw_lookups(Type type, std::int64_t count, std::int64_t row_limit, std::int64_t rows,
                           std::int64_t none) {
  RandomLookups sample;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t kind = draw(0, 9);
    const bool is_signed = type == Type::i32 || type == Type::i64;
    std::int64_t row = draw(0, std::max<std::int64_t>(row_limit - 1, 0));
    if (kind == 0) row = rows + draw(0, 9);
    if (kind == 1 && is_signed) row = -1 - draw(0, 9);
    if (kind == 1 && !is_signed) row = -1;  // the largest there is
    sample.rows.push_back(row >= 0 && row < rows ? row : none);
    const std::size_t size = z(size_of(type));
    const auto* const bytes = reinterpret_cast<const std::byte*>(&row);
    sample.data.insert(sample.data.end(), bytes, bytes + size);
  }
  sample.lookups = {type, sample.data.data(), count};
  return sample;
}

Lookups lookups_in(const Ints& rows) {
  return {Type::i64, reinterpret_cast<const std::byte*>(rows.data()), static_cast<std::int64_t>(rows.size())};
}

void check_gather(Type type, Type lookup, std::int64_t rows, std::int64_t columns, std::int64_t n,
                  std::int64_t per_row, bool exact) {
  Bytes table = draw_elements(type, rows * columns, exact);
  const RandomLookups sample = draw_lookups(lookup, n * per_row, rows, rows, rows);
  Bytes want(z(n * columns * size_of(type)), std::byte{0x5a}), got(want);
  Bytes with_zeros(table);
  with_zeros.resize(z((rows + 1) * columns * size_of(type)));
  gather_add(type, with_zeros.data(), rows + 1, columns, lookups_in(sample.rows), n, per_row, want.data());
  Bytes scratch(z(cuda::gather_add_scratch(type, columns, n, per_row)));
  CHECK_EQ(cuda::gather_add(kStream, type, table.data(), rows, columns, sample.lookups, n, per_row,
                            scratch.data(), got.data()),
           0);
  CHECK(got == want);
}

Bytes on_cpu(Type type, const Bytes& values, std::int64_t columns, const Ints& to, const Ints& from,
             std::int64_t rows, bool fresh, Bytes table) {
  std::vector<Addition> additions;
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (to[k] >= 0) additions.push_back({to[k], from[k]});
  }
  std::stable_sort(additions.begin(), additions.end(),
                   [](const Addition& a, const Addition& b) { return a.to < b.to; });
  scatter_add(type, values.data(), columns, additions.data(), static_cast<std::int64_t>(additions.size()),
              rows, fresh, table.data());
  return table;
}

void check_scatter(Type type, Type lookup, std::int64_t rows, std::int64_t row_limit, std::int64_t columns,
                   std::int64_t n, std::int64_t per_row, bool exact) {
  const Bytes values = draw_elements(type, n * columns, exact);
  const Bytes table = draw_elements(type, rows * columns, exact);
  const RandomLookups sample = draw_lookups(lookup, n * per_row, std::min(row_limit, rows), rows, -1);
  Ints from(z(n * per_row));
  for (std::int64_t k = 0; k < n * per_row; ++k) from[z(k)] = k / per_row;
  for (const char* start : {"itself", "zeros", "another"}) {
    const bool fresh = *start == 'z';
    const Bytes want = on_cpu(type, values, columns, sample.rows, from, rows, fresh, table);
    Bytes got = *start == 'i' ? table : noise(static_cast<std::int64_t>(table.size()));
    const std::byte* const initial = *start == 'i' ? got.data() : fresh ? nullptr : table.data();
    Bytes scratch(z(cuda::scatter_add_scratch(type, columns, sample.lookups, rows)));
    CHECK_EQ(cuda::scatter_add(kStream, type, values.data(), columns, sample.lookups, per_row, rows, initial,
                               scratch.data(), got.data()),
             0);
    CHECK(got == want);
  }
}

/// What a run of lookups adds to its row, with others around it.
std::vector<float> sum_among(std::int64_t n_front, const std::vector<float>& run, std::int64_t n_back) {
  const auto length = static_cast<std::int64_t>(run.size());
  std::vector<float> values(z(n_front), 3);
  values.insert(values.end(), run.begin(), run.end());
  values.resize(z(n_front + length + n_back), 5);
  Ints rows(z(n_front), 0);
  rows.resize(z(n_front + length), 1);
  rows.resize(z(n_front + length + n_back), 2);
  std::vector<float> table(3, 0.5F);
  Bytes scratch(z(cuda::scatter_add_scratch(Type::f32, 1, lookups_in(rows), 3)));
  CHECK_EQ(cuda::scatter_add(kStream, Type::f32, reinterpret_cast<const std::byte*>(values.data()), 1,
                             lookups_in(rows), 1, 3, reinterpret_cast<std::byte*>(table.data()),
                             scratch.data(), reinterpret_cast<std::byte*>(table.data())),
           0);
  return {table[1]};
}

}  // namespace

TEST(cuda_scatter, sums_of_lookups_are_those_of_the_cpu) {
  set_num_threads(1);
  for (const Type type : kTypes) {
    for (const Type lookup : kLookupTypes) check_gather(type, lookup, draw(0, 9), draw(1, 7), 20, 4, false);
    for (const std::int64_t per_row : {0, 1, 3, 9, 128}) {
      check_gather(type, Type::i64, 7, draw(0, 5), draw(0, 6), per_row, false);
    }
    for (const std::int64_t per_row : {129, 300, 128 * 128 + 1}) {
      check_gather(type, Type::i32, 7, 2, 2, type == Type::f16 || type == Type::bf16 ? 129 : per_row, true);
    }
  }
}

TEST(cuda_scatter, what_is_added_is_what_the_cpu_adds) {
  set_num_threads(1);
  for (const Type type : kTypes) {
    for (const Type lookup : kLookupTypes) {
      check_scatter(type, lookup, draw(1, 30), 30, draw(1, 7), draw(0, 40), draw(1, 3), false);
    }
    check_scatter(type, Type::i64, 9, 9, 0, 20, 2, false);
    check_scatter(type, Type::i64, 0, 0, 3, 20, 2, false);
    check_scatter(type, Type::i64, 5, 5, 300, 12, 1, false);
  }
}

TEST(cuda_scatter, many_that_go_to_one_row_are_shared) {
  set_num_threads(1);
  for (const Type type : {Type::b1, Type::i8, Type::i64, Type::f32, Type::f64}) {
    for (const std::int64_t columns : {1, 3, 20}) {
      check_scatter(type, Type::i64, 1, 1, columns, 1000, 1, true);
      check_scatter(type, Type::u32, 6, 3, columns, 900, draw(1, 2), true);
    }
  }
  for (const std::int64_t count : {127, 128, 129, 130, 255, 256, 257, 258, 385}) {
    check_scatter(Type::f32, Type::i32, 2, 1, 2, count, 1, true);
    check_scatter(Type::i32, Type::i32, 3, 2, 2, 2 * count, 1, true);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(cuda_scatter, tables_of_more_rows_than_fit_32_bits_are_added_to) {
  constexpr std::int64_t kRows = INT64_C(0x100000001);
  const Ints rows{5, kRows - 1, 5, kRows, -1};
  const std::vector<std::uint8_t> values{1, 2, 4, 8, 16};
  // Pages that nobody touches take no memory.
  const std::unique_ptr<std::uint8_t, void (*)(void*)> table(
      static_cast<std::uint8_t*>(std::calloc(z(kRows), 1)), &std::free);
  if (table == nullptr) return;
  Bytes scratch(z(cuda::scatter_add_scratch(Type::u8, 1, lookups_in(rows), kRows)));
  CHECK_EQ(cuda::scatter_add(kStream, Type::u8, reinterpret_cast<const std::byte*>(values.data()), 1,
                             lookups_in(rows), 1, kRows, reinterpret_cast<std::byte*>(table.get()),
                             scratch.data(), reinterpret_cast<std::byte*>(table.get())),
           0);
  CHECK_EQ(table.get()[5], 5);
  CHECK_EQ(table.get()[kRows - 1], 2);
}
#endif

TEST(cuda_scatter, sums_do_not_depend_on_the_lookups_around_them) {
  for (const std::int64_t length : {5, 128, 129, 400, 1000}) {
    std::vector<float> run(z(length));
    for (float& x : run) x = static_cast<float>(draw(-99, 99)) / 7;
    const std::vector<float> lone_sum = sum_among(0, run, 0);
    for (const std::int64_t n_front : {1, 77, 127, 128, 300})
      CHECK(sum_among(n_front, run, draw(0, 200)) == lone_sum);
  }
}
