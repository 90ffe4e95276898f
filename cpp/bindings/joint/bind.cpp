// `_core.Joint` as Python sees it. The hot methods are plain C functions of the type; the rest is attached.
#include <pybind11/stl.h>

#include <algorithm>
#include <string_view>

#include "joint.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/keep.hpp"
#include "support/outputs.hpp"
#include "support/own_type.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace joint_bind {

using Object = Own<Joint>;

Joint& joint_in(PyObject* self) noexcept {
  return Object::unwrap(self);
}

Py_ssize_t length(PyObject* self) noexcept {
  return joint_in(self).size();
}

PyObject* get(PyObject* self, PyObject* index) noexcept {
  return guard([&]() -> PyObject* {
    Joint view = joint_in(self);
    if (!narrow(view, index)) Py_RETURN_NONE;
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
  return guard([&] {
    const Joint& joint = joint_in(self);
    const std::string_view column_name = text_in(name);
    const int c = joint.data().find(column_name);
    if (c < 0) throw py::key_error(std::string(column_name));
    return values_of(joint, static_cast<std::size_t>(c)).release().ptr();
  });
}

PyObject* dim(PyObject* self, PyObject* name) noexcept {
  return guard([&]() -> PyObject* {
    const Joint& joint = joint_in(self);
    const int c = joint.data().find(text_in(name));
    if (c < 0) Py_RETURN_NONE;
    return PyLong_FromLong(joint.dim(static_cast<std::size_t>(c)));
  });
}

/// Does a dict still hold these names and, behind them, these very objects, in this order?
PyObject* is_unchanged(PyObject*, PyObject* const* args, Py_ssize_t count) noexcept {
  if (count != 3 || !PyDict_Check(args[0]) || !PyTuple_Check(args[1]) || !PyTuple_Check(args[2]) ||
      PyTuple_GET_SIZE(args[1]) != PyTuple_GET_SIZE(args[2])) {
    PyErr_SetString(PyExc_TypeError, "unchanged: expected a dict and two tuples of one length");
    return nullptr;
  }
  if (PyDict_GET_SIZE(args[0]) != PyTuple_GET_SIZE(args[1])) Py_RETURN_FALSE;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t cursor = 0;
  for (Py_ssize_t i = 0; PyDict_Next(args[0], &cursor, &key, &value) != 0; ++i) {
    // Names that are equal but other objects are rare: the view is built anew then.
    if (key != PyTuple_GET_ITEM(args[1], i) || value != PyTuple_GET_ITEM(args[2], i)) Py_RETURN_FALSE;
  }
  Py_RETURN_TRUE;
}

std::vector<std::string> names_of(const Joint& joint) {
  std::vector<std::string> names;
  for (const Column& column : joint.data().columns) names.push_back(column.name);
  return names;
}

std::vector<int> dims_of(const Joint& joint) {
  std::vector<int> dims;
  dims.reserve(joint.data().columns.size());
  for (std::size_t c = 0; c < joint.data().columns.size(); ++c) dims.push_back(joint.dim(c));
  return dims;
}

PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return guard([&] {
    const Joint& joint = joint_in(self);
    const Joint own = Joint::from_data(joint.compact());
    const py::object count = py::int_(joint.depth() < 0 ? -1 : own.size());
    py::list arrays;
    py::list levels;
    for (const Column& column : own.data().columns) arrays.append(array_of(column));
    for (int d = 1; d <= own.depth(); ++d) levels.append(LevelRef(own.level(d)));
    const py::handle type(reinterpret_cast<PyObject*>(Object::type));
    return py::make_tuple(
               type, py::make_tuple(names_of(own), dims_of(own), arrays, levels, count, meta_of(own.data())))
        .release()
        .ptr();
  });
}

Joint make(const std::vector<std::string>& names, const std::vector<int>& dims, const py::sequence& values,
           const py::sequence& levels, std::int64_t count, py::object meta, std::string file) {
  if (names.size() != dims.size() || names.size() != values.size()) {
    raise_value("names, dims and values", "expected as many of each, got " + std::to_string(names.size()) +
                                              ", " + std::to_string(dims.size()) + " and " +
                                              std::to_string(values.size()));
  }
  auto data = std::make_shared<JointData>();
  data->meta = kept_by(std::move(meta));
  data->file = std::move(file);
  for (const auto item : levels) {
    if (LevelRef::is_level(item.ptr())) {
      data->add_level(LevelRef::unwrap(item).model());
      continue;
    }
    const Ints bounds = as_ints(item, ("dim" + std::to_string(data->depth() + 1) + "/bounds").c_str());
    data->add_bounds({bounds.data, bounds.count}, kept_by(bounds.keep));
  }
  for (std::size_t k = 0; k < names.size(); ++k) {
    data->add_column(names[k], dims[k], std::make_shared<ArrayValues>(as_rows(values[k], names[k].c_str())));
  }
  return Joint::make(std::move(data), count);
}

py::handle make_type(py::module_& m) {
  static PyMethodDef methods[] = {
      {"get", get, METH_O,
       "get(index)\n\nThe view for an int, a slice of step 1, or a tuple of ints and one final slice; None "
       "for anything else."},
      {"values", values, METH_O, "values(name)\n\nThe flat values of a key in this view, shared."},
      {"dim", dim, METH_O,
       "dim(name)\n\nThe dim of a key, below 0 where an integer index left it behind; None for no key."},
      {"unchanged", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(is_unchanged)),
       METH_FASTCALL | METH_STATIC,
       "unchanged(live, names, arrays)\n\nDoes the dict hold these very objects, in this order?"},
      {"__reduce__", reduce, METH_NOARGS, nullptr},
      {nullptr, nullptr, 0, nullptr},
  };
  using py::arg;
  return Object::make(
      m, "varlen._core.Joint", "Named columns that share their nesting from the top down, or a view.",
      py::cpp_function(&make, py::name("Joint"), arg("names"), arg("dims"), arg("values"), arg("levels"),
                       arg("count") = -1, arg("meta") = py::none(), arg("file") = ""),
      {{Py_tp_methods, methods}, {Py_mp_length, reinterpret_cast<void*>(length)}});
}

