// Picking sequences of values under levels: first axis, and windows of the axis below it.
#include "varlen/gather.hpp"

#include <string>
#include <utility>
#include <vector>

#include "gather.hpp"
#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/fastcall.hpp"
#include "support/index.hpp"
#include "support/raise.hpp"
#include "varlen/joint.hpp"

namespace varlen::bindings {

namespace {

/// Sequences [rows.begin, rows.end), values shared; `from` is the level that they are sequences of.
Nested view(const Nested& all, std::size_t from, Range rows) {
  LevelRefs levels;
  levels.reserve(all.levels.size());
  for (std::size_t d = from; d < all.levels.size(); ++d) {
    const Offsets level = all.levels[d]->view();
    const Range children{level.start(rows.begin),
                         rows.size() > 0 ? level.end(rows.end - 1) : level.start(rows.begin)};
    if (rows.begin == 0 && rows.end == level.count) {
      levels.push_back(all.levels[d]);
    } else {
      NewLevel offsets(rows.size());
      raise_if(joint_ends(level, rows, children.begin, offsets.ends()), "levels");
      levels.push_back(std::move(offsets).finish());
    }
    rows = children;
  }
  const bool is_whole = rows.begin == 0 && rows.end == all.values.shape(0);
  if (is_whole) return {all.values, std::move(levels)};
  return {rows_between_at(place_of(all.values), all.values, rows.begin, rows.end), std::move(levels)};
}

/// The rows of `ranges` of dim `from` and all that is below them, after `levels`. ends as gather.hpp says.
Nested descend(const Nested& all, std::size_t from, LevelRefs levels, Ranges ranges, const std::int64_t* ends,
               std::int64_t n) {
  py::array keep;  // what `ends` points into
  for (std::size_t d = from; d < all.levels.size(); ++d) {
    const Offsets level = all.levels[d]->view();
    Ranges children(n);
    py::array below_ends = empty_ints(n);
    raise_if(gather_descend(level, ranges.data(), n, level.total(), children.data(), ints(below_ends)),
             "levels");
    NewLevel offsets(n > 0 ? ends[n - 1] : 0);
    raise_if(gather_ends(level, ranges.data(), children.data(), ints(below_ends), n, offsets.ends()),
             "levels");
    levels.push_back(std::move(offsets).finish());
    ranges = std::move(children);
    keep = std::move(below_ends);
    ends = ints(keep);
  }
  py::array values = rows_like_at(place_of(all.values), all.values, n > 0 ? ends[n - 1] : 0);
  move_ranges(all.values, ranges, ends, n, values);
  return {std::move(values), std::move(levels)};
}

/// Plain rows, each of them a range of its own.
py::array take_rows(const py::array& values, const Ranges& ranges, const std::int64_t* ends, std::int64_t n) {
  Scratch<std::int64_t> index(n);
  gather_strided(ranges.data(), ends, n, 1, index.data());
  const Place place = place_of(values);
  const PlacedInts placed_index = ints_at(place, index.data(), n);
  py::array out = rows_like_at(place, values, n);
  launch(place, "gather", out.nbytes(), &cuda::Kernels::take_rows, rows_of(values), placed_index.data, n,
         bytes(out));
  return out;
}

/// The sequences of `index`, from dim `from` down.
Nested pick(const Nested& all, std::size_t from, const std::int64_t* index, std::int64_t n) {
  Ranges ranges(n);
  NewLevel offsets(n);
  std::int64_t* ends = offsets.ends();
  LevelRefs levels;
  if (from == all.levels.size()) {
    const std::int64_t count = all.values.shape(0);
    refuse(gather_index(index, n, count, ranges.data()), count, "rows");
    gather_steps({1, n}, 1, ends);
    return {take_rows(all.values, ranges, ends, n), {}};
  }
  const Offsets level = all.levels[from]->view();
  refuse(gather_sequences(level, index, n, ranges.data(), ends), level.count, "sequences");
  levels.push_back(std::move(offsets).finish());
  return descend(all, from + 1, std::move(levels), std::move(ranges), ends, n);
}

Ranges all_ranges(const Nested& all) {
  Ranges ranges(all.count());
  gather_all(all.levels[0]->view(), ranges.data());
  return ranges;
}

/// The sequences of `index` as ranges of the rows below them.
Ranges some_ranges(const Nested& all, const Ints& index) {
  Ranges ranges(index.count);
  py::array ends = empty_ints(index.count);
  const Offsets level = all.levels[0]->view();
  refuse(gather_sequences(level, index.data, index.count, ranges.data(), ints(ends)), level.count,
         "sequences");
  return ranges;
}

Nested gather_window(const Nested& all, py::handle window, PyObject* index) {
  const Slice slice = slice_of(window);
  const bool has_index = is_given(index);
  const Ints indices = has_index ? index_of(index, all.count()) : Ints{};
  const std::int64_t n = has_index ? indices.count : all.count();
  Ranges ranges = has_index ? some_ranges(all, indices) : all_ranges(all);
  NewLevel offsets(n);
  std::int64_t* ends = offsets.ends();
  gather_windows(ranges.data(), n, slice, ranges.data(), ends);
  const std::int64_t total = n > 0 ? ends[n - 1] : 0;
  if (!has_index && slice.step == 1 && total == all.levels[0]->total()) return all;  // nothing is cut
  LevelRefs levels{std::move(offsets).finish()};
  if (slice.step == 1) return descend(all, 1, std::move(levels), std::move(ranges), ends, n);
  py::array rows = empty_ints(total);
  gather_strided(ranges.data(), ends, n, slice.step, ints(rows));
  Nested children = pick(all, 1, ints(rows), total);
  levels.insert(levels.end(), children.levels.begin(), children.levels.end());
  return {std::move(children.values), std::move(levels)};
}

Nested gather_column(const Nested& all, std::int64_t position) {
  const std::int64_t n = all.count();
  py::array index = empty_ints(n);
  const Status status = gather_column(all_ranges(all).data(), n, position, ints(index));
  if (!status.ok()) {
    raise_index("",
                "index " + std::to_string(position) + " is out of range for sequence " +
                    std::to_string(status.where) + " of length " + std::to_string(status.value),
                status.where, position);
  }
  return pick(all, 1, ints(index), n);
}

constexpr Signature<3> kGather{"gather", {"values", "levels", "index"}};
constexpr Signature<3> kColumn{"gather_column", {"values", "levels", "at"}};
constexpr Signature<3> kRow{"gather_row", {"values", "levels", "i"}};
constexpr Signature<4> kWindow{"gather_window", {"values", "levels", "window", "index"}, 3};

py::object by_index(const Arguments<3>& args) {
  return gather(Nested(args[0], args[1]), args[2]).result();
}
py::object by_window(const Arguments<4>& args) {
  return gather_window(Nested(args[0], args[1]), args[2], args[3]).result();
}
py::object by_column(const Arguments<3>& args) {
  return gather_column(Nested(args[0], args[1]), place_of(args[2], "at")).result();
}
py::object by_row(const Arguments<3>& args) {
  return gather_row(Nested(args[0], args[1]), place_of(args[2], "i")).result();
}

constexpr Signature<1> kRowOfInts{"row_of_ints", {"numbers"}};

py::object row_of_ints_or_none(const Arguments<1>& args) {
  py::object row = row_of_ints(args[0]);
  return row ? row : py::none();
}

constexpr Signature<2> kInRange{"in_range", {"numbers", "count"}};

py::object in_range(const Arguments<2>& args) {
  const Ints numbers = as_ints(args[0], "numbers");
  const std::int64_t count = int_of(args[1], "count");
  return py::bool_(gather_in_range(numbers.data, numbers.count, count));
}

constexpr Signature<3> kInnerPlaces{"inner_places", {"ids", "level", "sequences"}};

py::object inner_places(const Arguments<3>& args) {
  const Ints ids = as_ints(args[0], "ids");
  const LevelRef level = level_over(args[1], "level", -1);
  const Offsets rows = level->view();
  py::array out = empty_ints(ids.count);
  bool are_inside = false;
  if (LevelRef::is_level(args[2])) {
    const Offsets units = LevelRef::unwrap(args[2]).view();
    if (units.count != rows.count || units.total() != ids.count) {
      raise_value("sequences", "expected " + std::to_string(rows.count) + " sequences of " +
                                   std::to_string(ids.count) + " ids");
    }
    const GilRelease gil_release(ids.count * 16);
    are_inside = gather_inside(rows, units, ids.data, ints(out));
  } else {
    const Ints sequences = as_ints(args[2], "sequences");
    if (sequences.count != ids.count) raise_value("sequences", "expected one for each of the ids");
    const GilRelease gil_release(ids.count * 32);
    are_inside = gather_inside(rows, sequences.data, ids.data, ids.count, ints(out));
  }
  return are_inside ? py::object(std::move(out)) : py::none();
}

constexpr Signature<3> kCompress{"compress", {"values", "level", "marks"}};

py::object compress(const Arguments<3>& args) {
  const py::array values = as_placed_rows(args[0], "values");
  if (!place_of(values).is_host()) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  const LevelRef level = level_over(args[1], "values", values.shape(0));
  const py::array mask = as_rows(args[2], "marks");
  if (mask.ndim() != 1 || mask.dtype().kind() != 'b' || mask.shape(0) != values.shape(0)) {
    raise_value("marks", "expected a bool for each of " + std::to_string(values.shape(0)) + " rows");
  }
  const auto* const marks = reinterpret_cast<const std::uint8_t*>(data_of(mask));
  const Rows all = rows_of(values);
  const std::int64_t count = gather_count(marks, all.count);
  py::array out = rows_like(values, count);
  NewLevel left(level->count());
  std::int64_t row_count = 0;
  {
    const GilRelease gil_release(all.count * all.width);
    row_count = gather_marked(all, level->view(), marks, count, bytes(out), left.ends());
  }
  if (row_count != count) out = rows_between(out, 0, row_count);
  return py::make_tuple(out, std::move(left).finish());
}

PyMethodDef gather_methods[] = {
    method<kRowOfInts, row_of_ints_or_none>(
        "row_of_ints(numbers)\n--\n\n"
        "A list of plain ints as int64 (n,); None where there are none, or something else is among them."),
    method<kInRange, in_range>("in_range(numbers, count)\n--\n\n"
                               "Whether all integers are from 0 to below `count`."),
    method<kGather, by_index>("gather(values, levels, index)\n--\n\n"
                              "(values, levels) of the sequences of a slice, a mask or integers. A slice of "
                              "step 1 shares values."),
    method<kCompress, compress>(
        "compress(values, level, marks)\n--\n\n"
        "The rows that a bool each marks, and their level; NotImplemented on devices."),
    method<kInnerPlaces, inner_places>(
        "inner_places(ids, level, sequences)\n--\n\n"
        "The rows that ids name in sequences of a level, negative ones counted from the end; None where one "
        "is "
        "outside. Sequences are a number for each id, or the level that the ids nest in."),
    method<kColumn, by_column>("gather_column(values, levels, at)\n--\n\n"
                               "Row `at` of every sequence: a level fewer."),
    method<kRow, by_row>("gather_row(values, levels, i)\n--\n\n"
                         "Sequence i: a level fewer, values shared."),
    method<kWindow, by_window>("gather_window(values, levels, window, index=None)\n--\n\n"
                               "What a slice gives of every sequence, or of those of an index."),
    {},
};

}  // namespace

void move_ranges(const py::array& values, const Ranges& ranges, const std::int64_t* ends, std::int64_t n,
                 py::array& out) {
  const Place place = place_of(values);
  const PlacedBytes ranges_there = bytes_at(place, ranges.data(), n * std::int64_t{sizeof(Range)});
  const PlacedInts ends_there = ints_at(place, ends, n);
  launch(place, "gather", out.nbytes(), &cuda::Kernels::gather_rows, rows_of(values),
         reinterpret_cast<const Range*>(ranges_there.data), ends_there.data, n, n > 0 ? ends[n - 1] : 0,
         bytes(out));
}

Nested gather(const Nested& all, py::handle index) {
  Range rows;
  if (is_plain_slice(index, all.count(), rows)) return view(all, 0, rows);
  const Ints indices = index_of(index, all.count());
  return pick(all, 0, indices.data, indices.count);
}

py::object row_of_ints(PyObject* list) {
  if (!PyList_Check(list) || PyList_GET_SIZE(list) == 0) return {};
  py::array row = empty_ints(PyList_GET_SIZE(list));
  std::int64_t* const out = ints(row);
  for (py::ssize_t k = 0; k < row.size(); ++k) {
    PyObject* const item = k < PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, k) : nullptr;
    if (item == nullptr || !PyLong_CheckExact(item)) return {};
    int overflow = 0;
    out[k] = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow != 0) return {};
  }
  return row;
}

Nested gather_row(const Nested& all, std::int64_t i) {
  const std::int64_t n = all.count();
  const std::int64_t position = i < 0 ? i + n : i;
  if (position < 0 || position >= n) raise_beyond(i, -1, n, "sequences");
  const Offsets level = all.levels[0]->view();
  return view(all, 1, {level.start(position), level.end(position)});
}

void bind_gather(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), gather_methods) < 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
