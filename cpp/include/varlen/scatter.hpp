// Lookups: several rows of a table to one row each, and the way back, which adds rows to those of a table.
// Sums are those of `add` in NumPy's dtype, in the order in which the rows come: halves in float32, rounded
// once; integers wrap, bool is an or. One thread or many: the bits are the same. Nothing overlaps.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// Numbers of rows as they came: i32, u32, i64 or u64.
struct Lookups {
  Type type = Type::i64;
  const std::byte* data = nullptr;
  std::int64_t count = 0;
};

/// Whether all are rows of a table of so many. Fails with index_out_of_range, where = the first that is not.
Status scatter_check(Lookups lookups, std::int64_t rows) noexcept;

/// out (n, columns): row t is the sum of the table's rows lookups[t * each] ... lookups[t * each + each - 1];
/// zeros where each is 0. Checked lookups, n * each of them.
void gather_add(Type type, const std::byte* table, std::int64_t rows, std::int64_t columns, Lookups lookups,
                std::int64_t n, std::int64_t per_row, std::byte* out) noexcept;

// The way back has two ways to go. Row after row of the values is added where its lookups say, by threads
// that share the columns; or the lookups are put in order first, so that a row of the table is written once.

/// Whether the second is to be taken, for n lookups: halves, which are rounded once, and rows too short for
/// threads to share.
[[nodiscard]] bool scatter_in_order(Type type, std::int64_t columns, std::int64_t n) noexcept;

/// Row k / each of values is added to row lookups[k] of a table of `rows` rows. fresh: the table is written,
/// rows without additions are zeros; else it is added to. Checked lookups; no halves.
void scatter_direct(Type type, const std::byte* values, std::int64_t columns, Lookups lookups,
                    std::int64_t per_row, std::int64_t rows, bool fresh, std::byte* table) noexcept;

/// Row `from` is to be added to row `to` of a table.
struct Addition {
  std::int64_t to = 0;
  std::int64_t from = 0;
};

/// Lookup k as an addition of row k / each to row lookups[k] of `rows`, sorted by `to`, ties in their order.
/// counts holds rows + 1, or is null: then the additions are sorted by comparing them, which pays where they
/// are few beside the rows. Checked lookups.
void scatter_order(Lookups lookups, std::int64_t per_row, std::int64_t rows, std::int64_t* counts,
                   std::int64_t* own, Addition* additions) noexcept;

/// The same as scatter_direct, for additions that are sorted.
void scatter_add(Type type, const std::byte* values, std::int64_t columns, const Addition* additions,
                 std::int64_t n, std::int64_t rows, bool fresh, std::byte* table) noexcept;

}  // namespace varlen
