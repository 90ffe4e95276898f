// Nested lists whose rows are arrays, and casts that are checked.
#include <vector>

#include "errors.hpp"
#include "pieces.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

/// The arrays in order. Empty lists have nothing to say about dtype or trailing dimensions.
struct ArrayRows {
  const Shape& shape;
  const char* name;
  std::vector<PyObject*> rows;
  std::int64_t place = 0;

  void gather(PyObject* node, int steps) {
    if (!is_list(node)) {
      rows.push_back(node);
      ++place;
    } else if (steps == 0) {
      if (items_of(node).size > 0) {
        raise_value(path_of(shape, shape.depth() - 1, place, name),
                    "a list of numbers beside arrays of two dimensions and more");
      }
      ++place;
    } else {
      const Items items = items_of(node);
      for (Py_ssize_t i = 0; i < items.size; ++i) gather(items.data[i], steps - 1);
    }
  }
};

/// Refuses integers beside floats that float32 does not hold.
void refuse_rounded(const ArrayRows& array_rows, const char* name) {
  for (std::size_t i = 0; i < array_rows.rows.size(); ++i) {
    const auto row = py::reinterpret_borrow<py::object>(array_rows.rows[i]);
    const auto number = number_of(fields_of(row.ptr())->descr);
    if (!number) continue;
    const py::array flat = numpy("ascontiguousarray")(row).attr("reshape")(-1);
    const auto* const data = data_of(flat);
    const std::int64_t bad = first_rounded(*number, data, width_of(*number), flat.size(), Number::f32);
    if (bad < 0) continue;
    const std::string path =
        path_of(array_rows.shape, array_rows.shape.depth() - 1, static_cast<std::int64_t>(i), name);
    raise_rounded(path + "[" + std::to_string(bad) + "]", flat.attr("item")(bad), "float32");
  }
}

py::array flat_of(const py::object& values) {
  return values.attr("reshape")(-1).cast<py::array>();
}

py::object reshape_like(const py::array& flat, const py::object& like) {
  return like.attr("ndim").cast<int>() == 1 ? py::object(flat) : flat.attr("reshape")(like.attr("shape"));
}

py::object narrow_to(const py::object& values, const Request& request) {
  py::object from = values;
  const std::string kind = values.attr("dtype").attr("kind").cast<std::string>();
  if (kind == "f" && fields_of(values.ptr())->nd > 0 && !number_of(fields_of(values.ptr())->descr)) {
    from = values.attr("astype")("float64");  // float16 and long double
  }
  const auto number = number_of(fields_of(from.ptr())->descr);
  if (!number) raise_value("Vals must all be ints, floats, or bools");
  const py::array flat = flat_of(from);
  LeafWriter writer(flat.size(), request.want);
  writer.begin(carrier_of(*number));
  try {
    writer.put(*number, data_of(flat), width_of(*number), flat.size());
    return reshape_like(writer.finish(), values);
  } catch (const Misfit&) {
    const std::string minimum = py::str(py::float_(numpy("nanmin")(flat)));
    const std::string greatest = py::str(py::float_(numpy("nanmax")(flat)));
    raise_value("Cannot store range [" + minimum + ", " + greatest +
                "] as np.float32 (the only supported float dtype).");
  }
}

std::int64_t elements_of_row(const py::object& values) {
  return values.attr("size").cast<std::int64_t>() /
         std::max<std::int64_t>(1, fields_of(values.ptr())->dimensions[0]);
}

/// Places are counted in elements; the path ends at the row that holds them.
std::string path_to(const Shape& shape, std::int64_t place, std::int64_t per_row, const char* name) {
  const std::string path = path_of(shape, shape.depth(), place / per_row, name);
  return per_row == 1 ? path : path + "[" + std::to_string(place % per_row) + "]";
}

py::object by_number(const py::object& values, Number from, const Shape& shape, const Request& request) {
  const py::array flat = flat_of(values);
  const Py_intptr_t size[] = {flat.size()};
  py::array out = empty(request.dtype.ptr(), 1, size);
  const std::int64_t bad = convert_numbers(from, data_of(flat), width_of(from), flat.size(),
                                           *request.want.number, static_cast<std::byte*>(out.mutable_data()));
  if (bad >= 0) {
    raise_unfit(path_to(shape, bad, elements_of_row(values), request.name), flat.attr("item")(bad),
                request.dtype);
  }
  return reshape_like(out, values);
}

}  // namespace

