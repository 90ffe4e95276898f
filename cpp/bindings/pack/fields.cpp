// size_at_t, lengths and indices: sorted out of a level, or checked as they were given.
#include <string>

#include "pack.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/ndarray.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"
#include "varlen/model/memory.hpp"

namespace varlen::bindings {

namespace {

const std::int64_t* numbers_of(const py::array& array) {
  return static_cast<const std::int64_t*>(array.data());
}

std::string text(std::int64_t number) {
  return std::to_string(number);
}

void refuse_lengths(const Status& status, std::int64_t steps) {
  if (status.ok()) return;
  std::string reason = "column " + text(status.where) + " has length " + text(status.value);
  if (status.code == Code::too_long) reason += ", but the block has " + text(steps) + " steps";
  if (status.code == Code::increasing) reason += ", more than the column before it; the longest comes first";
  raise_value(Record{"lengths", reason, status.where, status.value});
}

void refuse_indices(const Status& status, std::int64_t columns) {
  if (status.ok()) return;
  const std::string column = "column " + text(status.where) + " holds " + text(status.value);
  const std::string fault = status.code == Code::repeated ? ", as a column before it does"
                                                          : ", but there are " + text(columns) + " sequences";
  raise_value(Record{"indices", column + fault, status.where, status.value});
}

/// Whether an array can be kept as it is: int64, and nobody's to write.
bool is_kept(py::handle object) {
  if (Py_TYPE(object.ptr()) != Api::get().PyArray_Type_) return false;
  const auto* array = fields_of(object.ptr());
  const int flags = array->flags & (Api::NPY_ARRAY_C_CONTIGUOUS_ | Api::NPY_ARRAY_WRITEABLE_);
  return array->nd == 1 && flags == Api::NPY_ARRAY_C_CONTIGUOUS_ && array->base == nullptr &&
         number_of(array->descr) == Number::i64;
}

/// One of the three, kept or copied, with as many entries as there are `unit` the block; below 0 any count.
py::array field_of(py::handle object, const char* argument, std::int64_t count, const char* unit) {
  const bool is_own = is_kept(object);
  py::array field = is_own ? py::reinterpret_borrow<py::array>(object) : as_own_ints(object, argument).keep;
  if (count >= 0 && field.size() != count) {
    raise_value(argument, text(field.size()) + " entries for a block of " + text(count) + " " + unit);
  }
  return is_own ? field : frozen(std::move(field));
}

/// Refuses to count to a length that no memory holds.
void refuse_long(std::int64_t longest, const char* argument) {
  std::int64_t total_bytes = 0;
  padded_bytes(argument, dtype_of(Number::i64), {longest}, default_max_bytes(), total_bytes);
}

/// How many of the lengths are above each step.
py::array sizes_of(const py::array& lengths, std::int64_t steps) {
  refuse_long(steps, "size_at_t");
  py::array sizes = empty_ints(steps);
  pack_sizes(numbers_of(lengths), lengths.size(), steps, ints(sizes));
  return frozen(std::move(sizes));
}

/// The same as it was given.
py::array checked_sizes(py::handle input, const py::array& lengths, std::int64_t steps) {
  py::array result = field_of(input, "size_at_t", steps, "steps");
  const std::int64_t* sizes = numbers_of(result);
  const std::int64_t longest = lengths.size() > 0 ? *numbers_of(lengths) : 0;
  if (result.size() < longest) {
    raise_value("size_at_t", text(result.size()) + " entries, but column 0 has length " + text(longest));
  }
  const Status status = pack_check_sizes(sizes, result.size(), numbers_of(lengths), lengths.size());
  if (!status.ok()) {
    raise_value("size_at_t", "step " + text(status.where) + " has " + text(sizes[status.where]) + ", but " +
                                 text(status.value) + " of the lengths are above " + text(status.where));
  }
  return result;
}

}  // namespace

Steps PackFields::steps(bool padded) const {
  return {numbers_of(size_at_t), size_at_t.size(), lengths.size(), padded};
}

const std::int64_t* PackFields::order() const {
  return numbers_of(indices);
}

NewLevel PackFields::level() const {
  NewLevel result(lengths.size());
  pack_ends(numbers_of(lengths), numbers_of(indices), lengths.size(), result.ends());
  return result;
}

PlacedSteps::PlacedSteps(const Place& place, const PackFields& fields, bool padded, std::int64_t total)
    : view{fields.size_at_t.size(), fields.lengths.size(), {}, total} {
  if (padded) return;
  packed = Level::from_lengths(fields.size_at_t, "size_at_t");
  view.packed = offsets_at(place, LevelRef::unwrap(packed));
}

PackFields pack_order_of(Offsets level, std::int64_t longest, Ties ties) {
  refuse_long(longest, "size_at_t");
  PackFields result{empty_ints(longest), empty_ints(level.count), empty_ints(level.count)};
  Scratch<std::int64_t> room(longest + 1);
  {
    const GilRelease gil_release(24 * level.count + 16 * longest);
    pack_order(level, ties, longest, ints(result.lengths), ints(result.indices), ints(result.size_at_t),
               room.data());
  }
  for (py::array* one : {&result.size_at_t, &result.lengths, &result.indices}) *one = frozen(*one);
  return result;
}

PackFields pack_fields_of(py::handle size_at_t, py::handle lengths, py::handle indices, std::int64_t steps,
                          std::int64_t columns) {
  PackFields result;
  result.lengths = field_of(lengths, "lengths", columns, "columns");
  const std::int64_t* sorted_lengths = numbers_of(result.lengths);
  const std::int64_t n = result.lengths.size();
  refuse_lengths(pack_check_lengths(sorted_lengths, n, steps < 0 ? INT64_MAX : steps), steps);
  const std::int64_t longest = n > 0 ? sorted_lengths[0] : 0;
  if (size_at_t.is_none()) {
    result.size_at_t = sizes_of(result.lengths, steps < 0 ? longest : steps);
  } else {
    result.size_at_t = checked_sizes(size_at_t, result.lengths, steps);
  }
  result.indices = field_of(indices, "indices", n, "columns");
  Scratch<std::uint8_t> marks(n);
  refuse_indices(pack_check_indices(numbers_of(result.indices), n, marks.data()), n);
  return result;
}

Ties ties_of(PyObject* text) {
  if (text == nullptr) return Ties::reversed;
  if (PyUnicode_Check(text)) {
    if (PyUnicode_CompareWithASCIIString(text, "reversed") == 0) return Ties::reversed;
    if (PyUnicode_CompareWithASCIIString(text, "stable") == 0) return Ties::stable;
  }
  raise_value("ties", "expected 'stable' or 'reversed', got " + std::string(py::repr(py::handle(text))));
}

}  // namespace varlen::bindings
