#include "varlen/model/mix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

std::vector<double> mix_numbers(py::handle object, const char* argument, std::int64_t count) {
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(object);
  if (!array) throw py::error_already_set();
  if (array.size() < count) {
    raise_value(argument,
                "expected " + std::to_string(count) + " numbers, got " + std::to_string(array.size()));
  }
  return {array.data(), array.data() + array.size()};
}

void check_mix_steps(const Ints& numbers, const char* argument, std::int64_t step) {
  if (numbers.count < 1 || numbers.data[0] != 0) raise_value(argument, "expected 0 first");
  for (std::int64_t i = 1; i < numbers.count; ++i) {
    if (numbers.data[i] >= numbers.data[i - 1] + step) continue;
    raise_value(argument, std::to_string(numbers.data[i]) + " after " + std::to_string(numbers.data[i - 1]));
  }
}

void check_mix_weights(const std::vector<double>& weights, std::int64_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || std::isinf(weights[i])) {
      raise_value("weights", "expected numbers of at least 0, got " + std::to_string(weights[i]));
    }
    sum += weights[i];
    if ((static_cast<std::int64_t>(i) + 1) % count != 0) continue;
    if (!(sum > 0)) raise_value("weights", "the sum of a piece is 0");
    sum = 0;
  }
}

py::tuple mix_order_of(py::handle offsets, py::handle weights, py::handle begins, py::handle sizes,
                       py::handle goals, py::handle chances, bool drops) {
  const Ints ends = as_own_ints(offsets, "offsets");
  const Ints pieces = as_own_ints(begins, "begins");
  check_mix_steps(ends, "offsets", 0);
  check_mix_steps(pieces, "begins", 1);
  const std::int64_t count = ends.count - 1;
  const std::int64_t total = ends.data[count];
  if (count < 1 || count > 65'536) raise_value("offsets", "expected 1 to 65536 sources");
  const std::vector<double> numbers = mix_numbers(weights, "weights", pieces.count * count);
  check_mix_weights(numbers, count);
  MixSources sources{count, ends.data, nullptr, nullptr, drops};
  Ints all_sizes;
  if (!sizes.is_none()) {
    all_sizes = as_own_ints(sizes, "sizes");
    if (all_sizes.count != total) raise_value("sizes", "expected one for each draw");
    for (std::int64_t i = 0; i < total; ++i) {
      if (all_sizes.data[i] < 0) {
        raise_value("sizes", "expected at least 0, got " + std::to_string(all_sizes.data[i]));
      }
    }
    sources.sizes = all_sizes.data;
  }
  Ints all_goals;
  if (!goals.is_none()) {
    all_goals = as_own_ints(goals, "goals");
    if (all_goals.count != count) raise_value("goals", "expected one for each source");
    sources.goals = all_goals.data;
  }
  std::vector<double> random;
  if (!chances.is_none()) random = mix_numbers(chances, "chances", total);
  MixOrder order;
  {
    const GilRelease gil_release(total * 64);
    order = mix_order(sources, {pieces.count, pieces.data, numbers.data()},
                      random.empty() ? nullptr : random.data());
  }
  py::array draws = empty_ints(static_cast<std::int64_t>(order.draws.size()));
  std::copy(order.draws.begin(), order.draws.end(), ints(draws));
  return py::make_tuple(draws, order.wants);
}

}  // namespace

void bind_mix(py::module_& m) {
  m.def("mix_order", &mix_order_of, py::arg("offsets"), py::arg("weights"), py::arg("begins"),
        py::arg("sizes") = py::none(), py::arg("goals") = py::none(), py::arg("chances") = py::none(),
        py::arg("drops") = false,
        "(draws, wants): the draws of all sources in their order, counted through, and the source that comes "
        "next and has no draw left, or -1.");
}

}  // namespace varlen::bindings
