#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "support/elements.hpp"
#include "varlen/mask.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

/// Without branches: masks of data are seldom guessed right.
template <class T>
void fill_run(const std::byte* __restrict values, const std::uint8_t* __restrict mask, Range rows, T fill,
              std::byte* __restrict out) noexcept {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const T keep = static_cast<T>(T{0} - static_cast<T>(mask[i] == 0));
    write(out, i, static_cast<T>((read<T>(values, i) & keep) | (fill & static_cast<T>(~keep))));
  }
}

template <class T>
void fill_all(const std::byte* values, const std::uint8_t* mask, std::int64_t count, const std::byte* fill,
              std::byte* out) noexcept {
  const T instead = read<T>(fill, 0);
  const std::int64_t chunks = chunks_for(count * static_cast<std::int64_t>(2 * sizeof(T) + 1));
  const auto cut = [&](std::int64_t c) { return count / chunks * c + std::min(c, count % chunks); };
  parallel(chunks, [&](std::int64_t c) { fill_run<T>(values, mask, {cut(c), cut(c + 1)}, instead, out); });
}

}  // namespace

void fill_masked(const std::byte* values, std::int64_t width, const std::uint8_t* mask, std::int64_t count,
                 const std::byte* fill, std::byte* out) noexcept {
  switch (width) {
    case 1:
      return fill_all<std::uint8_t>(values, mask, count, fill, out);
    case 2:
      return fill_all<std::uint16_t>(values, mask, count, fill, out);
    case 4:
      return fill_all<std::uint32_t>(values, mask, count, fill, out);
    default:
      return fill_all<std::uint64_t>(values, mask, count, fill, out);
  }
}

}  // namespace varlen
