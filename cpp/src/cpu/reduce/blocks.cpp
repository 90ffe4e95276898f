#include "tables.hpp"

#define VARLEN_LOOPS "cpu/reduce/blocks.inc"
#include "support/each_target.hpp"

namespace varlen {

Status reduce_blocks_check(Offsets groups, Offsets blocks) noexcept {
  if (groups.count != blocks.count) return {Code::count_mismatch, groups.count, blocks.count};
  for (std::int64_t k = 0; k < groups.count; ++k) {
    const std::int64_t rows = groups.length(k);
    const std::int64_t size = blocks.length(k);
    if (size == 0 ? rows != 0 : rows % size != 0) return {Code::count_mismatch, k, rows};
  }
  return {};
}

void reduce_blocks(const BlocksJob& job, std::byte* out) noexcept {
  if (job.columns <= 0) return;
  const BlocksTable& table = VARLEN_BEST(kReduceBlocks);
  const BlocksOf run = job.type == Type::f32 ? table.f32 : job.type == Type::f64 ? table.f64 : table.u64;
  const std::int64_t width = job.columns * size_of(job.type);
  const auto is_giant = [&](std::int64_t k) { return job.groups.length(k) * width >= kGiantBytes; };
  by_sequences(job.groups, width, [&](Range share) {
    for (std::int64_t k = share.begin; k < share.end;) {
      std::int64_t next = k;
      while (next < share.end && !is_giant(next)) ++next;
      run(job, {k, next}, 0, 1, out);
      k = next + 1;  // threads share what is giant
    }
  });
  for (std::int64_t k = 0; k < job.groups.count; ++k) {
    if (!is_giant(k)) continue;
    const std::int64_t parts = chunks_for(job.groups.length(k) * width);
    parallel(parts, [&](std::int64_t part) { run(job, {k, k + 1}, part, parts, out); });
  }
}

}  // namespace varlen
