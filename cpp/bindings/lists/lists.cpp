// Nested Python lists to values and levels: which dtype, which path, and what to say when it cannot be.
#include "lists.hpp"

#include "errors.hpp"
#include "fill.hpp"
#include "level/level.hpp"
#include "pieces.hpp"
#include "request.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// The dtype that NumPy gives the kinds that were seen, where the carrier alone does not tell.
py::object natural(const py::array& values, Kinds kinds) {
  const Kinds floats = kHalf | kind_bit(Number::f32) | kind_bit(Number::f64);
  const auto carrier = *number_of(fields_of(values.ptr())->descr);
  const Kinds own =
      kind_bit(Number::boolean) | kind_bit(carrier) | (carrier == Number::f64 ? kind_bit(Number::i64) : 0);
  // An int64 that is there makes int64, and a large int uint64: exact where NumPy would go to float64.
  if ((kinds & ~own) == 0 || (carrier == Number::u64 && (kinds & floats) == 0)) return values;
  py::list types;
  for (unsigned i = 0; i <= static_cast<unsigned>(Number::f64); ++i) {
    if ((kinds & (1U << i)) != 0) types.append(dtype_of(static_cast<Number>(i)));
  }
  if ((kinds & kHalf) != 0) types.append(py::dtype("float16"));
  const py::object dtype = numpy("result_type")(*types);
  return values.attr("astype")(dtype, py::arg("copy") = false);
}

/// Complex numbers, dates, records and the like: NumPy sees all leaves at once and says what they are.
py::object by_numpy(PyObject* root, const Shape& shape, const Request& request) {
  if (request.want.narrow) raise_value("Vals must all be ints, floats, or bools");
  const py::list leaves = flat_leaves(root, shape.depth());
  const auto as_array = [&](const py::object& dtype) {
    return py::object(numpy("array")(leaves, py::arg("dtype") = dtype));
  };
  // NumPy changes numbers of another kind in silence, where a dtype of numbers is asked for.
  const bool has_kind =
      is_given(request.dtype.ptr()) && !request.want.number &&
      std::string("biufc").find(py::reinterpret_borrow<py::dtype>(request.dtype).kind()) == std::string::npos;
  py::object values;
  try {
    values = as_array(has_kind ? request.dtype : py::object(py::none()));
  } catch (const py::error_already_set& error) {
    if (!has_kind || !(error.matches(PyExc_TypeError) || error.matches(PyExc_ValueError))) throw;
    values = as_array(py::none());  // an error names what does not go into the dtype
  }
  const std::string kind = values.attr("dtype").attr("kind").cast<std::string>();
  const auto refuse_other = [&](std::size_t i, const py::object& common) {
    const auto path = path_of(shape, shape.depth(), static_cast<std::int64_t>(i), request.name);
    (void)as_common(numpy("asarray")(py::object(leaves[i])), common, path);
  };
  if (kind == "O") {
    const py::object first = numpy("asarray")(py::object(leaves[0])).attr("dtype");
    for (std::size_t i = 1; i < leaves.size(); ++i) refuse_other(i, first);
    raise_invalid_leaf(root, request.name);
  }
  if (fields_of(values.ptr())->nd != 1 || kind.find_first_of("OSUT") != std::string::npos) {
    raise_type(request.name,
               "the leaves have no common dtype but " + py::str(values.attr("dtype")).cast<std::string>());
  }
  if (kind == "c" || kind == "M" || kind == "m") {  // what NumPy rounds or takes for a time in silence
    const py::object common = values.attr("dtype");
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const py::object leaf = leaves[i];
      if (kind == "c" && (PyComplex_CheckExact(leaf.ptr()) || PyFloat_CheckExact(leaf.ptr()))) continue;
      if (py::hasattr(leaf, "dtype") &&
          Api::get().PyArray_EquivTypes_(py::object(leaf.attr("dtype")).ptr(), common.ptr())) {
        continue;
      }
      refuse_other(i, common);
    }
  }
  return values;
}

