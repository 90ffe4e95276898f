// Arrays, and levels, one after another.
#include "varlen/concat.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cast/cast.hpp"
#include "concat.hpp"
#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

py::sequence sequence_of(PyObject* argument, const char* name) {
  if (PySequence_Check(argument) == 0) {
    raise_type(name, "expected a sequence, got " + type_name(argument));
  }
  return py::reinterpret_borrow<py::sequence>(argument);
}

/// Refuses rows that are not like those of the first array.
void check_like(const py::array& first, const py::array& other, std::size_t index, const char* name) {
  bool is_match = other.ndim() == first.ndim();
  for (py::ssize_t axis = 1; is_match && axis < first.ndim(); ++axis)
    is_match = other.shape(axis) == first.shape(axis);
  if (!is_match)
    raise_value(name, "rows of array " + std::to_string(index) + " have another shape than the first's");
  if (!other.dtype().is(first.dtype()) && !other.dtype().equal(first.dtype())) {
    raise_value(name, "array " + std::to_string(index) + " has dtype " + str_of(other.dtype()) +
                          ", the first has " + str_of(first.dtype()));
  }
}

/// A table of the inputs of a launch, where a kernel reads it: on the device too where it is long.
template <class Input>
class InputTable {
 public:
  InputTable(const Place& place, const std::vector<Input>& inputs) {
    const auto n = static_cast<std::int64_t>(inputs.size());
    if (n > cuda::kFewInputs) keep_ = bytes_at(place, inputs.data(), n * std::int64_t{sizeof(Input)});
  }
  [[nodiscard]] const Input* pointer() const { return reinterpret_cast<const Input*>(keep_.data); }

 private:
  PlacedBytes keep_;
};

/// The arrays, all at the place of the first, of equal rows.
std::vector<py::array> parts_of(const py::sequence& arrays, const char* name = "arrays") {
  if (arrays.size() == 0) raise_value(name, "expected at least one part, got none");
  std::vector<py::array> parts;
  parts.reserve(arrays.size());
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const py::object array = arrays[i];
    parts.push_back(i == 0 ? as_placed_rows(array, name) : rows_at(place_of(parts[0]), array, name));
    if (i > 0) check_like(parts[0], parts[i], i, name);
  }
  return parts;
}

/// How many rows the parts have together.
std::int64_t rows_in(const std::vector<py::array>& parts, const char* name) {
  std::int64_t count = 0;
  for (const py::array& part : parts) {
    if (!checked_add(count, part.shape(0), count)) raise_overflow(name, "the rows do not fit 63 bits");
  }
  return count;
}

/// The memory of the parts, one after another.
std::vector<ConcatBlock> blocks_of(const std::vector<py::array>& parts) {
  std::vector<ConcatBlock> blocks;
  blocks.reserve(parts.size());
  std::int64_t end = 0;
  for (const py::array& part : parts) blocks.push_back({data_of(part), end += part.nbytes()});
  return blocks;
}

constexpr Signature<1> kConcat{"concat", {"arrays"}};

py::object concat_arrays(const Arguments<1>& args) {
  const std::vector<py::array> parts = parts_of(sequence_of(args[0], "arrays"));
  const Place place = place_of(parts[0]);
  py::array out = rows_like_at(place, parts[0], rows_in(parts, "arrays"));
  concat_at(place, blocks_of(parts), bytes(out));
  return out;
}

/// Refuses parts that are not cut into as many sequences as the first, or not by the levels beside them.
void check_woven(const std::vector<py::array>& parts, const std::vector<LevelRef>& levels) {
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::string part = std::to_string(p);
    if (!levels[p]->fits(parts[p].shape(0))) {
      raise_value("levels", "the lengths of part " + part + " add up to " +
                                std::to_string(levels[p]->total()) + ", but it has " +
                                std::to_string(parts[p].shape(0)) + " rows");
    }
    if (levels[p]->count() != levels[0]->count()) {
      raise_value("levels", "part " + part + " has " + std::to_string(levels[p]->count()) +
                                " sequences, the first has " + std::to_string(levels[0]->count()));
    }
  }
}

/// Rows like those of the parts: those of `out` where it was given, which lies in none of them.
py::array interleaved_out(PyObject* out, const py::sequence& arrays, const std::vector<py::array>& parts,
                          std::int64_t count) {
  const Place place = place_of(parts[0]);
  if (!is_given(out)) return rows_like_at(place, parts[0], count);
  Extents shape = shape_of(parts[0]);
  shape[0] = count;
  py::array result = checked_out_at(place, "out", out, parts[0].dtype(), shape, {});
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const py::object array = arrays[p];
    refuse_overlap("out", result, {array, parts[p]});
  }
  return result;
}

