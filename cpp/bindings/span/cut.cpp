// A part of each sequence.
#include <string>
#include <utility>

#include "gather/gather.hpp"
#include "level/level.hpp"
#include "span.hpp"
#include "support/fastcall.hpp"
#include "support/index.hpp"
#include "support/operands.hpp"
#include "support/raise.hpp"
#include "varlen/gather.hpp"
#include "varlen/span_rows.hpp"

namespace varlen::bindings {

namespace {

Ints one_each(PyObject* input, const char* argument, const LevelRef& level) {
  Ints numbers = as_ints(input, argument);
  if (numbers.count != level->count()) {
    raise_value(argument, "has " + std::to_string(numbers.count) + " entries for " +
                              std::to_string(level->count()) + " sequences");
  }
  return numbers;
}

void refuse_cut(const Status& status, const Ints& firsts, const Ints& sizes) {
  if (status.ok()) return;
  const std::string sequence = "sequence " + std::to_string(status.where);
  const std::string first = std::to_string(firsts.data[status.where]);
  const std::string size = std::to_string(sizes.data[status.where]);
  if (status.code == Code::negative_length) {
    const bool is_first = firsts.data[status.where] < 0;
    raise_value(is_first ? "offset" : "length",
                sequence + " has " + (is_first ? first : size) + ", expected 0 or more", status.where,
                (is_first ? firsts : sizes).data[status.where]);
  }
  raise_index(
      "length",
      size + " from offset " + first + ", but " + sequence + " has length " + std::to_string(status.value),
      status.where, sizes.data[status.where]);
}

constexpr Signature<4> kCut{"cut", {"X", "lengths", "offset", "length"}};

py::object cut(const Arguments<4>& args) {
  const py::array x = as_placed_rows(args[0], "X");
  const LevelRef level = level_over(args[1], "X", x.shape(0));
  const Ints firsts = one_each(args[2], "offset", level);
  const Ints sizes = one_each(args[3], "length", level);
  Ranges ranges(level->count());
  NewLevel cuts(level->count());
  refuse_cut(span_cut(level->view(), firsts.data, sizes.data, ranges.data(), cuts.ends()), firsts, sizes);
  const LevelRef cut_level = std::move(cuts).finish();
  const Offsets view = cut_level->view();
  py::array result = rows_like_at(place_of(x), x, view.total());
  move_ranges(x, ranges, view.ends, view.count, result);
  return py::make_tuple(result, cut_level);
}

PyMethodDef span_cut_methods[] = {
    method<kCut, cut>("cut(X, lengths, offset, length)\n--\n\n"
                      "`length` rows from row `offset` on of each sequence, and the level that cuts them."),
    {},
};

}  // namespace

void add_span_cut(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), span_cut_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
