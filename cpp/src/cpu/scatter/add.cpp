#include <algorithm>
#include <cstring>

#include "sum.hpp"
#include "support/dispatch.hpp"
#include "support/prefetch.hpp"
#include "varlen/pool.hpp"
#include "varlen/scatter.hpp"

namespace varlen {
namespace {

/// What threads share of the work: some of the additions, some of the columns.
struct Share {
  Range additions;
  Range columns;
};

/// All that is added to one row of the table ends up in it together.
template <class T>
VARLEN_LOOP void scatter_part(const Table<T>& values, const Addition* additions, std::int64_t all,
                              std::int64_t rows, bool fresh, Share share, std::byte* table) noexcept {
  using A = Sum<T, false>;
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t width = values.columns * kSize;
  const auto [begin, end] = share.additions;
  const auto clear = [&](std::int64_t from, std::int64_t to) {
    if (!fresh || from >= to) return;
    if (share.columns.size() == values.columns) {
      std::memset(table + from * width, 0, static_cast<std::size_t>((to - from) * width));
      return;
    }
    for (std::int64_t row = from; row < to; ++row) {
      std::memset(table + row * width + share.columns.begin * kSize, 0,
                  static_cast<std::size_t>(share.columns.size() * kSize));
    }
  };
  std::int64_t next_row = begin == 0 ? 0 : additions[begin].to;  // rows of the table before it are another's
  for (std::int64_t k = begin; k < end;) {
    const std::int64_t to = additions[k].to;
    const Addition* const group = additions + k;
    clear(next_row, to);
    next_row = to + 1;
    for (; k < end && additions[k].to == to; ++k) {
      if (k + kPrefetchRows < all) {
        for (std::int64_t line = 0; line < std::min(width, kPrefetchLineBytes); line += 64) {
          prefetch(values.data, additions[k + kPrefetchRows].from, width, static_cast<std::uintptr_t>(line));
        }
      }
    }
    const std::int64_t n = additions + k - group;
    for (std::int64_t c = share.columns.begin; c < share.columns.end; c += kTile) {
      const std::int64_t m = std::min(kTile, share.columns.end - c);
      std::byte* const address = table + to * width + c * kSize;
      A sums[kTile];
      if (fresh) {
        std::fill_n(sums, m, A{});
      } else {
        take_row<T>(address, m, sums);
      }
      add_rows<T>(
          values, [&](std::int64_t i) { return group[i].from; }, n, c, m, sums);
      give_row<T>(sums, m, address);
    }
  }
  clear(next_row, end == all ? rows : additions[end].to);
}

/// One row of values after another, columns of it, to the rows of the table that its lookups name.
template <class T>
VARLEN_LOOP void direct_part(const Table<T>& values, RowNumbers lookups, std::int64_t per_row, std::int64_t n,
                             Range columns, std::byte* table) noexcept {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t width = values.columns * kSize;
  const std::int64_t bytes = std::min(columns.size() * kSize, kPrefetchLineBytes);
  std::byte* const first = table + columns.begin * kSize;
  const std::byte* __restrict from = values.cell(0, columns.begin);
  std::int64_t own[kOwnLookups];
  for (std::int64_t k = 0, left = per_row; k < n; k += kOwnLookups) {
    const std::int64_t group = std::min(kOwnLookups, n - k);
    lookups.copy(k, group, own);
    for (std::int64_t i = 0; i < group; ++i, --left) {
      if (left == 0) {
        from += width;
        left = per_row;
      }
      for (std::int64_t address = 0; i + kPrefetchRows < group && address < bytes; address += 64) {
        prefetch(first, own[i + kPrefetchRows], width, static_cast<std::uintptr_t>(address));
      }
      std::byte* __restrict const sums = first + own[i] * width;
      for (std::int64_t j = 0; j < columns.size(); ++j) {
        T sum = read<T>(sums, j);
        add(sum, read<T>(from, j));
        write(sums, j, sum);
      }
    }
  }
}

/// The most that is added to one row.
std::int64_t most_to_one(const Addition* additions, std::int64_t n) noexcept {
  std::int64_t longest = 0;
  for (std::int64_t k = 0; k < n;) {
    const std::int64_t first = k;
    while (k < n && additions[k].to == additions[first].to) ++k;
    longest = std::max(longest, k - first);
  }
  return longest;
}

/// Shares of the columns of a row, lines of the caches at least.
std::int64_t shares_of_columns(std::int64_t width, std::int64_t bytes) noexcept {
  return std::clamp<std::int64_t>(width / 64, 1, std::min<std::int64_t>(chunks_for(bytes), num_threads()));
}

}  // namespace

bool scatter_in_order(Type type, std::int64_t columns, std::int64_t n) noexcept {
  if (type == Type::f16 || type == Type::bf16) return true;
  const std::int64_t width = columns * size_of(type);
  const std::int64_t chunks = std::min<std::int64_t>(chunks_for(n * width), num_threads());
  return shares_of_columns(width, n * width) < chunks;
}

void scatter_direct(Type type, const std::byte* values, std::int64_t columns, Lookups lookups,
                    std::int64_t per_row, std::int64_t rows, bool fresh, std::byte* table) noexcept {
  const std::int64_t width = columns * size_of(type);
  if (width == 0 || rows == 0) return;
  // Written twice where it is fresh: rows of values that pass once cost less than one look at each table row.
  if (fresh) std::memset(table, 0, static_cast<std::size_t>(rows * width));
  const std::int64_t shares = shares_of_columns(width, lookups.count * width);
  const auto cut = [&](std::int64_t c) { return columns / shares * c + std::min(c, columns % shares); };
  parallel(shares, [&](std::int64_t c) {
    with_sum_type(type, [&](auto as) {
      using T = decltype(as);
      if constexpr (!kHalf<T>) {
        widest<direct_part<T>>(Table<T>{values, columns}, RowNumbers(lookups, rows), per_row, lookups.count,
                               {cut(c), cut(c + 1)}, table);
      }
    });
  });
}

void scatter_add(Type type, const std::byte* values, std::int64_t columns, const Addition* additions,
                 std::int64_t n, std::int64_t rows, bool fresh, std::byte* table) noexcept {
  const std::int64_t width = columns * size_of(type);
  if (width == 0 || rows == 0) return;
  const std::int64_t chunks = chunks_for((n + (fresh ? rows : 0)) * width);
  // Threads share the additions, or, where many go to one row, the columns: lines of the caches, at least.
  const bool by_columns = chunks > 1 && most_to_one(additions, n) > n / chunks;
  const std::int64_t shares =
      by_columns ? std::clamp<std::int64_t>(width / 64, 1, chunks) : std::clamp<std::int64_t>(n, 1, chunks);
  const auto cut = [&](std::int64_t c, std::int64_t total) {
    return total / shares * c + std::min(c, total % shares);
  };
  const auto cut_rows = [&](std::int64_t c) {  // where a row of the table begins
    std::int64_t address = cut(c, n);
    while (address > 0 && address < n && additions[address].to == additions[address - 1].to) ++address;
    return address;
  };
  parallel(shares, [&](std::int64_t c) {
    const Share share = by_columns ? Share{{0, n}, {cut(c, columns), cut(c + 1, columns)}}
                                   : Share{{cut_rows(c), cut_rows(c + 1)}, {0, columns}};
    if (c > 0 && !by_columns && share.additions.size() == 0) return;
    with_sum_type(type, [&](auto as) {
      best<scatter_part<decltype(as)>>(Table<decltype(as)>{values, columns}, additions, n, rows, fresh, share,
                                       table);
    });
  });
}

}  // namespace varlen
