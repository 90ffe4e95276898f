#include <algorithm>

#include "sum.hpp"
#include "support/dispatch.hpp"
#include "varlen/pool.hpp"
#include "varlen/window.hpp"

namespace varlen {
namespace {

template <class T>
VARLEN_LOOP void divide(const std::byte* __restrict input, std::int64_t count, std::int64_t divisor,
                        std::byte* __restrict out) noexcept {
  using A = Sum<T, true>;
  const auto n = static_cast<A>(divisor);
  for (std::int64_t j = 0; j < count; ++j) {
    write(out, j, convert<T>(static_cast<A>(convert<A>(read<T>(input, j)) / n)));
  }
}

}  // namespace

void share_windows(Type type, const std::byte* dx, std::int64_t count, Offsets level, Offsets counts,
                   Stepping how, std::byte* out) noexcept {
  const std::int64_t total = level.total();
  const std::int64_t width = count * size_of(type);
  if (total == 0 || width == 0) return;
  const auto run = type == Type::f16    ? best<divide<Half>>
                   : type == Type::bf16 ? best<divide<BFloat>>
                   : type == Type::f32  ? best<divide<float>>
                                        : best<divide<double>>;
  const std::int64_t chunks = std::min(total, chunks_for(2 * total * width));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks, [&](std::int64_t c) {
    std::int64_t i = std::upper_bound(level.ends, level.ends + level.count, cut(c)) - level.ends;
    for (std::int64_t row = cut(c); row < cut(c + 1); ++i) {
      for (; row < std::min(level.end(i), cut(c + 1)); ++row) {
        const std::int64_t n = windows_over(row - level.start(i), counts.length(i), how).n;
        run(dx + row * width, count, std::max<std::int64_t>(n, 1), out + row * width);
      }
    }
  });
}

}  // namespace varlen
