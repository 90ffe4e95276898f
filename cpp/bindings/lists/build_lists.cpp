// Values and levels back to lists: of views that share the values, or of Python numbers.
#include <vector>

#include "level/level.hpp"
#include "lists.hpp"
#include "shape.hpp"
#include "support/fastcall.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"
#include "views.hpp"

namespace varlen::bindings {

namespace {

/// The levels that were given, outermost first, and checked against each other and the values.
std::vector<Offsets> levels_of(PyObject* given_levels, PyObject* values) {
  std::vector<Offsets> levels;
  const auto add = [&](py::handle level) {
    LevelRef::expect(level, "levels", "Level objects");
    levels.push_back(LevelRef::unwrap(level).view());
  };
  if (is_list(given_levels)) {
    for (const py::handle level : py::reinterpret_borrow<py::sequence>(given_levels)) add(level);
  } else {
    add(given_levels);
  }
  const auto* array = fields_of(values);
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const std::int64_t rows = k + 1 < levels.size() ? levels[k + 1].count : array->dimensions[0];
    if (levels[k].total() == rows) continue;
    const std::string child_name = k + 1 < levels.size() ? "level " + std::to_string(k + 1) : "values";
    raise_value("levels", "level " + std::to_string(k) + " ends at " + std::to_string(levels[k].total()) +
                              ", but " + child_name + " has " + std::to_string(rows) + " rows");
  }
  return levels;
}

/// Nested lists over the levels; `leaf(begin, end)` makes what stands for one innermost sequence.
template <class Leaf>
py::object nest(const std::vector<Offsets>& levels, std::size_t k, Range range, const Leaf& leaf) {
  if (k == levels.size()) return leaf(range.begin, range.end);
  const Offsets& level = levels[k];
  py::object list = new_list(range.size());
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    py::object item = nest(levels, k + 1, {level.start(i), level.end(i)}, leaf);
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i - range.begin), item.release().ptr());
  }
  return list;
}

PyObject* python_number(bool value) {
  return PyBool_FromLong(value);
}
PyObject* python_number(std::int64_t value) {
  return PyLong_FromLongLong(value);
}
PyObject* python_number(std::uint64_t value) {
  return PyLong_FromUnsignedLongLong(value);
}
PyObject* python_number(double value) {
  return PyFloat_FromDouble(value);
}

/// Rows of plain numbers as lists, without the detour over NumPy's scalars.
class Numbers {
 public:
  Numbers(PyObject* values, Number number) : array_(fields_of(values)), number_(number) {}

  py::object operator()(std::int64_t begin, std::int64_t end) const {
    py::object list = new_list(end - begin);
    alignas(8) std::byte block[kBlock * 8];
    const auto* data = reinterpret_cast<const std::byte*>(array_->data);
    for (std::int64_t position = begin; position < end; position += kBlock) {
      const std::int64_t n = end - position < kBlock ? end - position : kBlock;
      load_numbers(number_, data + position * array_->strides[0], array_->strides[0], n, block);
      switch (carrier_of(number_)) {
        case Number::boolean:
          fill<bool>(list.ptr(), position - begin, block, n);
          break;
        case Number::u64:
          fill<std::uint64_t>(list.ptr(), position - begin, block, n);
          break;
        case Number::f64:
          fill<double>(list.ptr(), position - begin, block, n);
          break;
        default:
          fill<std::int64_t>(list.ptr(), position - begin, block, n);
      }
    }
    return list;
  }

 private:
  template <class T>
  static void fill(PyObject* list, std::int64_t position, const std::byte* block, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      PyObject* const number = python_number(reinterpret_cast<const T*>(block)[i]);
      if (number == nullptr) throw py::error_already_set();
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(position + i), number);
    }
  }

  static constexpr std::int64_t kBlock = 256;
  const py::detail::PyArray_Proxy* array_;
  Number number_;
};

constexpr Signature<2> kToViews{"ragged2list", {"values", "levels"}, 2, 2};

py::object ragged2list(const Arguments<2>& args) {
  PyObject* const values = array_argument(args[0]);
  const std::vector<Offsets> levels = levels_of(args[1], values);
  const Range all{0, levels.empty() ? fields_of(values)->dimensions[0] : levels[0].count};
  return nest(levels, 0, all, Views(values));
}

constexpr Signature<2> kToLists{"to_lists", {"values", "levels"}, 2, 2};

py::object to_lists(const Arguments<2>& args) {
  PyObject* const values = array_argument(args[0]);
  const std::vector<Offsets> levels = levels_of(args[1], values);
  const Range all{0, levels.empty() ? fields_of(values)->dimensions[0] : levels[0].count};
  const auto number = number_of(fields_of(values)->descr);
  if (number && fields_of(values)->nd == 1) return nest(levels, 0, all, Numbers(values, *number));
  const py::object flat = py::handle(values).attr("tolist")();
  return nest(levels, 0, all, [&](std::int64_t begin, std::int64_t end) {
    auto part = py::reinterpret_steal<py::object>(
        PyList_GetSlice(flat.ptr(), static_cast<Py_ssize_t>(begin), static_cast<Py_ssize_t>(end)));
    if (!part) throw py::error_already_set();
    return part;
  });
}

PyMethodDef lists_back_methods[] = {
    method<kToViews, ragged2list>(
        "ragged2list(values, levels)\n--\n\n"
        "Each sequence as a view of values; lists of lists of them below more levels."),
    method<kToLists, to_lists>("to_lists(values, levels)\n--\n\n"
                               "Nested Python lists of Python numbers, as ndarray.tolist gives them."),
    {},
};

}  // namespace

void add_list_views(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), lists_back_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
