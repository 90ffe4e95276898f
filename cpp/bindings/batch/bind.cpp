#include <pybind11/stl.h>

#include "batch.hpp"
#include "out.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// An integer array or None. Kept in `keep`; null for None.
const Ints* optional_ints(py::handle given, const char* argument, std::int64_t count, Ints& keep) {
  if (given.is_none()) return nullptr;
  keep = as_ints(given, argument);
  if (count >= 0 && keep.count != count) {
    raise_value(std::string(argument) + ": has " + std::to_string(keep.count) + " entries for " +
                std::to_string(count) + " rows");
  }
  return &keep;
}

}  // namespace

py::dict Batcher::call(py::handle rows, py::handle start, py::handle end, std::uint64_t seed,
                       std::uint64_t epoch, py::handle counters, py::handle prefix_rows,
                       py::handle suffix_rows, py::handle out, py::handle grow) const {
  const Ints picked = as_ints(rows, "rows");
  Ints keep[5];
  const Ints* from = optional_ints(start, "start", picked.count, keep[0]);
  const Ints* to = optional_ints(end, "end", picked.count, keep[1]);
  const Ints* names = optional_ints(counters, "counters", picked.count, keep[2]);
  const Ints* before = optional_ints(prefix_rows, "prefix_rows", picked.count, keep[3]);
  const Ints* after = optional_ints(suffix_rows, "suffix_rows", picked.count, keep[4]);
  BatchWork work;
  try {
    const Unlocked unlocked(picked.count * 64 + (trusted_ ? 0 : kMapped));
    plan(work, picked, from, to, {seed, epoch}, names, before, after);
  } catch (const BatchFault& fault) {
    raise(work, fault);
  }
  return BatchOutputs(*this, work, out, grow).run();
}

py::array Batcher::lengths(py::handle rows) const {
  Ints picked;
  if (rows.is_none()) {
    py::array all = empty_ints(starts_.back());
    auto* to = static_cast<std::int64_t*>(all.mutable_data());
    for (std::int64_t i = 0; i < starts_.back(); ++i) to[i] = i;
    picked = as_ints(all, "rows");
  } else {
    picked = as_ints(rows, "rows");
  }
  py::array out = empty_ints(picked.count);
  auto* to = static_cast<std::int64_t*>(out.mutable_data());
  BatchWork work;
  work.n = picked.count;
  work.count = work.n;
  if (sources_.size() > 1) work.of.make(work.n);
  work.records.make(work.n);
  Status status;
  Place place;
  {
    const Unlocked unlocked(work.n * 16 + (trusted_ ? 0 : kMapped));
    status = batch_records(sources_.data(), static_cast<std::int64_t>(starts_.size()) - 1, starts_.data(),
                           picked.data, work.n, 1, work.of.data(), work.records.data());
    if (status.ok()) {
      status = batch_enter(work.runs(sources_.data()), options_.flatten, work.records.data(),
                           work.records.data(), place);
    }
  }
  if (!status.ok()) raise(work, {status, place, "rows"});
  for (std::size_t k = 0; k < work.records.size(); ++k) to[k] = work.records[k].size();
  return out;
}

void bind_batch(py::module_& m) {
  py::class_<Batcher>(m, "Batcher",
                      "Sources and options of a batch, looked at once; called with rows for each batch.")
      .def(py::init<const py::list&, std::vector<std::string>, const py::object&, const py::object&,
                    const std::vector<std::string>&, const std::vector<int>&, const py::list&,
                    const py::list&, const py::dict&>(),
           py::arg("shards"), py::arg("labels"), py::arg("prefix"), py::arg("suffix"), py::arg("names"),
           py::arg("dims"), py::arg("fills"), py::arg("nans"), py::arg("options"))
      .def("__call__", &Batcher::call, py::arg("rows"), py::arg("start") = py::none(),
           py::arg("end") = py::none(), py::arg("seed") = 0, py::arg("epoch") = 0,
           py::arg("counters") = py::none(), py::arg("prefix_rows") = py::none(),
           py::arg("suffix_rows") = py::none(), py::arg("out") = py::none(), py::arg("grow") = py::none(),
           "The batch of these rows, by name.")
      .def("lengths", &Batcher::lengths, py::arg("rows") = py::none(),
           "int64, the rows of each record on the first ragged axis, before any window.");
  refuse_pickling(m.attr("Batcher"));
}

}  // namespace varlen::bindings
