#include "level.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "arrays.hpp"
#include "raise.hpp"

namespace varlen::bindings {

namespace {

// Beyond it the bytes of the offsets do not fit 63 bits.
constexpr std::int64_t kMostSequences = (INT64_MAX >> 3) - 1;

template <class T>
Status scan(const py::array& lengths, std::int64_t* offsets, LevelStats& stats) {
  return offsets_from_lengths(static_cast<const T*>(lengths.data()), lengths.size(), offsets, &stats);
}

// Native lengths of any integer type are summed as they are; anything else becomes int64 first.
Status scan_any(const py::array& lengths, std::int64_t* offsets, LevelStats& stats) {
  const bool is_signed = lengths.dtype().kind() == 'i';
  switch (lengths.itemsize()) {
    case 1:
      return is_signed ? scan<std::int8_t>(lengths, offsets, stats)
                       : scan<std::uint8_t>(lengths, offsets, stats);
    case 2:
      return is_signed ? scan<std::int16_t>(lengths, offsets, stats)
                       : scan<std::uint16_t>(lengths, offsets, stats);
    case 4:
      return is_signed ? scan<std::int32_t>(lengths, offsets, stats)
                       : scan<std::uint32_t>(lengths, offsets, stats);
    default:
      return is_signed ? scan<std::int64_t>(lengths, offsets, stats)
                       : scan<std::uint64_t>(lengths, offsets, stats);
  }
}

bool is_plain_ints(py::handle object) {
  if (Py_TYPE(object.ptr()) != py::detail::npy_api::get().PyArray_Type_) return false;
  const auto array = py::reinterpret_borrow<py::array>(object);
  const char kind = array.dtype().kind();
  const char order = array.dtype().byteorder();
  return array.ndim() == 1 && (kind == 'i' || kind == 'u') && (order == '=' || order == '|') &&
         (array.flags() & py::array::c_style) != 0;
}

template <class T = std::int64_t, class Fill>
py::array memo(py::object& slot, std::int64_t count, Fill fill) {
  if (!slot) {
    py::array out = empty(py::dtype::of<T>(), {count});
    fill(static_cast<T*>(out.mutable_data()));
    slot = frozen(std::move(out));
  }
  return slot;
}

void check_int32(const char* what, std::int64_t most) {
  if (most <= INT32_MAX) return;
  raise_overflow(std::string(what) + ": " + std::to_string(most) + " rows do not fit int32");
}

}  // namespace

Level::Level(py::array offsets) : offsets_(std::move(offsets)) {
  view_ = {static_cast<const std::int64_t*>(offsets_.data()) + 1, offsets_.size() - 1};
}

LevelRef Level::trusted(py::array offsets, std::optional<LevelStats> stats) {
  Level level(frozen(std::move(offsets)));
  if (stats) {
    level.stats_ = *stats;
    level.known_ = true;
  }
  return LevelRef(std::move(level));
}

LevelRef Level::from_lengths(py::handle lengths, const char* argument) {
  const py::array given =
      is_plain_ints(lengths) ? py::reinterpret_borrow<py::array>(lengths) : as_ints(lengths, argument).keep;
  py::array offsets = empty_ints(given.size() + 1);
  LevelStats stats;
  raise_if(scan_any(given, ints(offsets), stats), argument);
  return trusted(std::move(offsets), stats);
}

LevelRef Level::from_offsets(py::handle offsets, const char* argument) {
  const Ints given = as_ints(offsets, argument);
  if (given.count == 0) raise_if({Code::empty_offsets, 0, 0}, argument);
  py::array own = empty_ints(given.count);
  std::memcpy(own.mutable_data(), given.data, static_cast<std::size_t>(given.count) * sizeof(std::int64_t));
  // What we own is checked, not what they may change.
  if (ints(own)[0] != 0) raise_if({Code::first_not_zero, 0, ints(own)[0]}, argument);
  raise_if(check_ends({ints(own) + 1, given.count - 1}, -1), argument);
  return trusted(std::move(own));
}

LevelRef Level::from_bounds(py::handle bounds, const char* argument) {
  const Ints given = as_ints(bounds, argument);
  py::array own = empty_ints(given.count + 1);
  ints(own)[0] = 0;
  if (given.count > 0) {
    std::memcpy(ints(own) + 1, given.data, static_cast<std::size_t>(given.count) * sizeof(std::int64_t));
  }
  raise_if(check_ends({ints(own) + 1, given.count}, -1), argument);
  return trusted(std::move(own));
}

LevelRef Level::from_row_ids(py::handle row_ids, std::int64_t count, const char* argument) {
  const Ints given = as_ints(row_ids, argument);
  const std::int64_t last = given.count > 0 ? given.data[given.count - 1] : -1;
  if (count < 0) {
    if (last < -1) raise_if({Code::row_ids_range, given.count - 1, last}, argument);
    count = last < INT64_MAX ? last + 1 : last;
  }
  if (count > kMostSequences) {
    raise_overflow(std::string(argument) + ": " + std::to_string(count) +
                   " sequences have no room in memory");
  }
  py::array offsets = empty_ints(count + 1);
  Status status = offsets_from_row_ids(given.data, given.count, count, ints(offsets));
  if (status.code == Code::row_ids_range && status.value > last && last + 1 == count) {
    // Beyond the last one, which has to be the largest: a smaller one follows.
    const std::int64_t* const sooner = std::is_sorted_until(given.data, given.data + given.count);
    status = {Code::row_ids_unsorted, sooner - given.data, *sooner};
  }
  raise_if(status, argument);
  return trusted(std::move(offsets));
}

LevelStats Level::stats() {
  if (!known_) {
    stats_ = level_stats(view_);
    known_ = true;
  }
  return stats_;
}

py::array Level::bounds() const {
  return offsets_[py::slice(1, offsets_.size(), 1)].cast<py::array>();
}

py::array Level::lengths() {
  return memo(lengths_, count(), [this](std::int64_t* out) { lengths_of(view_, out); });
}

py::array Level::lengths32() {
  if (!lengths32_) check_int32("lengths", stats().longest);
  return memo<std::int32_t>(lengths32_, count(), [this](std::int32_t* out) { lengths_of(view_, out); });
}

py::array Level::offsets32() {
  check_int32("offsets", total());
  return memo<std::int32_t>(offsets32_, count() + 1, [this](std::int32_t* out) { offsets_of(view_, out); });
}

py::array Level::row_ids() {
  return memo(row_ids_, total(), [this](std::int64_t* out) { row_ids_of(view_, out); });
}

py::array Level::positions() {
  return memo(positions_, total(), [this](std::int64_t* out) { positions_of(view_, out); });
}

bool Level::equals(const Level& other) const noexcept {
  if (this == &other) return true;
  return count() == other.count() &&
         (count() == 0 || std::memcmp(view_.ends, other.view_.ends,
                                      static_cast<std::size_t>(count()) * sizeof(std::int64_t)) == 0);
}

}  // namespace varlen::bindings
