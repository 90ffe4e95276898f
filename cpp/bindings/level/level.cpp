#include "level.hpp"

#include <string>
#include <utility>

#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/hooks.hpp"
#include "support/keep.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// Native integers in a row: taken as they are, whatever their width.
bool is_plain_ints(py::handle object) {
  if (Py_TYPE(object.ptr()) != py::detail::npy_api::get().PyArray_Type_) return false;
  const auto array = py::reinterpret_borrow<py::array>(object);
  const char kind = array.dtype().kind();
  const char order = array.dtype().byteorder();
  return array.ndim() == 1 && (kind == 'i' || kind == 'u') && (order == '=' || order == '|') &&
         (array.flags() & py::array::c_style) != 0;
}

template <class T>
varlen::Level sum(const py::array& lengths, const char* argument) {
  return varlen::Level::from_lengths(static_cast<const T*>(lengths.data()), lengths.size(), argument);
}

varlen::Level sum_any(const py::array& lengths, const char* argument) {
  const bool is_signed = lengths.dtype().kind() == 'i';
  switch (lengths.itemsize()) {
    case 1:
      return is_signed ? sum<std::int8_t>(lengths, argument) : sum<std::uint8_t>(lengths, argument);
    case 2:
      return is_signed ? sum<std::int16_t>(lengths, argument) : sum<std::uint16_t>(lengths, argument);
    case 4:
      return is_signed ? sum<std::int32_t>(lengths, argument) : sum<std::uint32_t>(lengths, argument);
    default:
      return is_signed ? sum<std::int64_t>(lengths, argument) : sum<std::uint64_t>(lengths, argument);
  }
}

}  // namespace

LevelRef NewLevel::finish() && {
  return LevelRef(Level(varlen::Level::trust(std::move(memory_))));
}

LevelRef Level::from_lengths(py::handle lengths, const char* argument) {
  const py::array input =
      is_plain_ints(lengths) ? py::reinterpret_borrow<py::array>(lengths) : as_ints(lengths, argument).keep;
  return LevelRef(Level(sum_any(input, argument)));
}

LevelRef Level::from_offsets(py::handle offsets, const char* argument) {
  const Ints input = as_ints(offsets, argument);
  return LevelRef(Level(varlen::Level::from_offsets(input.data, input.count, argument)));
}

LevelRef Level::from_bounds(py::handle bounds, const char* argument) {
  const Ints input = as_ints(bounds, argument);
  return LevelRef(Level(varlen::Level::from_bounds(input.data, input.count, argument)));
}

LevelRef Level::from_row_ids(py::handle row_ids, std::int64_t count, const char* argument) {
  const Ints input = as_ints(row_ids, argument);
  return LevelRef(Level(varlen::Level::from_row_ids(input.data, input.count, count, argument)));
}

LevelRef Level::from_foreign(const std::int64_t* offsets, std::int64_t n, std::int64_t limit,
                             const py::object& owner) {
  const std::int64_t total = offsets[n];
  if (total < 0) raise_if({Code::decreasing, n - 1, total}, "offsets");
  if (total > limit) raise_if({Code::beyond_total, n - 1, total}, "offsets");
  Level level(varlen::Level::borrow(offsets, n, kept_by(owner)));
  level.foreign_limit_ = total;
  return LevelRef(std::move(level));
}

void Level::check_foreign() {
  const Offsets offsets = model_.view();
  raise_if(check_ends(offsets, foreign_limit_), "offsets");
  foreign_limit_ = -1;
}

template <class T, class Numbers>
const py::array& Level::shared_array(std::optional<py::array>& slot, std::int64_t count, Numbers numbers) {
  if (!slot) {
    const T* data = numbers();
    if (!owner_) owner_ = owner_of(model_);
    const py::ssize_t shape[] = {count};
    slot =
        frozen(make_array(py::dtype::of<T>().ptr(), 1, shape, nullptr, const_cast<T*>(data), owner_.ptr()));
  }
  return *slot;
}

const py::array& Level::offsets() {
  see();
  return shared_array<std::int64_t>(offsets_, count() + 1, [this] { return model_.offsets(); });
}

py::array Level::bounds() {
  return rows_between(offsets(), 1, count() + 1);
}

const py::array& Level::lengths() {
  see();
  return shared_array<std::int64_t>(lengths_, count(), [this] { return model_.lengths(); });
}

const py::array& Level::lengths32() {
  see();
  return shared_array<std::int32_t>(lengths32_, count(), [this] { return model_.lengths32(); });
}

const py::array& Level::offsets32() {
  see();
  return shared_array<std::int32_t>(offsets32_, count() + 1, [this] { return model_.offsets32(); });
}

const py::array& Level::row_ids() {
  see();
  return shared_array<std::int64_t>(row_ids_, total(), [this] { return model_.row_ids(); });
}

const py::array& Level::positions() {
  see();
  return shared_array<std::int64_t>(positions_, total(), [this] { return model_.positions(); });
}

const py::object& Level::tensor() {
  if (!tensor_) {
    Hook& make = hooks().level_tensor;
    if (make.peek() == nullptr) throw py::attribute_error("_tensor: no library of tensors was used yet");
    tensor_ = make(offsets());
  }
  return tensor_;
}

LevelRef Level::compose(Level& child) {
  if (is_hidden() || child.is_hidden()) return compose_there(child);
  see();
  child.see();
  return LevelRef(model_.compose(child.model_));
}

bool Level::equals(Level& other) {
  if (this == &other) return true;
  if (count() != other.count()) return false;
  if (!is_hidden() && !other.is_hidden() && model_.offsets() == other.model_.offsets()) return true;
  return model() == other.model();
}

LevelRef level_over(PyObject* argument, const char* name, std::int64_t rows) {
  LevelRef::expect(argument, "lengths");
  auto level = py::reinterpret_borrow<LevelRef>(argument);
  if (rows >= 0 && !level->fits(rows)) {
    raise_value("lengths", "they add up to " + std::to_string(level->total()) + ", but " + name + " has " +
                               std::to_string(rows) + " rows");
  }
  return level;
}

LevelRef level_of_rows(PyObject* argument, const char* name, std::int64_t rows) {
  LevelRef::expect(argument, "lengths");
  auto level = py::reinterpret_borrow<LevelRef>(argument);
  if (level->count() != rows) {
    raise_value(name,
                "has " + std::to_string(rows) + " rows for " + std::to_string(level->count()) + " sequences");
  }
  return level;
}

}  // namespace varlen::bindings