py::object from_leaves(PyObject* root, const Shape& shape, const Request& request) {
  for (const bool floats : {false, true}) {
    Walker walker(shape, request.want, request.name);
    try {
      py::array values = walker.run(root, floats);
      const bool any_float = (walker.kinds() & (kHalf | kind_bit(Number::f32) | kind_bit(Number::f64))) != 0;
      if (floats && !any_float) raise_wide(root, shape, request);
      if (request.want.narrow || request.want.number) return values;
      return natural(values, walker.kinds());
    } catch (const Misfit& misfit) {
      // Integers that fit no integer type are still fine beside floats: once more, all as floats.
      if (misfit.why != Misfit::Why::signs || floats) raise_misfit(misfit, root, shape, request);
    } catch (const NeedsNumpy&) {
      return by_numpy(root, shape, request);
    }
  }
  return py::none();  // not reached
}

}  // namespace

py::object read_lists(PyObject* root, int depth, const Request& request) {
  if (depth < 0) depth = depth_of(root, request.name);
  if (depth > kMaxDepth) raise_deep(request.name);
  Shape shape = shape_of(root, depth, request.name);
  if (request.want.narrow && shape.total == 0) {
    raise_value("Cannot infer dtype from empty values; provide an explicit `schema=`.");
  }
  py::object values = shape.any_array && (shape.any_block || !shape.any_list)
                          ? from_array_rows(root, shape, request)
                          : from_leaves(root, shape, request);
  if (is_given(request.dtype.ptr())) values = cast_checked(values, shape, request);
  py::list levels;
  for (NewLevel& level : shape.levels) levels.append(std::move(level).finish());
  return py::make_tuple(values, levels);
}

namespace {

constexpr Signature<6> kFromLists{"from_lists", {"lists", "depth", "dtype", "narrow", "name", "plain"}, 1, 4};

py::object from_lists(const Arguments<6>& args) {
  Request request;
  const std::string name = is_given(args[4]) ? py::cast<std::string>(args[4]) : "values";
  request.name = name.c_str();
  request.want.narrow = args[3] != nullptr && truth_of(args[3], "narrow");
  if (is_given(args[2])) {
    if (request.want.narrow) raise_value("narrow", "a dtype was given too");
    request.dtype = dtype_given(args[2]);
    request.want.number = number_of(request.dtype.ptr());
  }
  const int depth =
      is_given(args[1]) ? static_cast<int>(std::min<std::int64_t>(int_of(args[1], "depth"), 1000)) : -1;
  PyObject* root = args[0];
  const bool array = is_array(root, Api::get());
  if (never_a_number(root) || is_number(root) || (array && fields_of(root)->nd == 0)) {
    raise_type(name, "expected a list, tuple or array, got " + type_name(root));
  }
  try {
    if (!is_list(root) && !(array && !holds_objects(fields_of(root)->descr))) throw NeedsPython{};
    return read_lists(root, depth, request);
  } catch (const NeedsPython&) {  // NOLINT(bugprone-empty-catch)
    // Below, with nothing of the walk left.
  }
  if (args[5] != nullptr && truth_of(args[5], "plain")) return py::none();
  refuse_cycles(root, name);
  const py::object copy = plain_copy(root);
  try {
    if (!is_list(copy.ptr()) && !is_array(copy.ptr(), Api::get())) throw NeedsPython{};
    return read_lists(copy.ptr(), depth, request);
  } catch (const NeedsPython&) {
    raise_invalid_leaf(copy.ptr(), name);
  }
}

constexpr Signature<2> kRefuseCycles{"refuse_cycles", {"nested", "name"}};

py::object refuse_cycles_in(const Arguments<2>& args) {
  refuse_cycles(args[0], py::cast<std::string>(args[1]));
  return py::none();
}

PyMethodDef lists_methods[] = {
    method<kRefuseCycles, refuse_cycles_in>("refuse_cycles(nested, name)\n--\n\n"
                                            "ValueError for lists and tuples that contain themselves."),
    method<kFromLists, from_lists>(
        "from_lists(lists, depth=-1, dtype=None, narrow=False, *, name='values', plain=False)\n--\n\n"
        "Flat values and one Level for each depth of nesting; with `plain`, None where an object is\n"
        "neither a list, an array nor a number."),
    {},
};

}  // namespace

void bind_lists(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), lists_methods) != 0) throw py::error_already_set();
  add_list2dense(m);
  add_list_columns(m);
  add_list2ragged(m);
  add_list_flat(m);
  add_list_views(m);
}

}  // namespace varlen::bindings
