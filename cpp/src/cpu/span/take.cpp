// Rows in any order, one by one.
#include <algorithm>
#include <type_traits>

#include "support/dispatch.hpp"
#include "support/prefetch.hpp"
#include "support/read_once.hpp"
#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "varlen/span_rows.hpp"

namespace varlen {
namespace {

// Bytes of a row that are asked for; the rest follows by itself.
constexpr std::int64_t kPrefetchBytes = 512;

VARLEN_LOOP void take_part(Rows values, const std::int64_t* rows, Range part, std::byte* out) noexcept {
  const std::int64_t width = values.width;
  const auto run = [&](auto copy) {
    with_prefetch(
        part.begin, part.end, kPrefetchRows,
        [&](std::int64_t k) {
          for (std::int64_t line = 0; line < std::min(width, kPrefetchBytes); line += 64) {
            prefetch(values.data, rows[k], width, static_cast<std::uintptr_t>(line));
          }
        },
        [&](std::int64_t k) {
          const std::int64_t row = read_once(rows + k);  // checked before, and maybe written since
          copy(out + k * width, values.data + (is_inside(row, values.count) ? row : 0) * width);
        });
  };
  const auto run_fixed = [&](auto bytes) {
    run([](std::byte* to, const std::byte* from) { detail::move_fixed<decltype(bytes)::value>(to, from); });
  };
  if (width == 4) return run_fixed(std::integral_constant<std::size_t, 4>{});
  if (width == 8) return run_fixed(std::integral_constant<std::size_t, 8>{});
  if (width % kWideBytes == 0 && width < kOverMost) {
    return run([width](std::byte* to, const std::byte* from) { copy_over(to, from, width); });
  }
  run([width](std::byte* to, const std::byte* from) { copy_exact(to, from, width); });
}

}  // namespace

void take_rows(Rows values, const std::int64_t* rows, std::int64_t n, std::byte* out) noexcept {
  if (n == 0 || values.width == 0) return;
  const std::int64_t chunks = std::min(n, chunks_for(n * values.width));
  const auto cut = [&](std::int64_t c) { return n / chunks * c + std::min(c, n % chunks); };
  parallel(chunks, [&](std::int64_t c) { best<take_part>(values, rows, {cut(c), cut(c + 1)}, out); });
}

}  // namespace varlen
