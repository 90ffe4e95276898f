#include "varlen/span.hpp"

#include "rooms.hpp"
#include "span.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

Ints lengths_at(py::handle lengths) {
  Ints all = as_own_ints(lengths, "lengths");
  for (std::int64_t i = 0; i < all.count; ++i) {
    if (all.data[i] < 0) raise_if({Code::negative_length, i, all.data[i]}, "lengths");
  }
  return all;
}

py::tuple step_windows(py::handle lengths, std::int64_t max_len, std::int64_t stride) {
  at_least(1, max_len, "max_len");
  at_least(1, stride, "stride");
  const Ints all = lengths_at(lengths);
  const std::int64_t count = span_count(all.data, all.count, max_len, stride);
  if (count < 0) raise_overflow("lengths", "the number of windows does not fit 63 bits");
  py::array rows = empty_ints(count);
  py::array begins = empty_ints(count);
  py::array ends = empty_ints(count);
  span_steps(all.data, all.count, max_len, stride, ints(rows), ints(begins), ints(ends));
  return py::make_tuple(rows, begins, ends);
}

py::array token_budget(py::handle lengths, std::int64_t max_tokens, std::int64_t max_count, bool padded) {
  at_least(1, max_tokens, "max_tokens");
  at_least(1, max_count, "max_count");
  const Ints all = lengths_at(lengths);
  py::array ends = empty_ints(all.count);
  const std::int64_t batches = span_budget(all.data, all.count, max_tokens, max_count, padded, ints(ends));
  return ends[py::slice(0, batches, 1)].attr("copy")().cast<py::array>();
}

}  // namespace

void bind_span(py::module_& m) {
  m.def("step_windows", &step_windows, py::arg("lengths"), py::arg("max_len"), py::arg("stride"),
        "(rows, starts, ends) of the windows of at most max_len rows, stride apart, through every sequence.");
  m.def("token_budget", &token_budget, py::arg("lengths"), py::arg("max_tokens"), py::arg("max_count"),
        py::arg("padded"), "Where consecutive batches end that keep to a budget of tokens.");
  add_span_rows(m);
  add_span_cut(m);
  add_span_insert(m);
}

}  // namespace varlen::bindings
