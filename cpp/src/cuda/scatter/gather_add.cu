// A thread an element of the output; where many rows are added up for each of them, one for every so many of
// the rows, and the same again for what those give.
#include "scatter/sums.hpp"
#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/start.hpp"
#include "varlen/cuda/scatter.hpp"

namespace varlen::cuda {

namespace {

struct GatherAdd {
  static constexpr bool kNoBarrier = true;

  RowNumbers lookups;
  Sums sums;
  const std::byte* table;
  Sums out_sums;
  std::byte* out;
  std::int64_t columns, per_row, count;
  Divisor by_columns;
  std::uint32_t chunks;  ///< of one sum; where there are several, all of them are fewer than 2 ** 32

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t element = thread.block() * thread.threads() + thread.index();
    if (element >= count) return;
    const std::int64_t row = by_columns.quotient(element);
    const std::int64_t column = element - row * columns;
    const std::int64_t sum_of = chunks == 1 ? row : static_cast<std::uint32_t>(row) / chunks;
    const std::int64_t first = (row - sum_of * chunks) * kAddedRows;
    const int n = static_cast<int>(per_row - first < kAddedRows ? per_row - first : kAddedRows);
    const std::int64_t from = sum_of * per_row + first;
    std::uint64_t sum = n > 0 ? sums.zero() : 0;
    VARLEN_ROLLED for (int k = 0; k < n; k += kRowsAtOnce) {
      const std::byte* places[kRowsAtOnce];
      unsigned row_mask = 0;
      VARLEN_UNROLLED for (int j = 0; j < kRowsAtOnce; ++j) {
        const std::int64_t source_row = k + j < n ? lookups.row(from + k + j) : -1;
        places[j] = table;
        if (source_row >= 0) {
          places[j] += (source_row * columns + column) * sums.size();
          row_mask |= 1U << j;
        }
      }
      sum = sums.add(sum, places, row_mask, n - k);
    }
    write_wide(out + element * out_sums.size(), out_sums.type(), out_sums.size(), sums.wide(sum));
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
  std::int64_t per_row;
  Type out_type;
  std::byte* out;
};

Error run_step(Stream stream, const Step& step, std::int64_t n, std::int64_t columns) noexcept {
  const std::int64_t chunks = step.per_row > 0 ? blocks_for(step.per_row, kAddedRows) : 1;
  const std::int64_t count = n * chunks * columns;
  Grid grid;
  grid.blocks = blocks_for(count, grid.threads);
  return launch(stream, grid,
                GatherAdd{RowNumbers(step.lookups, step.rows), Sums(step.type), step.table,
                          Sums(step.out_type), step.out, columns, step.per_row, count,
                          Divisor(columns, count), static_cast<std::uint32_t>(chunks)});
}

}  // namespace

std::int64_t gather_add_scratch(Type, std::int64_t columns, std::int64_t n, std::int64_t per_row) noexcept {
  std::int64_t bytes = 0;
  while (per_row > kAddedRows) {
    per_row = blocks_for(per_row, kAddedRows);
    bytes += n * per_row * columns * kWide;
  }
  return bytes;
}

Error gather_add(Stream stream, Type type, const std::byte* table, std::int64_t rows, std::int64_t columns,
                 Lookups lookups, std::int64_t n, std::int64_t per_row, std::byte* scratch,
                 std::byte* out) noexcept {
  if (n == 0 || columns == 0) return 0;
  if (rows == 0) return start_with(stream, nullptr, n * columns * bytes_of(type), out);
  Step step{type, table, rows, lookups, per_row, wide_type(type), scratch};
  while (step.per_row > kAddedRows) {
    if (const Error error = run_step(stream, step, n, columns); error != 0) return error;
    const std::int64_t chunks = blocks_for(step.per_row, kAddedRows);
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
  return run_step(stream, step, n, columns);
}

}  // namespace varlen::cuda
