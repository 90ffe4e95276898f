#include "level.hpp"

#include <cstring>
#include <string>

#include "arrays.hpp"
#include "raise.hpp"
#include "rooms.hpp"

namespace varlen::bindings {

namespace {

std::int64_t* ints(py::array& array) {
  return static_cast<std::int64_t*>(array.mutable_data());
}

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
  if (!py::isinstance<py::array>(object)) return false;
  const auto array = py::reinterpret_borrow<py::array>(object);
  const char kind = array.dtype().kind();
  const char order = array.dtype().byteorder();
  return array.ndim() == 1 && (kind == 'i' || kind == 'u') && (order == '=' || order == '|') &&
         (array.flags() & py::array::c_style) != 0;
}

template <class Fill>
py::array memo(py::object& slot, std::int64_t count, Fill fill) {
  if (!slot) {
    py::array out = empty_ints(count);
    fill(ints(out));
    slot = frozen(std::move(out));
  }
  return slot;
}

}  // namespace

Level::Level(py::array offsets) : offsets_(std::move(offsets)) {
  view_ = {static_cast<const std::int64_t*>(offsets_.data()) + 1, offsets_.size() - 1};
}

std::shared_ptr<Level> Level::trusted(py::array offsets, std::optional<LevelStats> stats) {
  auto level = std::make_shared<Level>(frozen(std::move(offsets)));
  if (stats) {
    level->stats_ = *stats;
    level->known_ = true;
  }
  return level;
}

std::shared_ptr<Level> Level::from_lengths(py::handle lengths, const char* argument) {
  const py::array given =
      is_plain_ints(lengths) ? py::reinterpret_borrow<py::array>(lengths) : as_ints(lengths, argument).keep;
  py::array offsets = empty_ints(given.size() + 1);
  LevelStats stats;
  raise_if(scan_any(given, ints(offsets), stats), argument);
  return trusted(std::move(offsets), stats);
}

std::shared_ptr<Level> Level::from_offsets(py::handle offsets, const char* argument) {
  const Ints given = as_ints(offsets, argument);
  if (given.count == 0) raise_if({Code::empty_offsets, 0, 0}, argument);
  if (given.data[0] != 0) raise_if({Code::first_not_zero, 0, given.data[0]}, argument);
  raise_if(check_ends({given.data + 1, given.count - 1}, -1), argument);
  py::array own = empty_ints(given.count);
  std::memcpy(own.mutable_data(), given.data, static_cast<std::size_t>(given.count) * sizeof(std::int64_t));
  raise_if(check_ends({ints(own) + 1, given.count - 1}, -1),
           argument);  // what we own, not what they may change
  return trusted(std::move(own));
}

std::shared_ptr<Level> Level::from_bounds(py::handle bounds, const char* argument) {
  const Ints given = as_ints(bounds, argument);
  py::array own = empty_ints(given.count + 1);
  ints(own)[0] = 0;
  if (given.count > 0) {
    std::memcpy(ints(own) + 1, given.data, static_cast<std::size_t>(given.count) * sizeof(std::int64_t));
  }
  raise_if(check_ends({ints(own) + 1, given.count}, -1), argument);
  return trusted(std::move(own));
}

std::shared_ptr<Level> Level::from_row_ids(py::handle row_ids, std::int64_t count, const char* argument) {
  const Ints given = as_ints(row_ids, argument);
  if (count < 0) count = given.count > 0 ? given.data[given.count - 1] + 1 : 0;
  if (count < 0) raise_if({Code::row_ids_range, given.count - 1, count - 1}, argument);
  py::array offsets = empty_ints(count + 1);
  raise_if(offsets_from_row_ids(given.data, given.count, count, ints(offsets)), argument);
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

void bind_level(py::module_& m) {
  py::class_<Level, std::shared_ptr<Level>>(
      m, "Level",
      "One level of nesting: where each sequence begins and ends. Immutable, checked once, shared.\n\n"
      "Made from lengths, or by `from_offsets`, `from_bounds` or `from_row_ids`, of any integer dtype.\n\n"
      "Examples\n--------\n"
      ">>> level = varlen.Level([3, 0, 2])\n>>> level\nLevel(3 sequences, 5 rows, lengths 0 to 3)\n"
      ">>> level.offsets\narray([0, 3, 3, 5])\n>>> level.row_ids\narray([0, 0, 0, 2, 2])\n"
      ">>> level.total, level.longest\n(5, 3)\n")
      .def(py::init([](py::handle lengths) { return Level::from_lengths(lengths); }), py::arg("lengths"))
      .def_static(
          "from_lengths", [](py::handle x) { return Level::from_lengths(x); }, py::arg("lengths"),
          "From n lengths of any integer dtype; an error names the first negative one.")
      .def_static(
          "from_offsets", [](py::handle x) { return Level::from_offsets(x); }, py::arg("offsets"),
          "From n + 1 offsets that start at 0 and never decrease.")
      .def_static(
          "from_bounds", [](py::handle x) { return Level::from_bounds(x); }, py::arg("bounds"),
          "From n ends without the leading 0.")
      .def_static(
          "from_row_ids", [](py::handle x, std::int64_t count) { return Level::from_row_ids(x, count); },
          py::arg("row_ids"), py::arg("count") = -1,
          "From the sorted sequence number of each row; `count` sequences, by default the last id + 1.")
      .def("__len__", &Level::count)
      .def("__eq__",
           [](const Level& a, py::handle b) -> py::object {
             if (!py::isinstance<Level>(b)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
             return py::bool_(a.equals(*b.cast<Level*>()));
           })
      .def("__hash__", [](const Level& self) { return py::hash(py::make_tuple(self.count(), self.total())); })
      .def(py::pickle([](Level& self) { return py::make_tuple(self.offsets()); },
                      [](const py::tuple& state) { return Level::from_offsets(state[0]); }))
      .def_property_readonly("total", &Level::total, "Rows in all sequences together.")
      .def_property_readonly(
          "longest", [](Level& l) { return l.stats().longest; }, "0 where there is none.")
      .def_property_readonly(
          "shortest", [](Level& l) { return l.stats().shortest; }, "0 where there is none.")
      .def_property_readonly("offsets", &Level::offsets, "int64 (n + 1), read-only, the first is 0.")
      .def_property_readonly("bounds", &Level::bounds, "int64 (n), the ends: offsets without the leading 0.")
      .def_property_readonly("lengths", &Level::lengths, "int64 (n), read-only, kept.")
      .def_property_readonly("row_ids", &Level::row_ids, "int64 (total), the sequence that each row is in.")
      .def_property_readonly("positions", &Level::positions, "int64 (total), the place inside the sequence.")
      .def("__repr__", [](Level& self) {
        const LevelStats s = self.stats();
        return "Level(" + std::to_string(self.count()) + " sequences, " + std::to_string(self.total()) +
               " rows, lengths " + std::to_string(s.shortest) + " to " + std::to_string(s.longest) + ")";
      });
}

}  // namespace varlen::bindings