py::object cast_checked(const py::object& values, const Shape& shape, const Request& request) {
  const Api& api = Api::get();
  PyObject* from = fields_of(values.ptr())->descr;
  if (api.PyArray_EquivTypes_(from, request.dtype.ptr())) return values;
  if (request.want.number) {
    if (const auto number = number_of(from)) return by_number(values, *number, shape, request);
  }
  const char kind = py::detail::array_descriptor_proxy(from)->kind;
  const char to = py::reinterpret_borrow<py::dtype>(request.dtype).kind();
  const bool user_type = py::detail::array_descriptor_proxy(request.dtype.ptr())->type_num >= 256 ||
                         py::detail::array_descriptor_proxy(from)->type_num >= 256;
  const auto source = py::reinterpret_borrow<py::object>(from);
  const auto is_time = [](char one) { return one == 'M' || one == 'm'; };
  // A number is no time, whatever NumPy makes of it, and a date is no duration.
  const bool is_other =
      kind != to && (is_time(to) || (is_time(kind) && to != 'U' && to != 'S') || (kind == 'c' && user_type));
  const bool is_empty = values.attr("size").cast<std::int64_t>() == 0;
  if (is_other ? !is_empty
               : !user_type && !numpy("can_cast")(source, request.dtype, "same_kind").cast<bool>() &&
                     !(kind == 'f' && (to == 'i' || to == 'u'))) {
    const std::string reason = " values do not go into " + std::string(py::str(request.dtype));
    if (is_empty) raise_type(request.name, std::string(py::str(source)) + reason);
    raise_type(path_to(shape, 0, elements_of_row(values), request.name),
               std::string(py::str(source)) + reason + ", such as " +
                   std::string(py::str(flat_of(values)[py::int_(0)])));
  }
  if (request.want.number || to == 'i' || to == 'u') {
    // From float16 and the like into checked numbers, and from those into the other byte order.
    Request native = request;
    native.dtype = request.dtype.attr("newbyteorder")("=");
    native.want.number = number_of(native.dtype.ptr());
    const bool is_small = user_type && numpy("can_cast")(source, "float64").cast<bool>();
    const py::object wide = kind == 'f' || is_small ? values.attr("astype")("float64") : values;
    const py::object exact =
        number_of(fields_of(wide.ptr())->descr) ? cast_checked(wide, shape, native) : wide;
    return exact.attr("astype")(request.dtype, py::arg("copy") = false);
  }
  const auto raise_lost = [&](const py::object& mismatch) {
    const auto place = numpy("argmax")(mismatch).cast<std::int64_t>();
    const py::object leaf = flat_of(values).attr("__getitem__")(place);
    raise_unfit(path_to(shape, place, elements_of_row(values), request.name),
                to == 'f' ? leaf.attr("item")() : leaf, request.dtype);
  };
  if (kind == to && (to == 'M' || to == 'm')) {  // a finer unit ends sooner, a coarser one cuts
    py::object out = values.attr("astype")(request.dtype);
    const py::object round_trip = out.attr("astype")(source).attr("view")("i8");
    const py::object mismatch = numpy("not_equal")(round_trip, values.attr("view")("i8"));
    if (mismatch.attr("any")().cast<bool>()) raise_lost(mismatch);
    return out;
  }
  const py::object silent = numpy("errstate")(py::arg("over") = "ignore");
  silent.attr("__enter__")();
  py::object out;
  try {
    out = values.attr("astype")(request.dtype);
  } catch (...) {
    silent.attr("__exit__")(py::none(), py::none(), py::none());
    throw;
  }
  silent.attr("__exit__")(py::none(), py::none(), py::none());
  if (to == 'f' || to == 'c' || user_type) {
    const py::object mismatch = numpy("isfinite")(values) & ~numpy("isfinite")(out);
    if (mismatch.attr("any")().cast<bool>()) raise_lost(mismatch);
  }
  return out;
}

py::object from_array_rows(PyObject* root, const Shape& shape, const Request& request) {
  ArrayRows array_rows{shape, request.name, {}};
  array_rows.gather(root, shape.depth());
  const std::vector<PyObject*>& rows = array_rows.rows;
  std::vector<std::int64_t> offsets(rows.size() + 1);
  Pieces pieces(rows.data(), static_cast<Py_ssize_t>(rows.size()), request.name, offsets.data());
  py::array out = pieces.flat(offsets.data(), nullptr);
  if (!request.want.narrow) return out;
  if (out.dtype().kind() == 'f') refuse_rounded(array_rows, request.name);
  return narrow_to(out, request);
}

}  // namespace varlen::bindings