/// The level of sequence i of every part, end to end, as many rows as the parts have.
LevelRef interleaved_level(const Place& place, const std::vector<LevelRef>& levels,
                           const std::vector<py::array>& parts) {
  if (!place.is_host() && has_hidden(levels)) {
    return interleave_levels_at(place, levels, rows_in(parts, "arrays"));
  }
  const std::vector<Offsets> cuts = views_of(levels);
  NewLevel level(levels[0]->count());
  raise_if(interleave_ends(cuts.data(), static_cast<std::int64_t>(cuts.size()), level.ends()), "levels");
  return std::move(level).finish();
}

/// The parts, sequence by sequence.
void interleave_at(const Place& place, const std::vector<py::array>& arrays,
                   const std::vector<LevelRef>& levels, Level& out_level, py::array& out) {
  std::vector<Part> parts;
  parts.reserve(arrays.size());
  for (std::size_t p = 0; p < arrays.size(); ++p) {
    parts.push_back({data_of(arrays[p]), offsets_at(place, LevelRef::unwrap(levels[p])).ends});
  }
  const InputTable table(place, parts);
  launch(place, "interleave", out.nbytes(), &cuda::Kernels::interleave, parts.data(), table.pointer(),
         static_cast<std::int64_t>(parts.size()), row_bytes(arrays[0]), offsets_at(place, out_level),
         out_level.total(), bytes(out));
}

constexpr Signature<3> kInterleave{"interleave", {"arrays", "levels", "out"}, 2, 3};

py::object interleave_parts(const Arguments<3>& args) {
  const py::sequence arrays = sequence_of(args[0], "arrays");
  const auto levels = sequence_of(args[1], "levels").cast<std::vector<LevelRef>>();
  const std::size_t n = arrays.size();
  if (n > 0 && levels.size() != n) {
    raise_value("levels", std::to_string(levels.size()) + " of them for " + std::to_string(n) + " arrays");
  }
  const std::vector<py::array> parts = parts_of(arrays);
  check_woven(parts, levels);
  const Place place = place_of(parts[0]);
  const LevelRef out_level = interleaved_level(place, levels, parts);
  py::array result = interleaved_out(args[2], arrays, parts, out_level->total());
  interleave_at(place, parts, levels, LevelRef::unwrap(out_level), result);
  return py::make_tuple(result, out_level);
}

PyMethodDef concat_methods[] = {
    method<kConcat, concat_arrays>("concat(arrays)\n--\n\n"
                                   "Arrays of equal dtype and rows, one after another."),
    method<kInterleave, interleave_parts>("interleave(arrays, levels, out=None)\n--\n\n"
                                          "Sequence i of every array, end to end, and the level that they "
                                          "make."),
    {},
};

}  // namespace

void concat_at(const Place& place, const std::vector<ConcatBlock>& blocks, std::byte* out) {
  const InputTable table(place, blocks);
  launch(place, "concat", blocks.empty() ? 0 : blocks.back().end, &cuda::Kernels::concat, blocks.data(),
         table.pointer(), static_cast<std::int64_t>(blocks.size()), out);
}

bool lie_on_device(const py::sequence& arrays) {
  if (arrays.size() == 0) return false;
  const py::object first = arrays[0];
  return is_device_array(first.ptr());
}

JoinedRows join_there(const py::sequence& arrays, const char* name, const py::object& dtype, PyObject* out) {
  std::vector<py::array> parts = parts_of(arrays, name);
  const Place place = place_of(parts[0]);
  const py::dtype from = parts[0].dtype();
  const py::dtype to = dtype.is_none() ? from : dtype.cast<py::dtype>();
  refuse_unseen(place, from, to, false, name);
  NewLevel level(static_cast<std::int64_t>(parts.size()));
  const std::int64_t count = rows_in(parts, name);
  std::int64_t end = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) level.ends()[i] = end += parts[i].shape(0);
  const std::vector<ConcatBlock> blocks = blocks_of(parts);
  Extents shape = shape_of(parts[0]);
  shape[0] = count;
  py::array result = out_at(place, out, to, shape, {});
  for (std::size_t i = 0; is_given(out) && i < parts.size(); ++i) {
    const py::object array = arrays[i];
    refuse_overlap("out", result, {array, parts[i]});
  }
  if (from.equal(to)) {
    concat_at(place, blocks, bytes(result));
  } else {
    py::array rows = rows_like_at(place, parts[0], count);
    concat_at(place, blocks, bytes(rows));
    if (is_seen_at(place)) (void)convert_of(rows, to, {}, name, nullptr);
    cast_into(place, rows, {}, result);
  }
  return {std::move(result), std::move(level).finish()};
}

void bind_concat(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), concat_methods) != 0) throw py::error_already_set();
  m.def("concat_levels", &concat_levels, py::arg("levels"), "Levels one after another, as one.");
}

}  // namespace varlen::bindings
