// Rows from anywhere, added up tile by tile: what lookups and the way back share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "support/sums.hpp"
#include "varlen/scatter.hpp"

namespace varlen {

/// Numbers that are summed side by side: they and four rows of them fit the first cache.
inline constexpr std::int64_t kTile = 256;

/// Bytes of a row that are asked for; the rest follows by itself.
inline constexpr std::int64_t kPrefetchLineBytes = 512;

/// Rows of T, `columns` wide.
template <class T>
struct Table {
  const std::byte* data;
  std::int64_t columns;

  [[nodiscard]] const std::byte* cell(std::int64_t row, std::int64_t column) const noexcept {
    return data + (row * columns + column) * static_cast<std::int64_t>(sizeof(T));
  }
};

/// Lookups that are copied at once; they stay in the first cache.
inline constexpr std::int64_t kOwnLookups = 512;

/// Checked lookups in so many rows: signs do not matter any more. Another thread may have written there
/// since, so what is no row by now is row 0: numbers come out wrong, and nothing else is touched.
struct RowNumbers {
  const std::byte* data;
  bool is_wide;
  std::uint64_t rows;

  RowNumbers(const Lookups& lookups, std::int64_t count) noexcept
      : data(lookups.data), is_wide(size_of(lookups.type) == 8), rows(static_cast<std::uint64_t>(count)) {}

  [[nodiscard]] std::int64_t operator[](std::int64_t i) const noexcept {
    return row_of(is_wide ? read<std::uint64_t>(data, i) : read<std::uint32_t>(data, i));
  }

  /// The rows of lookups [first, first + n), where no other thread writes: they need no more looking at.
  [[gnu::always_inline]] inline void copy(std::int64_t first, std::int64_t n,
                                          std::int64_t* __restrict own) const noexcept {
    const std::byte* __restrict const from = data + first * (is_wide ? 8 : 4);
    if (is_wide) {
      for (std::int64_t k = 0; k < n; ++k) own[k] = row_of(read<std::uint64_t>(from, k));
    } else {
      for (std::int64_t k = 0; k < n; ++k) own[k] = row_of(read<std::uint32_t>(from, k));
    }
  }

 private:
  [[nodiscard]] [[gnu::always_inline]] inline std::int64_t row_of(std::uint64_t row) const noexcept {
    return row < rows ? static_cast<std::int64_t>(row) : 0;
  }
};

template <class T>
inline constexpr bool kBlocksOfFour = std::is_floating_point_v<T>;

/// out[j] = a[j] + b[j] + c[j] + d[j], added from left to right.
template <class T>
[[gnu::always_inline]] inline void sum_of_four(const std::byte* __restrict a, const std::byte* __restrict b,
                                               const std::byte* __restrict c, const std::byte* __restrict d,
                                               std::int64_t n, std::byte* __restrict out) noexcept {
  for (std::int64_t j = 0; j < n; ++j) {
    write(out, j, static_cast<T>(read<T>(a, j) + read<T>(b, j) + read<T>(c, j) + read<T>(d, j)));
  }
}

/// sums[j] += numbers [c, c + m) of rows from(0) ... from(n - 1), one row after another.
template <class T, class From>
[[gnu::always_inline]] inline void add_rows(const Table<T>& rows, From from, std::int64_t n, std::int64_t c,
                                            std::int64_t m, Sum<T, false>* __restrict sums) noexcept {
  using A = Sum<T, false>;
  std::int64_t k = 0;
  if constexpr (kBlocksOfFour<T>) {
    for (; k + 4 <= n; k += 4) {
      const std::byte* __restrict const one = rows.cell(from(k), c);
      const std::byte* __restrict const two = rows.cell(from(k + 1), c);
      const std::byte* __restrict const three = rows.cell(from(k + 2), c);
      const std::byte* __restrict const four = rows.cell(from(k + 3), c);
      for (std::int64_t j = 0; j < m; ++j) {
        sums[j] = sums[j] + read<T>(one, j) + read<T>(two, j) + read<T>(three, j) + read<T>(four, j);
      }
    }
  }
  for (; k < n; ++k) {
    const std::byte* __restrict const row = rows.cell(from(k), c);
    for (std::int64_t j = 0; j < m; ++j) add(sums[j], convert<A>(read<T>(row, j)));
  }
}

/// sums[0, m) = what stands at `from`.
template <class T>
[[gnu::always_inline]] inline void take_row(const std::byte* __restrict from, std::int64_t m,
                                            Sum<T, false>* __restrict sums) noexcept {
  for (std::int64_t j = 0; j < m; ++j) sums[j] = convert<Sum<T, false>>(read<T>(from, j));
}

/// What stands at `to` = sums[0, m).
template <class T>
[[gnu::always_inline]] inline void give_row(const Sum<T, false>* __restrict sums, std::int64_t m,
                                            std::byte* __restrict to) noexcept {
  for (std::int64_t j = 0; j < m; ++j) write(to, j, convert<T>(sums[j]));
}

/// run(T{}) with the type that sums of `type` are taken in: integers of either sign have the same.
template <class Run>
void with_sum_type(Type type, Run run) noexcept {
  switch (type) {
    case Type::b1:
      return run(Bool{});
    case Type::i8:
    case Type::u8:
      return run(std::uint8_t{});
    case Type::i16:
    case Type::u16:
      return run(std::uint16_t{});
    case Type::i32:
    case Type::u32:
      return run(std::uint32_t{});
    case Type::i64:
    case Type::u64:
      return run(std::uint64_t{});
    case Type::f16:
      return run(Half{});
    case Type::bf16:
      return run(BFloat{});
    case Type::f32:
      return run(float{});
    case Type::f64:
      return run(double{});
  }
}

}  // namespace varlen
