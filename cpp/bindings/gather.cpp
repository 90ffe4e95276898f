// Picking sequences of values under levels: first axis, and windows of the axis below it.
#include "varlen/gather.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "gather_index.hpp"
#include "level.hpp"
#include "raise.hpp"
#include "rooms.hpp"
#include "varlen/joint.hpp"

namespace varlen::bindings {

namespace {

using Levels = std::vector<std::shared_ptr<Level>>;

/// Values and the levels above them: what a call is given and gives back.
struct Nested {
  py::array values;
  Levels levels;

  Nested(py::array rows, Levels nesting) : values(std::move(rows)), levels(std::move(nesting)) {}
  Nested(py::handle rows, const py::tuple& nesting) : values(as_rows(rows, "values")) {
    for (const auto item : nesting) levels.push_back(item.cast<std::shared_ptr<Level>>());
  }

  [[nodiscard]] std::int64_t count() const { return levels.empty() ? values.shape(0) : levels[0]->count(); }
  [[nodiscard]] py::tuple result() const {
    py::tuple nesting(levels.size());
    for (std::size_t d = 0; d < levels.size(); ++d) nesting[d] = levels[d];
    return py::make_tuple(values, nesting);
  }
};

std::int64_t* ints(py::array& array) {
  return static_cast<std::int64_t*>(array.mutable_data());
}

/// Ranges that nobody has to set to zero first.
class Ranges {
 public:
  explicit Ranges(std::int64_t n)
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(n) * sizeof(Range))) {}
  [[nodiscard]] Range* get() const { return reinterpret_cast<Range*>(bytes_.get()); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

py::array fresh_offsets(std::int64_t n) {
  py::array offsets = empty_ints(n + 1);
  ints(offsets)[0] = 0;
  return offsets;
}

/// Sequences [rows.begin, rows.end), values shared; `from` is the level that they are sequences of.
Nested view(const Nested& all, std::size_t from, Range rows) {
  Levels levels;
  for (std::size_t d = from; d < all.levels.size(); ++d) {
    const Offsets level = all.levels[d]->view();
    const Range below{level.start(rows.begin),
                      rows.size() > 0 ? level.end(rows.end - 1) : level.start(rows.begin)};
    if (rows.begin == 0 && rows.end == level.count) {
      levels.push_back(all.levels[d]);
    } else {
      py::array offsets = fresh_offsets(rows.size());
      raise_if(joint_ends(level, rows, below.begin, ints(offsets) + 1), "levels");
      levels.push_back(Level::trusted(std::move(offsets)));
    }
    rows = below;
  }
  const bool whole = rows.begin == 0 && rows.end == all.values.shape(0);
  return {whole ? all.values : rows_between(all.values, rows.begin, rows.end), std::move(levels)};
}

/// The rows of `ranges` of dim `from` and all that is below them, after `levels`. ends as gather.hpp says.
Nested descend(const Nested& all, std::size_t from, Levels levels, Ranges ranges, const std::int64_t* ends,
               std::int64_t n) {
  py::array keep;  // what `ends` points into
  for (std::size_t d = from; d < all.levels.size(); ++d) {
    const Offsets level = all.levels[d]->view();
    Ranges below(n);
    py::array below_ends = empty_ints(n);
    raise_if(gather_descend(level, ranges.get(), n, level.total(), below.get(), ints(below_ends)), "levels");
    py::array offsets = fresh_offsets(n > 0 ? ends[n - 1] : 0);
    raise_if(gather_ends(level, ranges.get(), below.get(), ints(below_ends), n, ints(offsets) + 1), "levels");
    levels.push_back(Level::trusted(std::move(offsets)));
    ranges = std::move(below);
    keep = std::move(below_ends);
    ends = ints(keep);
  }
  py::array values = rows_like(all.values, n > 0 ? ends[n - 1] : 0);
  auto* out = static_cast<std::byte*>(values.mutable_data());
  {
    const Unlocked unlocked(values.nbytes());
    gather_rows(rows_of(all.values), ranges.get(), ends, n, out);
  }
  return {std::move(values), std::move(levels)};
}

[[noreturn]] void raise_beyond(std::int64_t i, std::int64_t position, std::int64_t count, const char* what) {
  std::string text = "index " + std::to_string(i);
  if (position >= 0) text += " at position " + std::to_string(position);
  raise_index(text + " is out of range for " + std::to_string(count) + " " + what);
}

/// The sequences of `index`, from dim `from` down.
Nested pick(const Nested& all, std::size_t from, const std::int64_t* index, std::int64_t n) {
  Ranges ranges(n);
  py::array offsets = fresh_offsets(n);
  std::int64_t* ends = ints(offsets) + 1;
  Levels levels;
  if (from == all.levels.size()) {  // plain rows, each a range of its own
    const std::int64_t count = all.values.shape(0);
    const Status status = gather_index(index, n, count, ranges.get());
    if (!status.ok()) raise_beyond(status.value, status.where, count, "rows");
    gather_steps({1, n}, 1, ends);
    return descend(all, from, {}, std::move(ranges), ends, n);
  }
  const Offsets level = all.levels[from]->view();
  const Status status = gather_sequences(level, index, n, ranges.get(), ends);
  if (status.code == Code::index_out_of_range) {
    raise_beyond(status.value, status.where, level.count, "sequences");
  }
  raise_if(status, "index");
  levels.push_back(Level::trusted(offsets));
  return descend(all, from + 1, std::move(levels), std::move(ranges), ends, n);
}

Nested gather(const Nested& all, py::handle index) {
  Range rows;
  if (is_plain_slice(index, all.count(), rows)) return view(all, 0, rows);
  const Ints picked = index_of(index, all.count());
  return pick(all, 0, picked.data, picked.count);
}

/// Every sequence of the first level as a range of the rows below it.
Ranges all_ranges(const Nested& all) {
  const std::int64_t n = all.count();
  Ranges ranges(n);
  py::array index = empty_ints(n);
  py::array ends = empty_ints(n);
  gather_steps({0, n}, 1, ints(index));
  raise_if(gather_sequences(all.levels[0]->view(), ints(index), n, ranges.get(), ints(ends)), "levels");
  return ranges;
}

Nested gather_window(const Nested& all, py::handle window) {
  const Slice slice = slice_of(window);
  const std::int64_t n = all.count();
  Ranges ranges = all_ranges(all);
  py::array offsets = fresh_offsets(n);
  std::int64_t* ends = ints(offsets) + 1;
  gather_windows(ranges.get(), n, slice, ranges.get(), ends);
  const std::int64_t total = n > 0 ? ends[n - 1] : 0;
  if (slice.step == 1 && total == all.levels[0]->total()) return all;  // nothing is cut
  Levels levels{Level::trusted(offsets)};
  if (slice.step == 1) return descend(all, 1, std::move(levels), std::move(ranges), ends, n);
  py::array index = empty_ints(total);
  gather_strided(ranges.get(), ends, n, slice.step, ints(index));
  Nested below = pick(all, 1, ints(index), total);
  levels.insert(levels.end(), below.levels.begin(), below.levels.end());
  return {std::move(below.values), std::move(levels)};
}

Nested gather_column(const Nested& all, std::int64_t at) {
  const std::int64_t n = all.count();
  py::array index = empty_ints(n);
  const Status status = gather_column(all_ranges(all).get(), n, at, ints(index));
  if (!status.ok()) {
    raise_index("index " + std::to_string(at) + " is out of range for sequence " +
                std::to_string(status.where) + " of length " + std::to_string(status.value));
  }
  return pick(all, 1, ints(index), n);
}

Nested gather_row(const Nested& all, std::int64_t i) {
  const std::int64_t n = all.count();
  const std::int64_t at = i < 0 ? i + n : i;
  if (at < 0 || at >= n) raise_beyond(i, -1, n, "sequences");
  const Offsets level = all.levels[0]->view();
  return view(all, 1, {level.start(at), level.end(at)});
}

/// A binding of (values, levels, one more argument) to (values, levels).
template <class Argument, class Body>
auto bound(Body body) {
  return [body](py::handle values, const py::tuple& levels, Argument argument) {
    return body(Nested(values, levels), argument).result();
  };
}

}  // namespace

void bind_gather(py::module_& m) {
  using py::arg;
  m.def("gather", bound<py::handle>([](const Nested& all, py::handle index) { return gather(all, index); }),
        arg("values"), arg("levels"), arg("index"),
        "(values, levels) of the sequences of a slice, a mask or integers. A slice of step 1 shares values.");
  m.def("gather_column",
        bound<std::int64_t>([](const Nested& all, std::int64_t at) { return gather_column(all, at); }),
        arg("values"), arg("levels"), arg("at"), "Row `at` of every sequence: a level fewer.");
  m.def("gather_row",
        bound<std::int64_t>([](const Nested& all, std::int64_t i) { return gather_row(all, i); }),
        arg("values"), arg("levels"), arg("i"), "Sequence i: a level fewer, values shared.");
  m.def("gather_window",
        bound<py::handle>([](const Nested& all, py::handle window) { return gather_window(all, window); }),
        arg("values"), arg("levels"), arg("window"), "What a slice gives of every sequence.");
}

}  // namespace varlen::bindings
