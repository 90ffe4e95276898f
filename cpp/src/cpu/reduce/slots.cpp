// Sequences in the slots of a rectangle: short ones are laid end to end in a cache, a few at a time, long
// ones are folded where they lie.
#include "tables.hpp"
#include "varlen/pad.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kShortBytes = 4096;
constexpr std::int64_t kRoom = 32768;
constexpr std::int64_t kFew = 512;

class InSlots {
 public:
  InSlots(const ReduceJob& job, std::byte* out) noexcept
      : job_(job),
        width_(job.columns * size_of(job.type)),
        result_(job.columns * size_of(reduced_type(job.op, job.type))),
        out_(out) {}

  /// All but those that threads share.
  void sequences(Range share) const noexcept {
    alignas(64) std::byte room[kRoom];
    std::int64_t ends[kFew];
    for (std::int64_t i = share.begin; i < share.end;) {
      std::int64_t count = 0;
      std::int64_t rows = 0;
      std::int64_t longest = 0;
      for (; i + count < share.end && count < kFew; ++count) {
        const std::int64_t length = job_.level.length(i + count);
        if (length * width_ > kShortBytes || (rows + length) * width_ > kRoom) break;
        rows += length;
        longest = std::max(longest, length);
        ends[count] = rows;
      }
      if (count == 0) {
        if (!is_shared(i)) one(i, nullptr);
        ++i;
        continue;
      }
      const Offsets few{ends, count};
      const std::byte* const block = job_.values + i * job_.slots * width_;
      unpad(block, width_, &few, 1, &job_.slots, job_.fill_left ? Side::left : Side::right, room);
      run(few, longest, room, i, nullptr);
      i += count;
    }
  }

  [[nodiscard]] bool is_shared(std::int64_t i) const noexcept {
    ReduceJob solo = job_;
    solo.longest = job_.level.length(i);
    return reduce_scratch(solo) > 0;
  }

  /// Where it lies.
  void one(std::int64_t i, std::byte* scratch) const noexcept {
    const std::int64_t length = job_.level.length(i);
    run({&length, 1}, length, rows_of(i), i, scratch);
  }

 private:
  [[nodiscard]] const std::byte* rows_of(std::int64_t i) const noexcept {
    const std::int64_t lead = job_.fill_left ? job_.slots - job_.level.length(i) : 0;
    return job_.values + (i * job_.slots + lead) * width_;
  }

  /// Sequences from `first` on, whose rows lie end to end.
  void run(Offsets level, std::int64_t longest, const std::byte* rows, std::int64_t first,
           std::byte* scratch) const noexcept {
    ReduceJob job = job_;
    job.slots = 0;
    job.level = level;
    job.longest = longest;
    job.values = rows;
    reduce(job, scratch, out_ + first * result_);
  }

  const ReduceJob& job_;
  std::int64_t width_;
  std::int64_t result_;
  std::byte* out_;
};

}  // namespace

void reduce_slots(const ReduceJob& job, std::byte* scratch, std::byte* out) noexcept {
  const InSlots all(job, out);
  by_sequences(job.level, job.columns * size_of(job.type), [&](Range share) { all.sequences(share); });
  if (reduce_scratch(job) == 0) return;
  for (std::int64_t i = 0; i < job.level.count; ++i) {
    if (all.is_shared(i)) all.one(i, scratch);
  }
}

}  // namespace varlen
