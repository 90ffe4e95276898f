// size_at_t, lengths and indices: sorted out of a level, or checked as they were given.
#include <string>

#include "pack.hpp"
#include "support/arrays.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"
#include "support/scratch.hpp"

namespace varlen::bindings {

namespace {

std::int32_t* int32s(py::array& array) {
  return static_cast<std::int32_t*>(array.mutable_data());
}
const std::int32_t* int32s_of(const py::array& array) {
  return static_cast<const std::int32_t*>(array.data());
}

py::array empty_int32(std::int64_t n) {
  const py::ssize_t shape[] = {n};
  return empty(dtype_of(Number::i32).ptr(), 1, shape);
}

std::string text(std::int64_t number) {
  return std::to_string(number);
}

void refuse_lengths(const Status& status, std::int64_t steps) {
  const std::string column = "lengths: column " + text(status.where) + " has length " + text(status.value);
  if (status.code == Code::too_long) {
    raise_value(column + ", but the block has " + text(steps) + " steps");
  }
  if (status.code == Code::increasing) {
    raise_value(column + ", more than the column before it; the longest comes first");
  }
  if (!status.ok()) raise_value(column);
}

void refuse_indices(const Status& status, std::int64_t columns) {
  const std::string column = "indices: column " + text(status.where) + " holds " + text(status.value);
  if (status.code == Code::repeated) raise_value(column + ", as a column before it does");
  if (!status.ok()) raise_value(column + ", but there are " + text(columns) + " sequences");
}

/// Whether an array can be kept as it is: int32, and nobody's to write.
bool is_kept(py::handle object) {
  if (Py_TYPE(object.ptr()) != Api::get().PyArray_Type_) return false;
  const auto* array = fields_of(object.ptr());
  const int flags = array->flags & (Api::NPY_ARRAY_C_CONTIGUOUS_ | Api::NPY_ARRAY_WRITEABLE_);
  return array->nd == 1 && flags == Api::NPY_ARRAY_C_CONTIGUOUS_ && array->base == nullptr &&
         number_of(array->descr) == Number::i32;
}

/// One of the three: check(data, out) looks at the entries, and writes them to `out` unless it is null.
template <class Check>
py::array checked_ints(py::handle object, const char* argument, std::int64_t count, const char* of,
                       Check check) {
  const auto refuse_count = [&](std::int64_t got) {
    if (got == count || count < 0) return;
    raise_value(std::string(argument) + ": " + text(got) + " entries for a block of " + text(count) + " " +
                of);
  };
  if (is_kept(object)) {
    auto kept = py::reinterpret_borrow<py::array>(object);
    refuse_count(kept.size());
    check(int32s_of(kept), kept.size(), static_cast<std::int32_t*>(nullptr));
    return kept;
  }
  const Ints given = as_ints(object, argument);
  refuse_count(given.count);
  py::array result = empty_int32(given.count);
  check(given.data, given.count, int32s(result));
  return frozen(std::move(result));
}

}  // namespace

Steps PackFields::steps(bool padded) const {
  return {int32s_of(size_at_t), size_at_t.size(), lengths.size(), padded};
}

const std::int32_t* PackFields::order() const {
  return int32s_of(indices);
}

py::array PackFields::offsets() const {
  py::array result = empty_ints(lengths.size() + 1);
  ints(result)[0] = 0;
  pack_ends(int32s_of(lengths), int32s_of(indices), lengths.size(), ints(result) + 1);
  return result;
}

void pack_refuse_wide(std::int64_t columns, std::int64_t longest, const char* argument) {
  if (columns > INT32_MAX) {
    raise_overflow(std::string(argument) + ": " + text(columns) + " sequences do not fit int32 indices");
  }
  if (longest > INT32_MAX) {
    raise_overflow(std::string(argument) + ": a sequence of length " + text(longest) + " does not fit int32");
  }
}

PackFields pack_order_of(Offsets level, std::int64_t longest, Ties ties, const char* argument) {
  pack_refuse_wide(level.count, longest, argument);
  PackFields result{empty_int32(longest), empty_int32(level.count), empty_int32(level.count)};
  Scratch<std::int32_t> room(longest + 1);
  {
    const Unlocked unlocked(16 * level.count + 8 * longest);
    pack_order(level, ties, longest, int32s(result.lengths), int32s(result.indices), int32s(result.size_at_t),
               room.data());
  }
  for (py::array* one : {&result.size_at_t, &result.lengths, &result.indices}) *one = frozen(*one);
  return result;
}

PackFields pack_fields_of(py::handle size_at_t, py::handle lengths, py::handle indices, std::int64_t steps,
                          std::int64_t columns) {
  if (columns > INT32_MAX || steps > INT32_MAX) {
    raise_overflow("data: " + text(steps) + " steps of " + text(columns) + " columns do not fit int32");
  }
  PackFields result;
  result.lengths = checked_ints(lengths, "lengths", columns, "columns", [&](auto* data, auto n, auto* out) {
    refuse_lengths(pack_check_lengths(data, n, steps < 0 ? INT32_MAX : steps, out), steps);
  });
  const std::int64_t n = result.lengths.size();
  const std::int32_t* sorted = int32s_of(result.lengths);
  const std::int64_t longest = n > 0 ? sorted[0] : 0;
  result.size_at_t =
      checked_ints(size_at_t, "size_at_t", steps, "steps", [&](auto* data, auto count, auto* out) {
        if (count < longest) {
          raise_value("size_at_t: " + text(count) + " entries, but column 0 has length " + text(longest));
        }
        const Status status = pack_check_sizes(data, count, sorted, n, out);
        if (status.ok()) return;
        raise_value("size_at_t: step " + text(status.where) + " has " + text(data[status.where]) + ", but " +
                    text(status.value) + " of the lengths are above " + text(status.where));
      });
  Scratch<std::uint8_t> seen(n);
  result.indices = checked_ints(indices, "indices", n, "columns", [&](auto* data, auto count, auto* out) {
    refuse_indices(pack_check_indices(data, count, out, seen.data()), count);
  });
  return result;
}

Ties ties_of(PyObject* text) {
  if (text == nullptr) return Ties::reversed;
  if (PyUnicode_Check(text)) {
    if (PyUnicode_CompareWithASCIIString(text, "reversed") == 0) return Ties::reversed;
    if (PyUnicode_CompareWithASCIIString(text, "stable") == 0) return Ties::stable;
  }
  raise_value("ties: expected 'stable' or 'reversed', got " + std::string(py::repr(py::handle(text))));
}

}  // namespace varlen::bindings
