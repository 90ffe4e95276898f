// `_core.Joint` as Python sees it. The hot methods are plain C functions of the type; the rest is attached.
#include <pybind11/stl.h>

#include <string_view>

#include "joint.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "support/own_type.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

using Object = Own<Joint>;

Joint& joint_in(PyObject* self) noexcept {
  return Object::in(self);
}

Py_ssize_t length(PyObject* self) noexcept {
  return joint_in(self).size();
}

PyObject* get(PyObject* self, PyObject* index) noexcept {
  return guarded([&]() -> PyObject* {
    Joint view = joint_in(self);
    if (!view.narrow(index)) Py_RETURN_NONE;
    return Object::create(std::move(view));
  });
}

std::string_view text_in(PyObject* name) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &size);
  if (text == nullptr) throw py::error_already_set();
  return {text, static_cast<std::size_t>(size)};
}

PyObject* values(PyObject* self, PyObject* name) noexcept {
  return guarded([&] {
    const Joint& joint = joint_in(self);
    const std::string_view wanted = text_in(name);
    const int c = joint.root().find(wanted);
    if (c < 0) throw py::key_error(std::string(wanted));
    return joint.values(static_cast<std::size_t>(c)).release().ptr();
  });
}

PyObject* dim(PyObject* self, PyObject* name) noexcept {
  return guarded([&]() -> PyObject* {
    const Joint& joint = joint_in(self);
    const int c = joint.root().find(text_in(name));
    if (c < 0) Py_RETURN_NONE;
    return PyLong_FromLong(joint.dim(static_cast<std::size_t>(c)));
  });
}

/// Does a dict still hold these names and, behind them, these very objects, in this order?
PyObject* unchanged(PyObject*, PyObject* const* args, Py_ssize_t count) noexcept {
  if (count != 3 || !PyDict_Check(args[0]) || !PyTuple_Check(args[1]) || !PyTuple_Check(args[2]) ||
      PyTuple_GET_SIZE(args[1]) != PyTuple_GET_SIZE(args[2])) {
    PyErr_SetString(PyExc_TypeError, "unchanged: expected a dict and two tuples of one length");
    return nullptr;
  }
  if (PyDict_GET_SIZE(args[0]) != PyTuple_GET_SIZE(args[1])) Py_RETURN_FALSE;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t at = 0;
  for (Py_ssize_t i = 0; PyDict_Next(args[0], &at, &key, &value) != 0; ++i) {
    // Names that are equal but other objects are rare: the view is built anew then.
    if (key != PyTuple_GET_ITEM(args[1], i) || value != PyTuple_GET_ITEM(args[2], i)) Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return guarded([&] {
    const auto root = joint_in(self).compact();
    const py::object count = py::int_(joint_in(self).depth() < 0 ? -1 : root->counts[0]);
    py::list arrays;
    py::list levels;
    for (const auto& array : root->arrays) arrays.append(array);
    for (const auto& owner : root->owners) levels.append(owner);
    const py::handle type(reinterpret_cast<PyObject*>(Object::type));
    return py::make_tuple(type, py::make_tuple(root->names, root->dims, arrays, levels, count, root->meta))
        .release()
        .ptr();
  });
}

py::handle make_type(py::module_& m) {
  static PyMethodDef methods[] = {
      {"get", get, METH_O,
       "get(index)\n\nThe view for an int, a slice of step 1, or a tuple of ints and one final slice; None "
       "for anything else."},
      {"values", values, METH_O, "values(name)\n\nThe flat values of a key in this view, shared."},
      {"dim", dim, METH_O,
       "dim(name)\n\nThe dim of a key, below 0 where an integer index left it behind; None for no key."},
      {"unchanged", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(unchanged)),
       METH_FASTCALL | METH_STATIC,
       "unchanged(live, names, arrays)\n\nDoes the dict hold these very objects, in this order?"},
      {"__reduce__", reduce, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr},
  };
  using py::arg;
  return Object::make(
      m, "varlen._core.Joint", "Named columns that share their nesting from the top down, or a view.",
      py::cpp_function(&Joint::make, py::name("Joint"), arg("names"), arg("dims"), arg("values"),
                       arg("levels"), arg("count") = -1, arg("meta") = py::none()),
      {{Py_tp_methods, methods}, {Py_mp_length, reinterpret_cast<void*>(length)}});
}

