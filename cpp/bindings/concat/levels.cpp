// Levels, one after another or sequence by sequence: on the host, or where they lie on a device alone.
#include <algorithm>
#include <utility>

#include "concat.hpp"
#include "support/arrays.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/reduce.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

/// What the host knows of levels, added up; below 0: nothing.
class CheckedSum {
 public:
  void add(std::int64_t addend) {
    if (sum_ >= 0 && (addend < 0 || !checked_add(sum_, addend, sum_))) sum_ = -1;
  }
  [[nodiscard]] std::int64_t sum() const { return sum_; }

 private:
  std::int64_t sum_ = 0;
};

std::int64_t total_of(Level& level) {
  return level.knows_total() ? level.total() : -1;
}

std::int64_t most_of(Level& level) {
  const std::int64_t limit = level.length_limit();
  return limit == INT64_MAX ? -1 : limit;
}

/// The lengths of all, one after another, are those of the result.
LevelRef concat_there(const std::vector<LevelRef>& levels) {
  const auto hidden =
      std::find_if(levels.begin(), levels.end(), [](const LevelRef& level) { return level->is_hidden(); });
  const Place place = (*hidden)->hidden_place();
  std::int64_t count = 0;
  std::int64_t limit = 0;
  CheckedSum total;
  for (const LevelRef& level : levels) {
    count += level->count();
    total.add(total_of(LevelRef::unwrap(level)));
    const std::int64_t own = most_of(LevelRef::unwrap(level));
    limit = limit < 0 || own < 0 ? -1 : std::max(limit, own);
  }
  py::array lengths = empty_at(place, py::dtype::of<std::int64_t>(), {count});
  std::int64_t* to = ints(lengths);
  for (const LevelRef& level : levels) {
    const Offsets level_ends = offsets_at(place, LevelRef::unwrap(level));
    place.check(place.kernels->lengths_of(place.stream, level_ends, to), "lengths");
    to += level_ends.count;
  }
  return Level::from_kernel(lengths, false, total.sum(), limit, levels);
}

}  // namespace

bool has_hidden(const std::vector<LevelRef>& levels) {
  return std::any_of(levels.begin(), levels.end(), [](const LevelRef& level) { return level->is_hidden(); });
}

std::vector<Offsets> views_of(const std::vector<LevelRef>& levels) {
  std::vector<Offsets> views;
  views.reserve(levels.size());
  for (const LevelRef& level : levels) views.push_back(level->view());
  return views;
}

LevelRef concat_levels(const std::vector<LevelRef>& levels) {
  if (levels.empty()) raise_value("levels", "expected at least one part, got none");
  if (has_hidden(levels)) return concat_there(levels);
  const std::vector<Offsets> views = views_of(levels);
  std::int64_t count = 0;
  for (const LevelRef& level : levels) count += level->count();
  NewLevel result(count);
  raise_if(concat_ends(views.data(), static_cast<std::int64_t>(views.size()), result.ends()), "levels");
  return std::move(result).finish();
}

LevelRef interleave_levels_at(const Place& place, const std::vector<LevelRef>& levels, std::int64_t total) {
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(std::int64_t));
  const auto parts = static_cast<std::int64_t>(levels.size());
  const std::int64_t entries = levels[0]->count() + 1;
  std::vector<ConcatBlock> blocks;
  std::int64_t end = 0;
  CheckedSum limit;
  for (const LevelRef& level : levels) {
    const std::int64_t* const offsets = offsets_at(place, LevelRef::unwrap(level)).ends - 1;
    blocks.push_back({reinterpret_cast<const std::byte*>(offsets), end += entries * kWidth});
    limit.add(most_of(LevelRef::unwrap(level)));
  }
  // The offsets of all, added up, are those of the result.
  py::array rows = empty_at(place, py::dtype::of<std::int64_t>(), {parts, entries});
  concat_at(place, blocks, bytes(rows));
  const std::int64_t ends[] = {0, parts};
  const PlacedInts one = ints_at(place, ends, 2);
  const std::int64_t zero = 0;
  ReduceJob job;
  job.op = Reduce::sum;
  job.type = Type::i64;
  job.level = {one.data + 1, 1};
  job.longest = parts;
  job.columns = entries;
  job.values = data_of(rows);
  job.empty = reinterpret_cast<const std::byte*>(&zero);
  const ScratchAt scratch(place, place.kernels->reduce_scratch(job, parts));
  py::array offsets = empty_at(place, py::dtype::of<std::int64_t>(), {entries});
  launch(place, "offsets", 0, &cuda::Kernels::reduce, job, parts, Type::i64, scratch.data(), bytes(offsets));
  return Level::from_kernel(offsets, true, total, limit.sum(), levels);
}

}  // namespace varlen::bindings