py::dict dense(const Joint& joint, std::string padding_side, std::string truncate, py::object fill,
               py::object out, std::vector<std::int64_t> max_sizes, bool masks, bool empty_keys,
               std::int64_t max_bytes) {
  return joint_dense(
      joint, {std::move(padding_side), std::move(truncate), std::move(fill), std::move(out),
              std::move(max_sizes), masks, empty_keys, max_bytes < 0 ? default_max_bytes() : max_bytes});
}

std::int64_t rows(const Joint& joint, int dim) {
  if (dim < 0 || dim > joint.depth()) {
    const std::string counts = std::to_string(joint.depth() + 1) + " dims";
    raise_index("", "dim " + std::to_string(dim) + " is out of range for " + counts, std::nullopt, dim);
  }
  return joint.range(dim).size();
}

int checked_dim(const Joint& joint, int dim) {
  if (dim < 1 || dim > joint.depth()) {
    const std::string counts = std::to_string(std::max(joint.depth(), 0)) + " levels";
    raise_index("", "level " + std::to_string(dim) + " is out of range for " + counts, std::nullopt, dim);
  }
  return dim;
}

py::array bounds(const Joint& joint, int d) {
  (void)checked_dim(joint, d);
  py::array out = empty_ints(joint.range(d - 1).size());
  joint.bounds(d, ints(out));
  return out;
}

Joint with_column(const Joint& joint, const std::string& name, int dim, py::handle values, py::object meta) {
  return joint.with_column(name, dim, std::make_shared<ArrayValues>(as_rows(values, name.c_str())),
                           kept_by(std::move(meta)));
}

/// How many bytes a share of `rows` of the outer rows has, about.
std::int64_t bytes_about(const Joint& joint, std::int64_t rows) {
  std::int64_t bytes = 0;
  for (std::size_t c = 0; c < joint.data().columns.size(); ++c) {
    bytes += joint.column_range(c).size() * joint.data().columns[c].values->rows().width;
  }
  const std::int64_t size = std::max<std::int64_t>(joint.size(), 1);
  return rows <= size ? bytes / size * rows : bytes;
}

Joint take(const Joint& joint, py::handle index) {
  const Ints rows = as_ints(index, "index");
  const GilRelease gil_release(bytes_about(joint, rows.count));
  return joint.take(rows.data, rows.count);
}

