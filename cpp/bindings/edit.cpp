// Edit distances of sequences, pair by pair.
#include "varlen/edit.hpp"

#include <string>

#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/raise.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

namespace {

/// Integers of any dtype as 64 bits; those of uint64 as they are.
Numbers edited_keys(PyObject* argument, const char* name) {
  Numbers keys = numbers_of(argument, name);
  if (keys.array.ndim() != 1) {
    raise_value(name, "expected one dimension, got " + std::to_string(keys.array.ndim()));
  }
  if (is_float(keys.type)) {
    raise_type(name, "expected integers, got dtype " + str_of(keys.array.dtype()));
  }
  if (keys.type == Type::u64 || keys.type == Type::i64) return keys;
  py::array wide = empty_ints(keys.array.shape(0));
  cast(cast_of(keys.type, Type::i64), data_of(keys.array), keys.array.size(), bytes(wide));
  return {wide, Type::i64};
}

void check_edited(Level& level, const char* name) {
  if (level.longest() <= kEditLimit) return;
  raise_overflow(name, "a sequence has " + std::to_string(level.longest()) + " rows, more than are compared");
}

constexpr Signature<5> kEditDistance{"edit_distance", {"a", "a_level", "b", "b_level", "counts"}, 4, 5};

py::object edit_distance_of(const Arguments<5>& args) {
  const Numbers a = edited_keys(args[0], "a");
  const Numbers b = edited_keys(args[2], "b");
  const LevelRef a_level = level_over(args[1], "a", a.array.shape(0));
  const LevelRef b_level = level_over(args[3], "b", b.array.shape(0));
  if (a_level->count() != b_level->count()) {
    raise_value("b", "has " + std::to_string(b_level->count()) + " sequences, expected " +
                         std::to_string(a_level->count()) + " as a");
  }
  check_edited(LevelRef::unwrap(a_level), "a");
  check_edited(LevelRef::unwrap(b_level), "b");
  EditJob job{a_level->view(), b_level->view()};
  job.a_keys = static_cast<const std::int64_t*>(a.array.data());
  job.b_keys = static_cast<const std::int64_t*>(b.array.data());
  job.mixed_signs = (a.type == Type::u64) != (b.type == Type::u64);
  job.wants_counts = is_given(args[4]) && truth_of(args[4], "counts");
  if (!job.wants_counts) find_range(job);
  py::array distances = empty_ints(job.a.count);
  py::array counts = empty(py::dtype::of<std::int64_t>(), {job.wants_counts ? job.a.count : 0, 3});
  const WorkShares shares = edit_shares(job);
  Scratch<std::byte> scratch(shares.bytes);
  {
    const GilRelease gil_release(shares.work);
    edit_distance(job, shares, scratch.data(), ints(distances), ints(counts));
  }
  if (!job.wants_counts) return distances;
  return py::make_tuple(distances, counts);
}

PyMethodDef edit_methods[] = {
    method<kEditDistance, edit_distance_of>(
        "edit_distance(a, a_level, b, b_level, counts=False)\n--\n\n"
        "The edit distance of each pair of sequences, and how many edits of each kind."),
    {},
};

}  // namespace

void bind_edit(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), edit_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
