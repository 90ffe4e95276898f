#include "varlen/scatter.hpp"

#include <algorithm>
#include <cstring>

#include "sum.hpp"
#include "support/dispatch.hpp"
#include "support/prefetch.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

/// The first of n numbers that is not below `limit`; n where all are.
template <class U>
VARLEN_LOOP std::int64_t first_beyond(const std::byte* data, std::int64_t n, std::uint64_t limit) noexcept {
  constexpr std::int64_t kBlock = 1024;
  for (std::int64_t place = 0; place < n; place += kBlock) {
    const std::int64_t end = std::min(n, place + kBlock);
    U maximum = 0;
    for (std::int64_t i = place; i < end; ++i) maximum = std::max(maximum, read<U>(data, i));
    if (maximum < limit) continue;
    for (std::int64_t i = place; i < end; ++i) {
      if (read<U>(data, i) >= limit) return i;
    }
  }
  return n;
}

// Rows of the table that are asked for before they are read.
constexpr std::int64_t kPrefetchTableRows = 16;

/// The sum of more rows than are copied at once.
template <class T>
[[gnu::always_inline]] inline void sum_of_many(const Table<T>& table, RowNumbers lookups, std::int64_t first,
                                               std::int64_t per_row, std::byte* out) noexcept {
  std::int64_t own[kOwnLookups];
  for (std::int64_t c = 0; c < table.columns; c += kTile) {
    const std::int64_t m = std::min(kTile, table.columns - c);
    Sum<T, false> sums[kTile];
    for (std::int64_t k = 0; k < per_row; k += kOwnLookups) {
      const std::int64_t n = std::min(kOwnLookups, per_row - k);
      lookups.copy(first + k, n, own);
      if (k == 0) take_row<T>(table.cell(own[0], c), m, sums);
      const std::int64_t start = k == 0 ? 1 : 0;
      add_rows<T>(
          table, [&](std::int64_t i) { return own[start + i]; }, n - start, c, m, sums);
    }
    give_row<T>(sums, m, out + c * static_cast<std::int64_t>(sizeof(T)));
  }
}

/// The sum of rows own[0, each).
template <class T>
[[gnu::always_inline]] inline void sum_of_rows(const Table<T>& table, const std::int64_t* own,
                                               std::int64_t per_row, std::byte* out) noexcept {
  const std::int64_t columns = table.columns;
  if constexpr (kBlocksOfFour<T>) {
    if (per_row == 4) {
      sum_of_four<T>(table.cell(own[0], 0), table.cell(own[1], 0), table.cell(own[2], 0),
                     table.cell(own[3], 0), columns, out);
      return;
    }
  }
  for (std::int64_t c = 0; c < columns; c += kTile) {
    const std::int64_t m = std::min(kTile, columns - c);
    Sum<T, false> sums[kTile];
    take_row<T>(table.cell(own[0], c), m, sums);
    add_rows<T>(
        table, [&](std::int64_t k) { return own[1 + k]; }, per_row - 1, c, m, sums);
    give_row<T>(sums, m, out + c * static_cast<std::int64_t>(sizeof(T)));
  }
}

/// Rows `rows` of the output, the first of them at `out`.
template <class T>
VARLEN_LOOP void gather_part(const Table<T>& table, RowNumbers lookups, std::int64_t per_row, Range rows,
                             std::byte* out) noexcept {
  const std::int64_t width = table.columns * static_cast<std::int64_t>(sizeof(T));
  if (per_row > kOwnLookups) {
    for (std::int64_t t = rows.begin; t < rows.end; ++t, out += width) {
      sum_of_many<T>(table, lookups, t * per_row, per_row, out);
    }
    return;
  }
  const std::int64_t bytes = std::min(width, kPrefetchLineBytes);
  const std::int64_t rows_at_once = kOwnLookups / per_row;
  std::int64_t own[kOwnLookups];
  for (std::int64_t t = rows.begin; t < rows.end; t += rows_at_once) {
    const std::int64_t n = std::min(rows_at_once, rows.end - t) * per_row;
    lookups.copy(t * per_row, n, own);
    for (std::int64_t k = 0; k < n; k += per_row, out += width) {
      const std::int64_t end = std::min(k + kPrefetchTableRows + per_row, n);
      for (std::int64_t next = k + kPrefetchTableRows; next < end; ++next) {
        for (std::int64_t place = 0; place < bytes; place += 64) {
          prefetch(table.data, own[next], width, static_cast<std::uintptr_t>(place));
        }
      }
      sum_of_rows<T>(table, own + k, per_row, out);
    }
  }
}

}  // namespace

Status scatter_check(Lookups lookups, std::int64_t rows) noexcept {
  // As unsigned numbers those below zero are beyond all rows.
  const auto limit = static_cast<std::uint64_t>(rows);
  const bool is_wide = size_of(lookups.type) == 8;
  const std::uint64_t maximum = lookups.type == Type::i32 ? std::uint64_t{1} << 31 : std::uint64_t{1} << 32;
  const std::int64_t bad =
      is_wide ? widest<first_beyond<std::uint64_t>>(lookups.data, lookups.count, limit)
              : widest<first_beyond<std::uint32_t>>(lookups.data, lookups.count, std::min(limit, maximum));
  if (bad < lookups.count) return {Code::index_out_of_range, bad, 0};
  return {};
}

void gather_add(Type type, const std::byte* table, std::int64_t rows, std::int64_t columns, Lookups lookups,
                std::int64_t n, std::int64_t per_row, std::byte* out) noexcept {
  const std::int64_t width = columns * size_of(type);
  if (n == 0 || width == 0) return;
  if (per_row == 0) {
    std::memset(out, 0, static_cast<std::size_t>(n * width));
    return;
  }
  const RowNumbers places(lookups, rows);
  const std::int64_t chunks = std::min(n, chunks_for(n * (per_row + 1) * width));
  const auto cut = [&](std::int64_t c) { return n / chunks * c + std::min(c, n % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    with_sum_type(type, [&](auto as) {
      widest<gather_part<decltype(as)>>(Table<decltype(as)>{table, columns}, places, per_row,
                                        {cut(c), cut(c + 1)}, out + cut(c) * width);
    });
  });
}

void scatter_order(Lookups lookups, std::int64_t per_row, std::int64_t rows, std::int64_t* counts,
                   std::int64_t* own, Addition* additions) noexcept {
  const RowNumbers places(lookups, rows);
  const std::int64_t n = lookups.count;
  if (counts == nullptr) {
    for (std::int64_t k = 0; k < n; ++k) additions[k] = {places[k], k};
    std::sort(additions, additions + n, [](const Addition& a, const Addition& b) {
      return a.to != b.to ? a.to < b.to : a.from < b.from;
    });
    for (std::int64_t k = 0; k < n; ++k) additions[k].from /= per_row;
    return;
  }
  std::memset(counts, 0, static_cast<std::size_t>(rows + 1) * sizeof *counts);
  for (std::int64_t k = 0; k < n; ++k) {
    own[k] = places[k];
    ++counts[own[k] + 1];
  }
  for (std::int64_t row = 0; row < rows; ++row) counts[row + 1] += counts[row];
  for (std::int64_t k = 0, from = 0; k < n; ++from) {
    for (const std::int64_t end = k + per_row; k < end; ++k) {
      const std::int64_t to = own[k];
      additions[counts[to]++] = {to, from};
    }
  }
}

}  // namespace varlen
