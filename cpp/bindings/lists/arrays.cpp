// Lists of arrays laid end to end. One walk over the objects, then memory only.
#include "support/arrays.hpp"

#include "concat/concat.hpp"
#include "level/level.hpp"
#include "lists.hpp"
#include "request.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

py::object array_list(PyObject* arrays, const char* name) {
  auto fast = py::reinterpret_steal<py::object>(PySequence_Fast(arrays, ""));
  if (fast) return fast;
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
  PyErr_Clear();
  raise_type(name, "expected a list of arrays, got " + type_name(arrays));
}

py::object dtype_given(PyObject* dtype) {
  if (!is_given(dtype)) return py::none();
  py::dtype result = dtype_named(dtype, "dtype");
  refuse_objects(result.ptr(), "dtype");
  return result;
}

void recast(Pieces& pieces, NewLevel& level, const py::object& dtype, py::object& keep, const char* name) {
  if (dtype.is_none() || Api::get().PyArray_EquivTypes_(pieces.descr(), dtype.ptr())) return;
  Request request;
  request.dtype = dtype;
  request.want.number = number_of(dtype.ptr());
  request.name = name;
  Shape shape;
  const py::array flat = pieces.flat(level.offsets(), nullptr);
  shape.levels.push_back(std::move(level));  // an error names places by it
  keep = cast_checked(flat, shape, request);
  level = std::move(shape.levels[0]);
  pieces.rebase(keep);
}

namespace {

constexpr Signature<3> kListToRagged{"list2ragged", {"arrays", "dtype", "out"}, 1, 3};

py::object list2ragged(const Arguments<3>& args) {
  const py::object dtype = dtype_given(args[1]);
  const py::object list = array_list(args[0], "arrays");
  if (lie_on_device(list)) {
    const JoinedRows block = join_there(list, "arrays", dtype, args[2]);
    return py::make_tuple(block.values, block.level);
  }
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(list.ptr());
  NewLevel level(count);
  Pieces pieces(PySequence_Fast_ITEMS(list.ptr()), count, "arrays", level.offsets());
  py::object keep;
  recast(pieces, level, dtype, keep);
  const py::array out = pieces.flat(level.offsets(), is_given(args[2]) ? args[2] : nullptr);
  return py::make_tuple(out, std::move(level).finish());
}

PyMethodDef lists_arrays_methods[] = {
    method<kListToRagged, list2ragged>("list2ragged(arrays, dtype=None, out=None)\n--\n\n"
                                       "Arrays laid end to end on axis 0, and the Level of their lengths."),
    {},
};

}  // namespace

void add_list2ragged(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), lists_arrays_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
