#include "varlen/model/bins.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

py::array array_of(const std::vector<std::int64_t>& numbers) {
  py::array array = empty_ints(static_cast<std::int64_t>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), ints(array));
  return array;
}

py::tuple bins_of(py::handle lengths, std::int64_t size, std::int64_t window, bool best) {
  at_least(1, size, "size");
  at_least(1, window, "window");
  const Ints all = as_own_ints(lengths, "lengths");
  for (std::int64_t i = 0; i < all.count; ++i) {
    if (all.data[i] < 0) raise_if({Code::negative_length, i, all.data[i]}, "lengths");
    if (all.data[i] > size) {
      raise_value("lengths",
                  "row " + std::to_string(i) + " has " + std::to_string(all.data[i]) +
                      ", over size=" + std::to_string(size),
                  i, all.data[i]);
    }
  }
  Bins bins;
  {
    const GilRelease gil_release(all.count * 64);
    bins = fill_bins(all.data, all.count, size, window, best ? Fit::best : Fit::first);
  }
  return py::make_tuple(array_of(bins.rows), array_of(bins.offsets));
}

}  // namespace

void bind_bins(py::module_& m) {
  m.def("fill_bins", &bins_of, py::arg("lengths"), py::arg("size"), py::arg("window"), py::arg("best"),
        "(rows, offsets) of bins of one size, filled with whole sequences, the longest of a window first.");
}

}  // namespace varlen::bindings
