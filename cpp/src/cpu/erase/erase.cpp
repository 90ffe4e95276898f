#include "varlen/erase.hpp"

#include <algorithm>
#include <array>

#include "wide.hpp"

namespace varlen {
namespace {

/// A row goes where the next kept one is to stand, and counts where it is one: no branch that could be
/// guessed wrong. `matches` says whether it equals a token.
template <class T, class Predicate>
std::int64_t erase_where(const T* values, Offsets level, EraseProgress from, T* out, std::int64_t* ends,
                         Predicate matches) noexcept {
  std::int64_t rows_kept = from.rows_kept;
  std::int64_t row = from.row;
  for (std::int64_t i = from.sequence; i < level.count; ++i) {
    for (const std::int64_t end = level.end(i); row < end; ++row) {
      const T value = values[row];
      out[rows_kept] = value;
      rows_kept += matches(value) ? 0 : 1;
    }
    ends[i] = rows_kept;
  }
  return rows_kept;
}

template <class T, std::size_t N>
std::int64_t erase_few_tokens(const T* values, Offsets level, EraseProgress from, const T* tokens, T* out,
                              std::int64_t* ends) noexcept {
  std::array<T, N> all;
  std::copy(tokens, tokens + N, all.begin());
  return erase_where(values, level, from, out, ends, [all](T value) {
    bool matches = false;
    for (std::size_t k = 0; k < N; ++k) matches |= value == all[k];
    return matches;
  });
}

template <class T>
std::int64_t erase_as(const Rows& rows, Offsets level, const std::byte* token_bytes, std::int64_t n,
                      std::byte* to, std::int64_t* ends) noexcept {
  const EraseProgress from = erase_wide(rows, level, token_bytes, n, to, ends);
  const auto* const values = reinterpret_cast<const T*>(rows.data);
  const auto* const tokens = reinterpret_cast<const T*>(token_bytes);
  auto* const out = reinterpret_cast<T*>(to);
  switch (n) {
    case 0:
      return erase_few_tokens<T, 0>(values, level, from, tokens, out, ends);
    case 1:
      return erase_few_tokens<T, 1>(values, level, from, tokens, out, ends);
    case 2:
      return erase_few_tokens<T, 2>(values, level, from, tokens, out, ends);
    case 3:
      return erase_few_tokens<T, 3>(values, level, from, tokens, out, ends);
    case 4:
      return erase_few_tokens<T, 4>(values, level, from, tokens, out, ends);
    default:
      return erase_where(values, level, from, out, ends, [tokens, n](T value) {
        // The last token that is not above the value, found in steps that halve.
        const T* token = tokens;
        for (std::int64_t left = n; left > 1;) {
          const std::int64_t half = left / 2;
          token = token[half] <= value ? token + half : token;
          left -= half;
        }
        return *token == value;
      });
  }
}

}  // namespace

std::int64_t erase_rows(Rows values, Offsets level, const std::byte* tokens, std::int64_t n, std::byte* out,
                        std::int64_t* ends) noexcept {
  switch (values.width) {
    case 1:
      return erase_as<std::uint8_t>(values, level, tokens, n, out, ends);
    case 2:
      return erase_as<std::uint16_t>(values, level, tokens, n, out, ends);
    case 4:
      return erase_as<std::uint32_t>(values, level, tokens, n, out, ends);
    default:
      return erase_as<std::uint64_t>(values, level, tokens, n, out, ends);
  }
}

}  // namespace varlen
