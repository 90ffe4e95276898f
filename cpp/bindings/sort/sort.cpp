// Sequences in order: sorted, the best of each, and the ways back. Ranks are in rank.cpp.
#include "sort.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "gather/gather.hpp"
#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

SortJob job_of(const Numbers& values, const LevelRef& level, PyObject* descending) {
  SortJob job;
  job.type = values.type;
  const Place place = place_of(values.array);
  job.level = offsets_at(place, LevelRef::unwrap(level));
  job.longest = level->length_limit();
  if (!place.is_host() && job.longest > cuda::kSortLimit) {
    raise_overflow("lengths", std::to_string(job.longest) + " rows of a sequence are not sorted on a device");
  }
  job.values = data_of(values.array);
  job.columns = values.columns();
  job.descending = descending != nullptr && truth_of(descending, "descending");
  return job;
}

std::int64_t cost_of(const Numbers& values) {
  return 10 * (values.array.nbytes() / values.array.itemsize());
}

namespace {

/// The level of the first rows of each sequence, `limit` at most; the same where none has more.
LevelRef topk_level(const LevelRef& level, std::int64_t limit) {
  if (limit >= level->length_limit()) return level;
  NewLevel out_level(level->count());
  sort_kept(level->view(), limit, out_level.ends());
  return std::move(out_level).finish();
}

constexpr Signature<2> kSortKept{"sort_kept", {"level", "most"}};

py::object kept_rows(const Arguments<2>& args) {
  return topk_level(level_over(args[0], "X", -1), std::max<std::int64_t>(int_of(args[1], "k"), 0));
}

constexpr Signature<7> kSort{
    "sort", {"values", "level", "descending", "most", "with_values", "with_places", "out"}, 2, 7};

py::object sort_rows(const Arguments<7>& args) {
  const auto [given_values, given_level, descending, limit, with_values, with_places, given_out] = args;
  const Numbers values = placed_numbers_of(given_values, "X");
  const Place place = place_of(values.array);
  const LevelRef level = level_over(given_level, "X", values.array.shape(0));
  SortJob job = job_of(values, level, descending);
  job.limit = is_given(limit) ? std::clamp<std::int64_t>(int_of(limit, "k"), 0, job.longest) : job.longest;
  const LevelRef out_level = topk_level(level, job.limit);
  const Extents shape = values.rows(out_level->total());
  py::object sorted_values = py::none();
  py::object places = py::none();
  std::byte* to_values = nullptr;
  std::int64_t* to_places = nullptr;
  if (with_values == nullptr || truth_of(with_values, "with_values")) {
    const py::dtype dtype = values.array.dtype();
    py::array result = out_at(place, given_out, dtype, shape, {given_values, values.array});
    to_values = bytes(result);
    sorted_values = std::move(result);
  }
  if (with_places != nullptr && truth_of(with_places, "with_places")) {
    py::array result = empty_at(place, py::dtype::of<std::int64_t>(), shape);
    to_places = ints(result);
    places = std::move(result);
  }
  const ScratchAt scratch(place, place.kernels->sort_scratch(job, level->total()));
  launch(place, "sort", cost_of(values), &cuda::Kernels::sort, job, level->total(),
         offsets_at(place, LevelRef::unwrap(out_level)), scratch.data(), to_values, to_places);
  return py::make_tuple(sorted_values, places, out_level);
}

/// Places of rows that go back: those of the host are checked and copied to where the rows are; a device's
/// own are not looked at.
PlacedInts places_of(const Place& place, PyObject* given_which, const Extents& shape, const LevelRef& level,
                     const LevelRef& out_level) {
  const py::object host_which = seen_argument(given_which);
  const py::array which = host_which ? as_rows(host_which, "which") : rows_at(place, given_which, "which");
  if (!std::equal(shape.begin(), shape.end(), which.shape(), which.shape() + which.ndim())) {
    raise_value("which", "expected " + text_of(shape) + ", got " + text_of(shape_of(which)));
  }
  if (!host_which) {
    if (number_of(which.dtype().ptr()) != Number::i64) {
      raise_type("which", "expected int64 on a device, got dtype " + str_of(which.dtype()));
    }
    return {which, static_cast<const std::int64_t*>(which.data()), which.size()};
  }
  const Ints places = as_ints(which.attr("reshape")(-1), "which");
  const std::int64_t* const data = places.data;
  std::int64_t columns = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) columns *= shape[axis];
  const std::int64_t wrong = sort_misplaced(level->view(), out_level->view(), columns, data);
  if (wrong >= 0) {
    const Offsets view = out_level->view();
    const std::int64_t row = wrong / columns;
    const std::int64_t i = std::upper_bound(view.ends, view.ends + view.count, row) - view.ends;
    raise_index("which",
                std::to_string(data[wrong]) + " in row " + std::to_string(row) + " is outside sequence " +
                    std::to_string(i) + " of length " + std::to_string(level->view().length(i)),
                row, data[wrong]);
  }
  return ints_at(place, places);
}

constexpr Signature<5> kUnsort{"unsort", {"rows", "level", "kept", "which", "out"}, 4, 5};

py::object unsort_rows(const Arguments<5>& args) {
  const auto [given_rows, given_level, given_kept, given_which, given_out] = args;
  const Numbers rows = placed_numbers_of(given_rows, "dY");
  const Place place = place_of(rows.array);
  const LevelRef level = level_over(given_level, "dY", -1);
  const LevelRef out_level = level_over(given_kept, "dY", rows.array.shape(0));
  if (out_level->count() != level->count()) {
    raise_value("lengths", std::to_string(level->count()) + " sequences, but dY has " +
                               std::to_string(out_level->count()));
  }
  const PlacedInts places = places_of(place, given_which, rows.rows(rows.array.shape(0)), level, out_level);
  const std::int64_t columns = rows.columns();
  const std::int64_t size = rows.array.itemsize();
  const Extents out_shape = rows.rows(level->total());
  py::array out = out_at(place, given_out, rows.array.dtype(), out_shape,
                         {given_rows, rows.array, given_which, places.keep});
  const std::int64_t total = level->total();
  const ScratchAt scratch(place, place.kernels->unsort_scratch(total, columns));
  launch(place, "unsort", out.nbytes(), &cuda::Kernels::unsort, offsets_at(place, LevelRef::unwrap(level)),
         total, offsets_at(place, LevelRef::unwrap(out_level)), out_level->total(), data_of(rows.array),
         columns, size, places.data, scratch.data(), bytes(out));
  return out;
}

PyMethodDef sort_methods[] = {
    method<kSort, sort_rows>("sort(values, level, descending=False, most=None, with_values=True,\n"
                             "    with_places=False, out=None)\n--\n\n"
                             "The first rows of each sequence in order, their places, and their level."),
    method<kSortKept, kept_rows>("sort_kept(level, most)\n--\n\n"
                                 "The level of the first rows of each sequence."),
    method<kUnsort, unsort_rows>("unsort(rows, level, kept, which, out=None)\n--\n\n"
                                 "Each element to the row of its sequence that `which` says; else zeros."),
    {},
};

}  // namespace

void bind_sort(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), sort_methods) != 0) throw py::error_already_set();
  add_ranks(m);
}

}  // namespace varlen::bindings
