#include <pybind11/stl.h>

#include "joint.hpp"
#include "raise.hpp"
#include "rooms.hpp"

namespace varlen::bindings {

void bind_joint(py::module_& m) {
  py::class_<Joint>(m, "Joint",
                    "Named columns that share their nesting from the top down, or a view of such.")
      .def(py::init(&Joint::make), py::arg("names"), py::arg("dims"), py::arg("values"), py::arg("levels"),
           py::arg("count") = -1)
      .def("__len__", &Joint::size)
      .def_property_readonly("depth", &Joint::depth, "Ragged levels that are left.")
      .def_property_readonly("names", [](const Joint& j) { return j.root().names; })
      .def_property_readonly(
          "dims",
          [](const Joint& j) {
            std::vector<int> dims = j.root().dims;
            for (int& d : dims) d -= j.shift();
            return dims;
          },
          "The dim of each name; below 0 where an integer index left it behind.")
      .def("get", &Joint::get, py::arg("index"),
           "The view for an int, a slice of step 1, or a tuple of ints and one final slice; None for "
           "anything else.")
      .def("row", &Joint::row, py::arg("i"))
      .def("slice", &Joint::slice, py::arg("begin"), py::arg("end"))
      .def("take", &Joint::take, py::arg("index"),
           "The rows of an integer index, in its order, as columns of their own.")
      .def(
          "values",
          [](const Joint& j, const std::string& name) {
            const int c = j.root().find(name);
            if (c < 0) throw py::key_error(name);
            return j.values(c);
          },
          py::arg("name"), "The flat values of a key in this view, shared.")
      .def(
          "rows", [](const Joint& j, int d) { return d <= j.depth() ? j.range(d).size() : 0; },
          py::arg("dim"), "How many rows a dim has in this view.")
      .def("bounds", &Joint::bounds, py::arg("dim"),
           "int64, the ends of the sequences of a level, counted from 0.")
      .def("level", &Joint::make_level, py::arg("dim"), "The Level, shared where the view is whole.")
      .def("select", &Joint::select, py::arg("names"))
      .def("squeeze", &Joint::squeeze)
      .def("unsqueeze", &Joint::unsqueeze)
      .def("flatten", &Joint::flatten, py::arg("spread") = "first")
      .def("check", &Joint::check, "Reads every bound of the view once and refuses what does not fit.")
      .def("compact", [](const Joint& j) { return Joint::whole(j.compact()); })
      .def_static(
          "concat", [](const std::vector<const Joint*>& parts) { return joint_concat(parts, false); },
          py::arg("parts"))
      .def_static(
          "stack", [](const std::vector<const Joint*>& parts) { return joint_concat(parts, true); },
          py::arg("parts"))
      .def("dense", &joint_dense, py::arg("padding_side") = "right", py::arg("truncate") = "right",
           py::arg("fill") = py::none(), py::arg("max_sizes") = std::vector<std::int64_t>{},
           py::arg("masks") = true, py::arg("max_bytes") = -1);
}

}  // namespace varlen::bindings
