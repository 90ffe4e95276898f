// The ranks of rows inside their sequences, and the distinct numbers of each.
#include <string>
#include <utility>

#include "gather/gather.hpp"
#include "sort.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

namespace {

Ranks ranks_named(PyObject* name) {
  constexpr const char* kNames[] = {"ordinal", "min", "max", "dense", "average"};
  for (int i = 0; i < 5; ++i) {
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, kNames[i]) == 0) {
      return static_cast<Ranks>(i);
    }
  }
  raise_value("method",
              "expected ordinal, min, max, dense or average, got " + std::string(py::repr(py::handle(name))));
}

constexpr Signature<4> kRank{"rank", {"values", "level", "method", "descending"}, 3, 4};

py::object rank_rows(const Arguments<4>& args) {
  const Ranks how = ranks_named(args[2]);
  const Numbers values = placed_numbers_of(args[0], "X");
  const Place place = place_of(values.array);
  const LevelRef level = level_over(args[1], "X", values.array.shape(0));
  const SortJob job = job_of(values, level, args[3]);
  const py::dtype dtype = how == Ranks::average ? py::dtype::of<double>() : py::dtype::of<std::int64_t>();
  py::array out = empty_at(place, dtype, values.rows(level->total()));
  const ScratchAt scratch(place, place.kernels->rank_scratch(job, how, level->total()));
  launch(place, "rank", cost_of(values), &cuda::Kernels::rank, job, how, level->total(), scratch.data(),
         bytes(out));
  return out;
}

/// Distinct numbers by the kernels of a device: how many there are is waited for.
py::object unique_there(const Place& place, const Numbers& values, const SortJob& job, Level& level,
                        bool with_inverse, bool with_counts) {
  const std::int64_t total = level.total();
  const py::dtype whole = py::dtype::of<std::int64_t>();
  py::array scratch = scratch_at(place, place.kernels->unique_scratch(job, total));
  py::array lengths = empty_at(place, whole, {level.count()});
  py::object inverse = py::none();
  std::int64_t* to_inverse = nullptr;
  if (with_inverse) {
    py::array which = empty_at(place, whole, {total});
    to_inverse = ints(which);
    inverse = std::move(which);
  }
  place.check(place.kernels->unique_find(place.stream, job, total, bytes(scratch), to_inverse, ints(lengths)),
              "unique");
  const LevelRef result = level_of_lengths_at(place, lengths);
  py::array out = empty_at(place, values.array.dtype(), {result->total()});
  py::object counts = py::none();
  std::int64_t* to_counts = nullptr;
  if (with_counts) {
    py::array how_often = empty_at(place, whole, {result->total()});
    to_counts = ints(how_often);
    counts = std::move(how_often);
  }
  place.check(place.kernels->unique_take(place.stream, job, total, bytes(scratch),
                                         offsets_at(place, LevelRef::in(result)), result->total(), bytes(out),
                                         to_counts),
              "unique");
  return py::make_tuple(out, inverse, counts, result);
}

constexpr Signature<4> kUnique{"unique", {"values", "level", "inverse", "counts"}, 2, 4};

py::object unique_rows(const Arguments<4>& args) {
  const Numbers values = placed_numbers_of(args[0], "X");
  if (values.array.ndim() != 1) {
    const auto& array = values.array;
    raise_value("X", "expected numbers (T,), got shape " +
                         text_of(Extents(array.shape(), array.shape() + array.ndim())));
  }
  const LevelRef level = level_over(args[1], "X", values.array.shape(0));
  const SortJob job = job_of(values, level, nullptr);
  const bool with_inverse = args[2] != nullptr && truth_of(args[2], "inverse");
  const bool with_counts = args[3] != nullptr && truth_of(args[3], "counts");
  if (const Place place = place_of(values.array); !place.is_host()) {
    return unique_there(place, values, job, LevelRef::in(level), with_inverse, with_counts);
  }
  py::object inverse = py::none();
  py::object counts = py::none();
  Distinct found;
  if (with_inverse) {
    py::array result = empty_ints(level->total());
    found.inverse = ints(result);
    inverse = std::move(result);
  }
  Scratch<std::int64_t> rows(2 * level->total());
  found.firsts = rows.data();
  found.counts = rows.data() + level->total();
  const SortRoom room = sort_room(job, job.longest);
  Scratch<std::byte> scratch(room.bytes);
  NewLevel distinct(level->count());
  {
    const Unlocked unlocked(cost_of(values));
    unique_find(job, room, scratch.data(), found, distinct.ends());
  }
  const LevelRef result = std::move(distinct).done();
  py::array out = empty(values.array.dtype(), values.rows(result->total()));
  std::int64_t* to_counts = nullptr;
  if (with_counts) {
    py::array how_often = empty_ints(result->total());
    to_counts = ints(how_often);
    counts = std::move(how_often);
  }
  std::byte* const to = bytes(out);
  {
    const Unlocked unlocked(values.array.nbytes());
    unique_take(job, found, result->view(), to, to_counts);
  }
  return py::make_tuple(out, inverse, counts, result);
}

PyMethodDef sort_rank_methods[] = {
    method<kRank, rank_rows>("rank(values, level, method, descending=False)\n--\n\n"
                             "The rank of each element inside its sequence, from 1."),
    method<kUnique, unique_rows>(
        "unique(values, level, inverse=False, counts=False)\n--\n\n"
        "The distinct numbers of each sequence, which of them each row is, how often, their level."),
    {},
};

}  // namespace

void add_ranks(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), sort_rank_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
