#include "errors.hpp"

#include <cmath>

#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

void gather(PyObject* node, int steps, py::list& out) {
  if (!is_list(node)) {
    out.attr("extend")(py::handle(node));
    return;
  }
  const Items items = items_of(node);
  for (Py_ssize_t i = 0; i < items.size; ++i) {
    if (steps > 0) {
      gather(items.data[i], steps - 1, out);
    } else {
      out.append(py::handle(items.data[i]));
    }
  }
}

std::string text_of(const py::object& object) {
  const std::string text = py::repr(object);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

bool is_float(const py::handle& leaf) {
  return PyFloat_Check(leaf.ptr()) || py::isinstance(leaf, numpy("floating"));
}

void find_invalid_leaf(PyObject* object, const std::string& path, int level = 0) {
  if (level > kMaxDepth + 1) return;  // nested deeper than anything that is taken
  if (is_list(object)) {
    const Items items = items_of(object);
    for (Py_ssize_t i = 0; i < items.size; ++i)
      find_invalid_leaf(items.data[i], path + "[" + std::to_string(i) + "]", level + 1);
  } else if (!is_number(object) && !is_array(object, Api::get())) {
    const PyNumberMethods* slots = Py_TYPE(object)->tp_as_number;
    if (!never_a_number(object) && slots != nullptr && slots->nb_float != nullptr) {
      const auto self = py::reinterpret_borrow<py::object>(object);
      if (!plain_copy(object, kMaxDepth).is(self)) return;  // a float holds it
      raise_overflow(path, text_of(self) + " has more digits than float64");
    }
    raise_type(path, "expected a number, got " + type_name(object));
  }
}

/// The least and the greatest leaf as upstream prints them: floats where NumPy makes floats of all.
std::pair<py::object, py::object> range_of(const py::list& leaves, bool as_floats) {
  const py::module_ builtins = py::module_::import("builtins");
  if (as_floats) {
    try {
      const py::object all = numpy("array")(leaves, py::arg("dtype") = "float64");
      return {py::float_(numpy("nanmin")(all)), py::float_(numpy("nanmax")(all))};
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_OverflowError)) throw;
    }
  }
  return {builtins.attr("min")(leaves), builtins.attr("max")(leaves)};
}

}  // namespace

py::list flat_leaves(PyObject* root, int depth) {
  py::list out;
  gather(root, depth, out);
  return out;
}

void raise_unfit(const std::string& path, const py::object& leaf, const py::object& dtype) {
  const std::string name = py::str(dtype);
  const std::string number = text_of(leaf);
  const char kind = py::reinterpret_borrow<py::dtype>(dtype).kind();
  if (kind == 'b') raise_value(path, number + " is neither 0 nor 1, as bool asks");
  if ((kind == 'i' || kind == 'u') && is_float(leaf)) {
    const double value = leaf.cast<double>();
    if (value != numpy("floor")(value).cast<double>() || !std::isfinite(value)) {
      raise_value(path, number + " is not a whole number, as " + name + " asks");
    }
  }
  raise_overflow(path, number + " does not fit " + name);
}

void raise_rounded(const std::string& path, const py::object& leaf, const std::string& dtype) {
  Record record{path, text_of(leaf) + " does not fit " + dtype + ", which the numbers beside it need"};
  record.advice = "give a dtype";
  raise_overflow(record);
}

void raise_wide(PyObject* root, const Shape& shape, const Request& request) {
  find_invalid_leaf(root, request.name);  // what is no number cannot be compared with one
  const py::list leaves = flat_leaves(root, shape.depth());
  const auto [lowest, greatest] = range_of(leaves, false);
  if (request.want.narrow) {
    raise_value("No valid type available for " + std::string(py::str(lowest)) + " - " +
                std::string(py::str(greatest)) + "!");
  }
  const py::int_ low(INT64_MIN);
  const py::int_ high(UINT64_MAX);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const py::object leaf = leaves[i];
    if (leaf < low || leaf > high) {
      raise_overflow(path_of(shape, shape.depth(), static_cast<std::int64_t>(i), request.name),
                     text_of(leaf) + " does not fit 64 bits");
    }
  }
  raise_overflow(request.name,
                 "no 64-bit integer type holds both " + text_of(lowest) + " and " + text_of(greatest));
}

void raise_misfit(const Misfit& misfit, PyObject* root, const Shape& shape, const Request& request) {
  const py::list leaves = flat_leaves(root, shape.depth());
  bool any_float = false;
  for (const py::handle leaf : leaves) any_float = any_float || is_float(leaf);
  if (misfit.why == Misfit::Why::rounding && any_float) {
    raise_rounded(path_of(shape, shape.depth(), misfit.place, request.name),
                  leaves[static_cast<std::size_t>(misfit.place)],
                  request.want.narrow ? "float32" : "float64");
  }
  if (request.want.narrow) {
    if (!any_float) raise_wide(root, shape, request);
    const auto [lowest, greatest] = range_of(leaves, true);
    raise_value("Cannot store range [" + std::string(py::str(lowest)) + ", " +
                std::string(py::str(greatest)) + "] as np.float32 (the only supported float dtype).");
  }
  const py::object leaf = leaves[static_cast<std::size_t>(misfit.place)];
  const std::string path = path_of(shape, shape.depth(), misfit.place, request.name);
  if (request.want.number) raise_unfit(path, leaf, request.dtype);
  if (!any_float) raise_wide(root, shape, request);
  raise_overflow(path, text_of(leaf) + " does not fit float64");
}

void raise_invalid_leaf(PyObject* object, const std::string& path) {
  refuse_cycles(object, path);
  find_invalid_leaf(object, path);
  raise_type(path, "expected nested lists of numbers");
}

}  // namespace varlen::bindings
