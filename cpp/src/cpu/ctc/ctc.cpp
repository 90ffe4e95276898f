#include "varlen/ctc.hpp"

#include "support/shares.hpp"
#include "table.hpp"

#define VARLEN_LOOPS "cpu/ctc/loops.inc"
#include "support/each_target.hpp"

namespace varlen {

Status ctc_check(const CtcJob& job) noexcept {
  for (std::int64_t k = 0; k < job.target_level.total(); ++k) {
    const std::int64_t label = job.labels[k];
    if (label < 0 || label >= job.classes || label == job.blank) return {Code::index_out_of_range, k, label};
  }
  return {};
}

WorkShares ctc_shares(const CtcJob& job) noexcept {
  const auto room = [&](std::int64_t i) {
    return CtcRoom(job.type, job.level.length(i), job.target_level.length(i), job.with_gradient);
  };
  return shares_of(
      job.level.count,
      [&](std::int64_t i) {
        // A state costs some ten ns without vectors, with the way back three times that; a class an exp.
        const std::int64_t states = room(i).width * (job.with_gradient ? 60 : 20);
        return job.level.length(i) * (states + (job.with_gradient ? 8 * job.classes : 0)) + 64;
      },
      [&](std::int64_t i) { return room(i).bytes; });
}

void ctc_loss(const CtcJob& job, const WorkShares& shares, std::byte* scratch, std::byte* losses,
              std::byte* gradient) noexcept {
  const CtcTable& table = VARLEN_BEST(kCtc);
  const auto run = job.type == Type::f32 ? table.run32 : table.run64;
  by_work(shares, scratch, [&](Range share, std::byte* own) { run(job, share, own, losses, gradient); });
}

}  // namespace varlen
