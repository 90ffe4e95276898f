// A thread an element of the output; where many rows are added up for each of them, one for every so many of
// the rows, and the same again for what those give.
#include "scatter/sums.hpp"
#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/start.hpp"
#include "varlen/cuda/scatter.hpp"

namespace varlen::cuda {

namespace {

struct AddPicked {
  static constexpr bool kAlone = true;

  RowNumbers lookups;
  Sums sums;
  const std::byte* table;
  Sums out_sums;
  std::byte* out;
  std::int64_t columns, each, count;
  Divisor by_columns;
  std::uint32_t chunks;  ///< of one sum; where there are several, all of them are fewer than 2 ** 32

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t at = thread.block() * thread.threads() + thread.index();
    if (at >= count) return;
    const std::int64_t row = by_columns.quotient(at);
    const std::int64_t column = at - row * columns;
    const std::int64_t sum_of = chunks == 1 ? row : static_cast<std::uint32_t>(row) / chunks;
    const std::int64_t first = (row - sum_of * chunks) * kAddedRows;
    const int n = static_cast<int>(each - first < kAddedRows ? each - first : kAddedRows);
    const std::int64_t from = sum_of * each + first;
    std::uint64_t sum = n > 0 ? sums.none() : 0;
    VARLEN_ROLLED for (int k = 0; k < n; k += kRowsAtOnce) {
      const std::byte* places[kRowsAtOnce];
      unsigned there = 0;
      VARLEN_UNROLLED for (int j = 0; j < kRowsAtOnce; ++j) {
        const std::int64_t named = k + j < n ? lookups.row(from + k + j) : -1;
        places[j] = table;
        if (named >= 0) {
          places[j] += (named * columns + column) * sums.size();
          there |= 1U << j;
        }
      }
      sum = sums.add(sum, places, there, n - k);
    }
    write_wide(out + at * out_sums.size(), out_sums.type(), out_sums.size(), sums.wide(sum));
  }
};

/// Sums that are to be added up again.
Type wide_type(Type type) noexcept {
  return is_real(type) ? Type::f64 : Type::u64;
}
constexpr std::int64_t kWide = 8;

/// From the table, or from sums, to the output, or to sums.
struct Step {
  Type type;
  const std::byte* table;
  std::int64_t rows;
  Lookups lookups;
  std::int64_t each;
  Type out_type;
  std::byte* out;
};

Error add_picked(Stream stream, const Step& step, std::int64_t n, std::int64_t columns) noexcept {
  const std::int64_t chunks = step.each > 0 ? blocks_for(step.each, kAddedRows) : 1;
  const std::int64_t count = n * chunks * columns;
  Grid grid;
  grid.blocks = blocks_for(count, grid.threads);
  return launch(stream, grid,
                AddPicked{RowNumbers(step.lookups, step.rows), Sums(step.type), step.table,
                          Sums(step.out_type), step.out, columns, step.each, count, Divisor(columns, count),
                          static_cast<std::uint32_t>(chunks)});
}

}  // namespace

std::int64_t gather_add_scratch(Type, std::int64_t columns, std::int64_t n, std::int64_t each) noexcept {
  std::int64_t bytes = 0;
  while (each > kAddedRows) {
    each = blocks_for(each, kAddedRows);
    bytes += n * each * columns * kWide;
  }
  return bytes;
}

Error gather_add(Stream stream, Type type, const std::byte* table, std::int64_t rows, std::int64_t columns,
                 Lookups lookups, std::int64_t n, std::int64_t each, std::byte* scratch,
                 std::byte* out) noexcept {
  if (n == 0 || columns == 0) return 0;
  if (rows == 0) return start_with(stream, nullptr, n * columns * bytes_of(type), out);
  Step step{type, table, rows, lookups, each, wide_type(type), scratch};
  while (step.each > kAddedRows) {
    if (const Error error = add_picked(stream, step, n, columns); error != 0) return error;
    const std::int64_t chunks = blocks_for(step.each, kAddedRows);
    step = {step.out_type,
            step.out,
            n * chunks,
            {},
            chunks,
            step.out_type,
            step.out + n * chunks * columns * kWide};
  }
  step.out_type = type;
  step.out = out;
  return add_picked(stream, step, n, columns);
}

}  // namespace varlen::cuda
