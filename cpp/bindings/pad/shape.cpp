// How large a rectangle is, from its levels and from what the caller says.
#include <algorithm>
#include <string>

#include "joint/joint.hpp"
#include "pad.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

/// -1 for None; anything else has to be an integer of at least `minimum`.
std::int64_t size_of(PyObject* input, const char* argument, std::int64_t minimum) {
  if (input == Py_None) return -1;
  return at_least(minimum, int_of(input, argument), argument);
}

/// A number for each level, outermost first, as many as are given; a plain number is the outermost's.
void sizes_per_level(PyObject* given_sizes, const char* argument, std::int64_t minimum, Sizes& sizes) {
  if (!is_given(given_sizes)) return;
  const py::object host_sizes = seen_argument(given_sizes);
  if (host_sizes) given_sizes = host_sizes.ptr();
  const py::handle sizes_in(given_sizes);
  const bool is_row =
      PyList_Check(given_sizes) || PyTuple_Check(given_sizes) ||
      (py::isinstance<py::array>(sizes_in) && py::reinterpret_borrow<py::array>(sizes_in).ndim() == 1);
  if (!is_row) {
    if (!is_integer(given_sizes)) {
      raise_type(argument, "expected an integer, or one for each level, got " + type_name(sizes_in));
    }
    sizes[0] = size_of(given_sizes, argument, minimum);
    return;
  }
  const auto size_list = py::reinterpret_steal<py::object>(PySequence_Fast(given_sizes, argument));
  if (!size_list) throw py::error_already_set();
  const auto count = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(size_list.ptr()));
  if (count > sizes.size()) {
    raise_value(argument, std::to_string(count) + " numbers for " + std::to_string(sizes.size()) + " levels");
  }
  for (std::size_t d = 0; d < count; ++d)
    sizes[d] = size_of(PySequence_Fast_ITEMS(size_list.ptr())[d], argument, minimum);
}

}  // namespace

Slots slots_of(const Levels& levels, PyObject* exact, PyObject* max_len, PyObject* multiple, Side cut) {
  const std::size_t depth = levels.objects.size();
  Slots result{Sizes(depth, -1), Sizes(depth, -1)};
  auto& [sizes, keeps, cuts] = result;
  sizes_per_level(exact, "sizes", 0, sizes);
  sizes_per_level(max_len, "max_len", 0, keeps);
  const std::int64_t step = is_given(multiple) ? size_of(multiple, "pad_to_multiple", 1) : 1;
  Sizes longest(depth, 0);
  bool cuts_above = false;  // a sequence that holds sequences
  bool has_bounds = false;  // in the place of longest lengths
  for (std::size_t d = 0; d < depth; ++d) {
    // A width that was said, or the most of it, needs no more to be known.
    Level& level = *levels.objects[d];
    longest[d] = sizes[d] >= 0 || keeps[d] >= 0 ? level.length_limit() : level.longest();
    has_bounds = has_bounds || level.is_hidden();
    if (keeps[d] < 0) keeps[d] = INT64_MAX;
    if (sizes[d] >= 0) keeps[d] = std::min(keeps[d], sizes[d]);
    const bool is_cut = keeps[d] < longest[d];
    cuts = cuts || is_cut;
    cuts_above = cuts_above || (is_cut && d + 1 < depth);
    longest[d] = std::min(longest[d], keeps[d]);
  }
  if (cuts_above && !has_bounds) {
    pad_kept_sizes(levels.views.data(), levels.depth(), {0, levels.views[0].count}, keeps.data(), cut,
                   longest.data());
  }
  for (std::size_t d = 0; d < depth; ++d) {
    if (sizes[d] >= 0) continue;
    sizes[d] = longest[d];
    if (step > 1 && (!checked_add(sizes[d], step - 1, sizes[d]) || (sizes[d] -= sizes[d] % step) < 0)) {
      raise_overflow("pad_to_multiple", std::to_string(step) + " does not fit 63 bits");
    }
  }
  return result;
}

Levels levels_of(py::handle input, std::int64_t rows, const Place& place) {
  Levels levels;
  const auto add = [&](py::handle one) {
    LevelRef::expect(one, "levels", "Level objects");
    levels.objects.push_back(&LevelRef::unwrap(one));
    Level& level = *levels.objects.back();
    if (place.is_host()) level.see();
    levels.views.push_back(level.is_hidden() ? Offsets{nullptr, level.count()} : level.view());
  };
  if (LevelRef::is_level(input.ptr())) {
    add(input);
  } else if (PyTuple_Check(input.ptr()) || PyList_Check(input.ptr())) {
    for (const py::handle one : py::reinterpret_borrow<py::sequence>(input)) add(one);
  } else {
    raise_type("levels", "expected a Level or a tuple of them, got " + type_name(input));
  }
  if (levels.views.size() == 0) raise_value("levels", "expected at least one");
  for (std::size_t d = 0; d < levels.views.size(); ++d) {
    const bool last = d + 1 == levels.views.size();
    const std::int64_t child_count = last ? rows : levels.views[d + 1].count;
    if (child_count >= 0 && !levels.objects[d]->fits(child_count)) {
      raise_value("levels", "level " + std::to_string(d) + " covers " +
                                std::to_string(levels.objects[d]->total()) +
                                (last ? " rows, but values has " : " sequences, but the next level has ") +
                                std::to_string(child_count));
    }
  }
  return levels;
}

SmallVector<Offsets> offsets_at(const Place& place, const Levels& levels) {
  if (!place.is_host() && levels.depth() > cuda::kMostDepth) {
    raise_value("levels", std::to_string(levels.depth()) + " of them, over " +
                              std::to_string(cuda::kMostDepth) +
                              ", which is as many as a rectangle of a device has");
  }
  SmallVector<Offsets> result;
  for (Level* const level : levels.objects) result.push_back(offsets_at(place, *level));
  return result;
}

Side side_or_right(PyObject* text, const char* argument) {
  // What stands in a program is this very object.
  static PyObject* const right = PyUnicode_InternFromString("right");
  if (text == nullptr || text == right) return Side::right;
  if (PyUnicode_Check(text)) {
    if (PyUnicode_CompareWithASCIIString(text, "right") == 0) return Side::right;
    if (PyUnicode_CompareWithASCIIString(text, "left") == 0) return Side::left;
  }
  raise_value(std::string(argument) + " must be 'left' or 'right'; got " +
              std::string(py::repr(py::handle(text))));
}

}  // namespace varlen::bindings
