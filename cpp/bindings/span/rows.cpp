// Spans and rows of sequences that a caller names.
#include <algorithm>
#include <string>
#include <utility>

#include "gather/gather.hpp"
#include "level/level.hpp"
#include "span.hpp"
#include "support/fastcall.hpp"
#include "support/index.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/gather.hpp"
#include "varlen/scatter.hpp"
#include "varlen/span_rows.hpp"
#include "window/window.hpp"

namespace varlen::bindings {

namespace {

/// A level of as many groups as there are sequences, over `count` entries of `argument`.
LevelRef groups_over(PyObject* given_groups, const LevelRef& level, const char* argument,
                     std::int64_t count) {
  LevelRef groups = level_over(given_groups, argument, count);
  if (groups->count() != level->count()) {
    raise_value(argument, "has " + std::to_string(groups->count()) + " sequences, but X has " +
                              std::to_string(level->count()));
  }
  return groups;
}

/// "span 1 of sequence 0": entry `where` of groups.
std::string place_in(const Offsets& groups, std::int64_t where, const char* what) {
  const std::int64_t i = std::upper_bound(groups.ends, groups.ends + groups.count, where) - groups.ends;
  return std::string(what) + " " + std::to_string(where - groups.start(i)) + " of sequence " +
         std::to_string(i);
}

/// The rows of every span, and the level that cuts them.
struct Spans {
  Ranges ranges;
  LevelRef spans;
};

Spans spans_of(const LevelRef& level, PyObject* given_groups, PyObject* given_pairs) {
  const Ints pairs = as_ints(given_pairs, "at");
  if (pairs.count % 2 != 0) raise_value("at", "expected pairs, got an odd number of entries");
  const std::int64_t n = pairs.count / 2;
  const LevelRef groups = groups_over(given_groups, level, "at", n);
  Ranges ranges(n);
  NewLevel spans(n);
  const Status status = span_ranges(level->view(), groups->view(), pairs.data, ranges.data(), spans.ends());
  if (status.code == Code::index_out_of_range || status.code == Code::decreasing) {
    const std::string text = place_in(groups->view(), status.where, "span") + " is " +
                             std::to_string(pairs.data[2 * status.where]) + " to " +
                             std::to_string(pairs.data[2 * status.where + 1]);
    const std::int64_t end = pairs.data[2 * status.where + 1];
    if (status.code == Code::decreasing) raise_value("at", text, status.where, end);
    raise_index("at", text + ", but the sequence has " + std::to_string(status.value) + " rows", status.where,
                end);
  }
  raise_if(status, "at");
  return {std::move(ranges), std::move(spans).finish()};
}

constexpr Signature<5> kSpans{"spans", {"X", "lengths", "groups", "at", "max_bytes"}, 4, 5};

py::object spans(const Arguments<5>& args) {
  const auto [given_x, lengths, groups, at, max_bytes] = args;
  const py::array x = as_placed_rows(given_x, "X");
  const LevelRef level = level_over(lengths, "X", x.shape(0));
  const Spans selection = spans_of(level, groups, at);
  const Offsets ends = selection.spans->view();
  Extents shape = shape_of(x);
  shape[0] = ends.total();
  py::array result = out_for(nullptr, max_bytes, "X", x.dtype(), shape, {}, place_of(x));
  move_ranges(x, selection.ranges, ends.ends, ends.count, result);
  return py::make_tuple(result, selection.spans);
}

constexpr Signature<3> kSpanRows{"span_rows", {"lengths", "groups", "at"}};

py::object rows_of_spans(const Arguments<3>& args) {
  const LevelRef level = level_over(args[0], "X", -1);
  const Spans selection = spans_of(level, args[1], args[2]);
  const Offsets ends = selection.spans->view();
  py::array rows = empty_ints(ends.total());
  gather_strided(selection.ranges.data(), ends.ends, ends.count, 1, ints(rows));
  return py::make_tuple(rows, selection.spans);
}

constexpr Signature<4> kPlaceRows{"place_rows", {"lengths", "groups", "places", "between"}, 3, 4};

py::object rows_of_places(const Arguments<4>& args) {
  const LevelRef level = level_over(args[0], "X", -1);
  const bool is_between = args[3] != nullptr && truth_of(args[3], "between");
  const char* const name = is_between ? "at" : "alignment";
  const Ints places = as_ints(args[2], name);
  const LevelRef groups = groups_over(args[1], level, name, places.count);
  py::array rows = empty_ints(places.count);
  const Status status = span_rows(level->view(), groups->view(), places.data, is_between, ints(rows));
  if (!status.ok()) {
    const std::string text =
        place_in(groups->view(), status.where, "entry") + " is " + std::to_string(places.data[status.where]);
    const std::int64_t number = places.data[status.where];
    if (status.code == Code::decreasing) {
      raise_value(name, text + ", less than the one before it", status.where, number);
    }
    raise_index(name, text + ", but the sequence has " + std::to_string(status.value) + " rows", status.where,
                number);
  }
  if (!is_between) return rows;
  NewLevel out_level(level->count());
  raise_if(span_grown(level->view(), groups->view(), out_level.ends()), "at");
  return py::make_tuple(rows, std::move(out_level).finish());
}

constexpr Signature<3> kTake{"take_rows", {"X", "rows", "max_bytes"}, 2, 3};

/// Numbers of rows, looked at where the host has them.
PlacedInts rows_to_take(const Place& place, PyObject* given_rows, std::int64_t count) {
  if (lies_there(place, given_rows)) return ints_of_device(place, given_rows, "rows");
  const Ints index = as_ints(given_rows, "rows");
  const auto* const numbers = reinterpret_cast<const std::byte*>(index.data);
  Status status = scatter_check({Type::i64, numbers, index.count}, count);
  if (!status.ok()) status.value = index.data[status.where];
  refuse(status, count, "rows");
  return ints_at(place, index);
}

py::object take(const Arguments<3>& args) {
  const py::array x = as_placed_rows(args[0], "X");
  const Place place = place_of(x);
  const PlacedInts index = rows_to_take(place, args[1], x.shape(0));
  Extents shape = shape_of(x);
  shape[0] = index.count;
  py::array result = out_for(nullptr, args[2], "X", x.dtype(), shape, {}, place);
  launch(place, "take_rows", result.nbytes(), &cuda::Kernels::take_rows, rows_of(x), index.data, index.count,
         bytes(result));
  return result;
}

PyMethodDef span_rows_methods[] = {
    method<kSpans, spans>("spans(X, lengths, groups, at, max_bytes=None)\n--\n\n"
                          "The rows of pairs (begin, end) in each sequence, and the level that cuts them."),
    method<kSpanRows, rows_of_spans>("span_rows(lengths, groups, at)\n--\n\n"
                                     "The numbers of those rows, and the level that cuts them."),
    method<kPlaceRows, rows_of_places>("place_rows(lengths, groups, places, between=False)\n--\n\n"
                                       "Places in sequences as rows. between: places to put rows in, and the "
                                       "level of the sequences with them."),
    method<kTake, take>("take_rows(X, rows, max_bytes=None)\n--\n\nSome rows, in any order."),
    {},
};

}  // namespace

void add_span_rows(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), span_rows_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