py::dict dense(const Joint& joint, std::string padding_side, std::string truncate, py::object fill,
               py::object out, std::vector<std::int64_t> max_sizes, bool masks, bool empty_keys,
               std::int64_t max_bytes) {
  return joint_dense(
      joint, {std::move(padding_side), std::move(truncate), std::move(fill), std::move(out),
              std::move(max_sizes), masks, empty_keys, max_bytes < 0 ? default_max_bytes() : max_bytes});
}

std::vector<int> dims(const Joint& joint) {
  std::vector<int> out;
  for (std::size_t c = 0; c < joint.root().names.size(); ++c) out.push_back(joint.dim(c));
  return out;
}

std::int64_t rows(const Joint& joint, int dim) {
  if (dim < 0 || dim > joint.depth()) raise_index("dim " + std::to_string(dim) + " is out of range");
  return joint.range(dim).size();
}

int checked_dim(const Joint& joint, int dim) {
  if (dim < 1 || dim > joint.depth()) raise_index("level " + std::to_string(dim) + " is out of range");
  return dim;
}

}  // namespace

Joint* joint_of(PyObject* object) noexcept {
  return Object::is(object) ? &joint_in(object) : nullptr;
}

py::object wrap(Joint joint) {
  return py::reinterpret_steal<py::object>(Object::create(std::move(joint)));
}

void bind_joint(py::module_& m) {
  using py::arg;
  Attach(make_type(m))
      .property("depth", &Joint::depth, "Ragged levels that are left; -1 where every dim was indexed away.")
      .property(
          "names", [](const Joint& j) { return j.root().names; }, "The keys, in their order.")
      .property("dims", dims, "The dim of each name; below 0 where an integer index left it behind.")
      .property(
          "meta", [](const Joint& j) { return j.root().meta; }, "What was given with the names.")
      .def("row", &Joint::row, arg("i"))
      .def("slice", &Joint::slice, arg("begin"), arg("end"))
      .def("take", &Joint::take, arg("index"),
           "The rows of an integer index, in its order, as columns of their own.")
      .def("rows", rows, arg("dim"), "How many rows a dim has in this view.")
      .def(
          "bounds", [](const Joint& j, int d) { return j.bounds(checked_dim(j, d)); }, arg("dim"),
          "int64, the ends of the sequences of a level, counted from 0.")
      .def(
          "level", [](const Joint& j, int d) { return j.make_level(checked_dim(j, d)); }, arg("dim"),
          "The Level, shared where the view is whole.")
      .def("select", &Joint::select, arg("names"))
      .def("rename", &Joint::rename, arg("names"))
      .def("with_column", &Joint::with_column, arg("name"), arg("dim"), arg("values"),
           arg("meta") = py::none())
      .def("with_meta", &Joint::with_meta, arg("meta"))
      .def("squeeze", &Joint::squeeze)
      .def("unsqueeze", &Joint::unsqueeze)
      .def("flatten", &Joint::flatten, arg("spread") = "first")
      .def("check", &Joint::check, "Reads every bound of the view once and refuses what does not fit.")
      .def("compact", [](const Joint& j) { return Joint::whole(j.compact()); })
      .def("dense", dense, arg("padding_side") = "right", arg("truncate") = "right", arg("fill") = py::none(),
           arg("out") = py::none(), arg("max_sizes") = std::vector<std::int64_t>{}, arg("masks") = true,
           arg("empty_keys") = true, arg("max_bytes") = -1)
      .def_static(
          "concat", [](const std::vector<const Joint*>& parts) { return joint_concat(parts, false); },
          arg("parts"))
      .def_static(
          "stack", [](const std::vector<const Joint*>& parts) { return joint_concat(parts, true); },
          arg("parts"));
}

}  // namespace varlen::bindings
