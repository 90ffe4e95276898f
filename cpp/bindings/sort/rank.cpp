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

/// int64, if it is asked for.
std::int64_t* asked_ints(const Place& place, bool is_asked, std::int64_t count, py::object& result) {
  if (!is_asked) return nullptr;
  py::array numbers = empty_at(place, py::dtype::of<std::int64_t>(), {count});
  std::int64_t* const data = ints(numbers);
  result = std::move(numbers);
  return data;
}

constexpr Signature<4> kUnique{"unique", {"values", "level", "inverse", "counts"}, 2, 4};

py::object unique_rows(const Arguments<4>& args) {
  const Numbers values = placed_numbers_of(args[0], "X");
  if (values.array.ndim() != 1) {
    const auto& array = values.array;
    raise_value("X", "expected numbers (T,), got shape " + text_of(shape_of(array)));
  }
  const LevelRef level = level_over(args[1], "X", values.array.shape(0));
  const SortJob job = job_of(values, level, nullptr);
  const bool with_inverse = args[2] != nullptr && truth_of(args[2], "inverse");
  const bool with_counts = args[3] != nullptr && truth_of(args[3], "counts");
  const Place place = place_of(values.array);
  const std::int64_t total = level->total();
  py::object inverse = py::none();
  py::object counts = py::none();
  const ScratchAt scratch(place, place.kernels->unique_scratch(job, total));
  const ScratchAt room(place, level->count() * std::int64_t{sizeof(std::int64_t)});
  auto* const lengths = reinterpret_cast<std::int64_t*>(room.data());
  launch(place, "unique", cost_of(values), &cuda::Kernels::unique_find, job, total, scratch.data(),
         asked_ints(place, with_inverse, total, inverse), lengths);
  const LevelRef result = level_of_lengths_at(place, lengths, level->count());
  const std::int64_t distinct = result->total();
  py::array out = empty_at(place, values.array.dtype(), {distinct});
  launch(place, "unique", values.array.nbytes(), &cuda::Kernels::unique_take, job, total, scratch.data(),
         offsets_at(place, LevelRef::unwrap(result)), distinct, bytes(out),
         asked_ints(place, with_counts, distinct, counts));
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
