#include <pybind11/stl.h>

#include "batch.hpp"
#include "rooms.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

void bind_batch(py::module_& m) {
  py::class_<BatcherObject>(
      m, "Batcher", "Sources and options of a batch, looked at once; called with rows for each batch.")
      .def(py::init<const py::list&, const std::vector<std::string>&, const py::object&, const py::object&,
                    const std::vector<std::string>&, const std::vector<int>&, const py::list&,
                    const py::list&, const py::dict&, const py::list&, const py::list&>(),
           py::arg("shards"), py::arg("labels"), py::arg("prefix"), py::arg("suffix"), py::arg("names"),
           py::arg("dims"), py::arg("fills"), py::arg("nans"), py::arg("options"),
           py::arg("between") = py::list(), py::arg("bits") = py::list())
      .def("__call__", &BatcherObject::call, py::arg("rows"), py::arg("start") = py::none(),
           py::arg("end") = py::none(), py::arg("seed") = 0, py::arg("epoch") = 0,
           py::arg("counters") = py::none(), py::arg("prefix_rows") = py::none(),
           py::arg("suffix_rows") = py::none(), py::arg("out") = py::none(), py::arg("grow") = py::none(),
           "The batch of these rows, by name.")
      .def("lengths", &BatcherObject::lengths, py::arg("rows") = py::none(),
           "int64, the rows of each record on the first ragged axis, before any window.");
  refuse_pickling(m.attr("Batcher"));
  bind_pinned(m);
  bind_staged(m);
}

}  // namespace varlen::bindings
