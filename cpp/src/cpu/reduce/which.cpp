#include "support/elements.hpp"
#include "tables.hpp"

#define VARLEN_LOOPS "cpu/reduce/which.inc"
#include "support/each_target.hpp"

namespace varlen {
namespace {

template <class T>
void divide(Offsets level, std::int64_t columns, std::byte* rows) noexcept {
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t length = level.length(i);
    if (length == 0) continue;
    using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
    for (std::int64_t c = i * columns; c < (i + 1) * columns; ++c) {
      write(rows, c, convert<T>(convert<Real>(read<T>(rows, c)) / static_cast<Real>(length)));
    }
  }
}

WhichOf which_for(const WhichTable& table, Type type) noexcept {
  switch (type) {
    case Type::f16:
      return table.f16;
    case Type::bf16:
      return table.bf16;
    case Type::f32:
      return table.f32;
    case Type::f64:
      return table.f64;
    default:
      break;
  }
  const std::int64_t size = size_of(type);
  return size == 1 ? table.w1 : size == 2 ? table.w2 : size == 4 ? table.w4 : table.w8;
}

}  // namespace

void reduce_which(const ReduceJob& job, const std::byte* extremes, Places which) noexcept {
  const WhichOf run = which_for(VARLEN_BEST(kReduceWhich), job.type);
  by_sequences(job.level, job.columns * size_of(job.type),
               [&](Range share) { run(job.level, share, job.values, job.columns, extremes, which); });
}

void divide_by_lengths(Type type, Offsets level, std::int64_t columns, std::byte* rows) noexcept {
  if (type == Type::f16) return divide<Half>(level, columns, rows);
  if (type == Type::bf16) return divide<BFloat>(level, columns, rows);
  if (type == Type::f32) return divide<float>(level, columns, rows);
  divide<double>(level, columns, rows);
}

}  // namespace varlen