Joint concat(const std::vector<const Joint*>& parts, bool stack) {
  std::int64_t bytes = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    bytes += bytes_about(*parts[p], parts[p]->size());
    const auto& meta = parts[p]->data().meta;
    if (meta == parts[0]->data().meta) continue;
    if (!meta_of(parts[p]->data()).equal(meta_of(parts[0]->data()))) {
      raise_value("parts",
                  "part " + std::to_string(p) +
                      " has other vocabularies, units or row ids than the first; make them one before");
    }
  }
  const GilRelease gil_release(bytes);
  return varlen::joint_concat(parts, stack);
}

/// One row of NaN or NaT for values that have it; null for others.
std::shared_ptr<const Values> not_a_number(const Values& values) {
  auto row = missing_row(static_cast<const ArrayValues&>(values).array());
  return row ? std::make_shared<ArrayValues>(std::move(*row)) : nullptr;
}

Joint flatten(const Joint& joint, const std::string& fill_mode, const py::dict& fillers) {
  if (joint.depth() >= 1 && fill_mode != "first" && fill_mode != "repeat" && fill_mode != "nan") {
    raise_value("fill_mode", "expected 'first', 'repeat' or 'nan', got '" + fill_mode + "'");
  }
  const bool is_nan = fill_mode == "nan";
  return joint.flatten(
      fill_mode == "repeat" ? FillMode::repeat : FillMode::first,
      [&fillers, is_nan](const std::string& name, const Values& values) -> std::shared_ptr<const Values> {
        const py::str key(name);
        if (!fillers.contains(key)) return is_nan ? not_a_number(values) : nullptr;
        auto row = std::make_shared<ArrayValues>(as_rows(fillers[key], name.c_str()));
        if (row->rows().count != 1 || row->rows().width != values.rows().width) {
          raise_value("between of '" + name + "': expected one row like those of its values");
        }
        return row;
      });
}

}  // namespace joint_bind

Joint* joint_of(PyObject* object) noexcept {
  using namespace joint_bind;
  return Object::is(object) ? &joint_in(object) : nullptr;
}

py::object wrap(Joint joint) {
  using namespace joint_bind;
  return py::reinterpret_steal<py::object>(Object::create(std::move(joint)));
}

void bind_joint(py::module_& m) {
  using namespace joint_bind;
  using py::arg;
  Attach(make_type(m))
      .property("depth", &Joint::depth, "Ragged levels that are left; -1 where every dim was indexed away.")
      .property("names", names_of, "The keys, in their order.")
      .property("dims", dims_of, "The dim of each name; below 0 where an integer index left it behind.")
      .property(
          "meta", [](const Joint& j) { return meta_of(j.data()); }, "What was given with the names.")
      .def("row", &Joint::row, arg("i"))
      .def("slice", &Joint::slice, arg("begin"), arg("end"))
      .def("take", take, arg("index"), "The rows of an integer index, in its order, as columns of their own.")
      .def("rows", rows, arg("dim"), "How many rows a dim has in this view.")
      .def("bounds", bounds, arg("dim"), "int64, the ends of the sequences of a level, counted from 0.")
      .def(
          "level", [](const Joint& j, int d) { return LevelRef(j.level(checked_dim(j, d))); }, arg("dim"),
          "The Level, shared where the view is whole.")
      .def("select", &Joint::select, arg("names"))
      .def("rename", &Joint::rename, arg("names"))
      .def("with_column", with_column, arg("name"), arg("dim"), arg("values"), arg("meta") = py::none())
      .def(
          "with_meta", [](const Joint& j, py::object meta) { return j.with_meta(kept_by(std::move(meta))); },
          arg("meta"))
      .def("squeeze", &Joint::squeeze)
      .def("unsqueeze", &Joint::unsqueeze)
      .def("flatten", flatten, arg("fill_mode") = "first", arg("between") = py::dict())
      .def("check", &Joint::check, "Reads every bound of the view once and refuses what does not fit.")
      .def("compact", [](const Joint& j) { return Joint::from_data(j.compact()); })
      .def("dense", dense, arg("padding_side") = "right", arg("truncate") = "right", arg("fill") = py::none(),
           arg("out") = py::none(), arg("max_sizes") = std::vector<std::int64_t>{}, arg("masks") = true,
           arg("empty_keys") = true, arg("max_bytes") = -1)
      .def_static(
          "concat", [](const std::vector<const Joint*>& parts) { return concat(parts, false); }, arg("parts"))
      .def_static(
          "stack", [](const std::vector<const Joint*>& parts) { return concat(parts, true); }, arg("parts"));
}

}  // namespace varlen::bindings
