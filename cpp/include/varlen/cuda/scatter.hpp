// `scatter.hpp` on the device: the same sums, the stream first. Everything lies there.
//
// Nobody has looked at the lookups: one that is no row of the table counts as a row of zeros, and adds to
// nothing. Rows are added in the order in which they come, as on the CPU; where more than kAddedRows of them
// go to one, every so many are added up by themselves, and what they give in double. Which they are depends
// on their place among those that go to the same row alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/cuda/stream.hpp"
#include "varlen/scatter.hpp"

namespace varlen::cuda {

/// Rows that one thread adds up.
constexpr std::int64_t kAddedRows = 128;

/// Bytes of scratch, aligned to 16: none, but where `per_row` is more than kAddedRows.
[[nodiscard]] std::int64_t gather_add_scratch(Type type, std::int64_t columns, std::int64_t n,
                                              std::int64_t per_row) noexcept;

/// One launch, and one more each time that `per_row` is kAddedRows times as many.
[[nodiscard]] Error gather_add(Stream stream, Type type, const std::byte* table, std::int64_t rows,
                               std::int64_t columns, Lookups lookups, std::int64_t n, std::int64_t per_row,
                               std::byte* scratch, std::byte* out) noexcept;

/// Bytes of scratch, aligned to 16.
[[nodiscard]] std::int64_t scatter_add_scratch(Type type, std::int64_t columns, Lookups lookups,
                                               std::int64_t rows) noexcept;

/// As scatter_direct, for halves too. `start`: what the table holds first, which may be the table itself;
/// null: zeros. At most kMostSorted lookups, which are sorted first: no two threads write to one row.
[[nodiscard]] Error scatter_add(Stream stream, Type type, const std::byte* values, std::int64_t columns,
                                Lookups lookups, std::int64_t per_row, std::int64_t rows,
                                const std::byte* start, std::byte* scratch, std::byte* table) noexcept;

}  // namespace varlen::cuda
