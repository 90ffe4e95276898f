// Sums of looked-up rows on the host, and what is added to those of a table: see scatter.hpp.
#include "varlen/scatter.hpp"

#include <cstring>

#include "room.hpp"
#include "varlen/host.hpp"

namespace varlen::host {

using cuda::Error;
using cuda::Stream;

namespace {

/// Counting walks the table's rows, comparing takes some 15 steps a lookup.
bool is_counted(Lookups lookups, std::int64_t rows) noexcept {
  return rows <= 16 * lookups.count;
}

}  // namespace

std::int64_t gather_add_scratch(Type, std::int64_t, std::int64_t, std::int64_t) noexcept {
  return 0;
}

Error gather_add(Stream, Type type, const std::byte* table, std::int64_t rows, std::int64_t columns,
                 Lookups lookups, std::int64_t n, std::int64_t per_row, std::byte*, std::byte* out) noexcept {
  varlen::gather_add(type, table, rows, columns, lookups, n, per_row, out);
  return 0;
}

std::int64_t scatter_add_scratch(Type type, std::int64_t columns, Lookups lookups,
                                 std::int64_t rows) noexcept {
  if (!scatter_in_order(type, columns, lookups.count)) return 0;
  const std::int64_t additions = part(lookups.count * std::int64_t{sizeof(Addition)});
  if (!is_counted(lookups, rows)) return additions;
  return additions + part((rows + 1) * size_of(Type::i64)) + part(lookups.count * size_of(Type::i64));
}

Error scatter_add(Stream, Type type, const std::byte* values, std::int64_t columns, Lookups lookups,
                  std::int64_t per_row, std::int64_t rows, const std::byte* source, std::byte* scratch,
                  std::byte* table) noexcept {
  const bool is_fresh = source == nullptr;
  const std::int64_t bytes = rows * columns * size_of(type);
  if (!is_fresh && source != table && bytes > 0) std::memcpy(table, source, static_cast<std::size_t>(bytes));
  if (!scatter_in_order(type, columns, lookups.count)) {
    scatter_direct(type, values, columns, lookups, per_row, rows, is_fresh, table);
    return 0;
  }
  Room room(scratch);
  auto* const additions =
      reinterpret_cast<Addition*>(room.take(lookups.count * std::int64_t{sizeof(Addition)}));
  std::int64_t* counts = nullptr;
  std::int64_t* own = nullptr;
  if (is_counted(lookups, rows)) {
    counts = reinterpret_cast<std::int64_t*>(room.take((rows + 1) * size_of(Type::i64)));
    own = reinterpret_cast<std::int64_t*>(room.take(0));
  }
  scatter_order(lookups, per_row, rows, counts, own, additions);
  varlen::scatter_add(type, values, columns, additions, lookups.count, rows, is_fresh, table);
  return 0;
}

}  // namespace varlen::host
