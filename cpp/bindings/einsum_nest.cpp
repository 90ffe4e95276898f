// How the rows of letters nest: levels of letters, and whether levels are those of letters.
#include <vector>

#include "level/level.hpp"
#include "rooms.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"
#include "varlen/model/einsum.hpp"

namespace varlen::bindings {

namespace {

/// Letters, each a Level or how long it is in all sequences, and what keeps them alive.
struct Letters {
  std::vector<EinsumAxis> axes;
  std::vector<py::object> items;
  std::int64_t count = -1;  ///< sequences; below 0: no letter says it

  explicit Letters(py::handle letters) {
    if (!PySequence_Check(letters.ptr())) raise_type("letters", "expected a sequence");
    for (const py::handle item : py::reinterpret_borrow<py::sequence>(letters)) {
      items.push_back(py::reinterpret_borrow<py::object>(item));
      if (LevelRef::is_level(item.ptr())) {
        const Offsets view = LevelRef::unwrap(item).view();
        if (count >= 0 && view.count != count) raise_value("letters", "expected as many sequences in each");
        count = view.count;
        axes.push_back({0, 0, view, true});
      } else {
        const std::int64_t extent = int_of(item.ptr(), "letters");
        if (extent < 0) raise_value("letters", "expected none below 0, got " + std::to_string(extent));
        axes.push_back({0, extent, {}, false});
      }
    }
  }
};

/// A level for each of some letters, each of which cuts the rows of the one before.
std::vector<Offsets> nest_of(py::handle levels, std::vector<py::object>& owners) {
  if (!PySequence_Check(levels.ptr())) raise_type("levels", "expected a sequence");
  std::vector<Offsets> nest;
  for (const py::handle item : py::reinterpret_borrow<py::sequence>(levels)) {
    LevelRef::expect(item, "levels");
    owners.push_back(py::reinterpret_borrow<py::object>(item));
    nest.push_back(LevelRef::unwrap(item).view());
    if (nest.size() > 1 && nest[nest.size() - 2].total() != nest.back().count) {
      raise_value("levels", "expected each to cut the rows of the one before");
    }
  }
  if (nest.empty()) raise_value("levels", "expected at least one");
  return nest;
}

constexpr Signature<1> kRows{"nested_rows", {"letters"}};

py::object rows(const Arguments<1>& args) {
  const Letters letters(args[0]);
  if (letters.count < 0) raise_value("letters", "expected a Level among them");
  return py::int_(nested_rows(letters.axes, letters.count));
}

constexpr Signature<1> kLevels{"nested_levels", {"letters"}};

py::object levels(const Arguments<1>& args) {
  const Letters letters(args[0]);
  if (letters.count < 0) raise_value("letters", "expected a Level among them");
  py::tuple nest(letters.axes.size());
  std::vector<EinsumAxis> outer_axes;
  for (std::size_t k = 0; k < letters.axes.size(); ++k) {
    outer_axes.push_back(letters.axes[k]);
    const bool is_there = k == 0 && letters.axes[0].is_ragged;
    nest[k] = is_there ? letters.items[0] : py::object(LevelRef(nested_level(outer_axes, letters.count)));
  }
  return nest;
}

constexpr Signature<1> kUnits{"lengths_of_units", {"levels"}};

py::object units(const Arguments<1>& args) {
  std::vector<py::object> owners;
  return LevelRef(lengths_of_units(nest_of(args[0], owners)));
}

constexpr Signature<2> kDifference{"nest_difference", {"levels", "letters"}};

py::object difference(const Arguments<2>& args) {
  std::vector<py::object> owners;
  const std::vector<Offsets> nest = nest_of(args[0], owners);
  const Letters letters(args[1]);
  if (letters.axes.size() != nest.size()) raise_value("letters", "expected one for each level");
  if (letters.count >= 0 && letters.count != nest[0].count) {
    raise_value("letters", "expected as many sequences as the levels have");
  }
  const auto mismatch = nest_difference(nest, letters.axes);
  if (!mismatch) return py::none();
  return py::make_tuple(mismatch->letter, mismatch->unit, mismatch->sequence);
}

PyMethodDef methods[] = {
    method<kRows, rows>("nested_rows(letters)\n--\n\n"
                        "How many rows letters are as one axis; each is a Level or an int."),
    method<kLevels, levels>("nested_levels(letters)\n--\n\nHow such rows nest: a Level for each letter."),
    method<kUnits, units>("lengths_of_units(levels)\n--\n\n"
                          "How long the innermost units of each sequence are, by the last of them."),
    method<kDifference, difference>(
        "nest_difference(levels, letters)\n--\n\n"
        "The first unit that is not as long as its letter: letter, unit and sequence; None without."),
    {},
};

}  // namespace

void bind_einsum_nest(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
