#include "tables.hpp"

#define VARLEN_LOOPS_AVX512
#define VARLEN_LOOPS "cpu/reduce/extreme.inc"
#include "support/each_target.hpp"

namespace varlen {

void reduce_extreme(const ReduceJob& job, std::byte* scratch, std::byte* out, Places which) noexcept {
  const ExtremeTable& table = VARLEN_WIDEST(kReduceExtreme);
  // Rows so narrow are folded several in a vector, and searched after that.
  constexpr std::int64_t kNarrow = 8;
  if (job.columns < kNarrow) {
    reduce(job, scratch, out);
    return reduce_which(job, out, which);
  }
  const ExtremeTable::Ends& ends = job.type == Type::f32 ? table.f32 : table.f64;
  const ExtremeOf run = job.op == Reduce::max ? ends.max : ends.min;
  const std::int64_t width = job.columns * size_of(job.type);
  by_sequences(job.level, width, [&](Range share) { run(job, share, out, which); });
  if (job.longest * width < kGiantBytes) return;
  for (std::int64_t i = 0; i < job.level.count; ++i) {
    const std::int64_t rows = job.level.length(i);
    if (rows * width < kGiantBytes) continue;
    ReduceJob one = job;
    one.level = {&rows, 1};
    one.longest = rows;
    one.values = job.values + job.level.start(i) * width;
    const std::int64_t place = i * job.columns;
    const Places places{which.wide == nullptr ? nullptr : which.wide + place,
                        which.narrow == nullptr ? nullptr : which.narrow + place};
    reduce(one, scratch, out + i * width);
    reduce_which(one, out + i * width, places);
  }
}

}  // namespace varlen
