// Running sums, products and extremes of sequences, and the ways back.
#include "varlen/scan.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "cast/cast.hpp"
#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/dtypes.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

Scan scan_named(PyObject* name) {
  constexpr const char* kNames[] = {"sum", "prod", "max", "min"};
  for (int i = 0; i < 4; ++i) {
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, kNames[i]) == 0) {
      return static_cast<Scan>(i);
    }
  }
  raise_value("op", "there is none called " + std::string(py::repr(py::handle(name))));
}

/// The job of scanning `values` by a level of their rows.
ScanJob job_of(Scan op, const Numbers& values, Level& level, PyObject* exclusive, PyObject* reverse) {
  ScanJob job;
  job.op = op;
  job.type = values.type;
  job.level = offsets_at(place_of(values.array), level);
  job.longest = level.length_limit();
  job.values = data_of(values.array);
  job.columns = values.columns();
  job.exclusive = exclusive != nullptr && truth_of(exclusive, "exclusive");
  job.reverse = reverse != nullptr && truth_of(reverse, "reverse");
  return job;
}

/// Numbers of the same shape as those of `like`.
void check_shape(const py::array& input, const char* name, const py::array& like, const char* other) {
  const Extents has = shape_of(input);
  const Extents needs = shape_of(like);
  if (has.size() == needs.size() && std::equal(has.begin(), has.end(), needs.begin())) return;
  raise_value(name, "expected " + text_of(needs) + " as " + other + ", got " + text_of(has));
}

void check_floats(const Numbers& numbers, const char* name) {
  if (is_float(numbers.type)) return;
  raise_type(name, "expected floats, got " + str_of(numbers.array.dtype()));
}

constexpr Signature<6> kScan{"scan", {"op", "values", "level", "exclusive", "reverse", "out"}, 3, 6};

py::object scan_array(const Arguments<6>& args) {
  const auto [given_op, given_values, given_level, exclusive, reverse, given_out] = args;
  const Scan op = scan_named(given_op);
  const Numbers values = placed_numbers_of(given_values, "X");
  const Place place = place_of(values.array);
  const LevelRef level = level_over(given_level, "X", values.array.shape(0));
  const ScanJob job = job_of(op, values, LevelRef::unwrap(level), exclusive, reverse);
  const Type result = scanned_type(op, job.type);
  const py::dtype dtype = result == job.type    ? values.array.dtype()
                          : result == Type::u64 ? py::dtype::of<std::uint64_t>()
                                                : py::dtype::of<std::int64_t>();
  const Extents shape = values.rows(level->total());
  py::array out = out_at(place, given_out, dtype, shape, {given_values, values.array});
  std::byte* const to = bytes(out);
  const ScratchAt scratch(place, place.kernels->scan_scratch(job, level->total()));
  launch(place, "scan", 2 * out.nbytes(), &cuda::Kernels::scan, job, level->total(), scratch.data(), to);
  return out;
}

constexpr Signature<4> kWhich{"scan_which", {"found", "level", "exclusive", "reverse"}, 2, 4};

py::object which_of(const Arguments<4>& args) {
  const auto [given_found, given_level, exclusive, reverse] = args;
  const Numbers targets = placed_numbers_of(given_found, "found");
  const Place place = place_of(targets.array);
  const LevelRef level = level_over(given_level, "found", targets.array.shape(0));
  const ScanJob job = job_of(Scan::max, targets, LevelRef::unwrap(level), exclusive, reverse);
  py::array which = empty_at(place, py::dtype::of<std::int64_t>(), shape_of(targets.array));
  const ScratchAt scratch(place, place.kernels->scan_scratch(job, level->total()));
  launch(place, "scan_which", 2 * which.nbytes(), &cuda::Kernels::scan_which, job, level->total(),
         scratch.data(), ints(which));
  return which;
}

/// Places inside of the sequences of dY, at its place. Those of the host are checked, those of a device are
/// left out where they lie outside.
PlacedInts which_rows(const Place& place, PyObject* input, const Numbers& dy, Level& level) {
  if (is_device_array(input)) {
    py::array which = rows_at(place, input, "which");
    check_shape(which, "which", dy.array, "dY");
    const std::optional<Type> type = type_of(which.dtype());
    if (!type || *type == Type::b1 || is_float(*type)) {
      raise_type("which", "expected integers, got dtype " + str_of(which.dtype()));
    }
    if (*type != Type::i64) which = cast_at(place, which, py::dtype::of<std::int64_t>(), Fill{});
    return {which, static_cast<const std::int64_t*>(which.data()), which.size()};
  }
  const py::array rows = as_rows(input, "which");
  check_shape(rows, "which", dy.array, "dY");
  const Ints which = as_ints(rows.attr("reshape")(-1), "which");
  const std::int64_t columns = dy.columns();
  const Status status = scan_which_check(level.view(), columns, which.data);
  if (!status.ok()) {
    const std::int64_t row = status.where / columns;
    raise_index("which",
                std::to_string(status.value) + " in row " + std::to_string(row) + " is outside its sequence",
                row, status.value);
  }
  return ints_at(place, which);
}

constexpr Signature<4> kWhichBack{"backprop_scan_which", {"dY", "which", "level", "out"}, 3, 4};

py::object which_back(const Arguments<4>& args) {
  const auto [given_dy, given_which, given_level, given_out] = args;
  const Numbers dy = placed_numbers_of(given_dy, "dY");
  const Place place = place_of(dy.array);
  check_floats(dy, "dY");
  const LevelRef level = level_over(given_level, "dY", dy.array.shape(0));
  const PlacedInts which = which_rows(place, given_which, dy, LevelRef::unwrap(level));
  const Extents shape = shape_of(dy.array);
  const py::dtype dtype = dy.array.dtype();
  py::array out = out_at(place, given_out, dtype, shape, {given_dy, dy.array, given_which, which.keep});
  launch(place, "backprop_scan_which", 2 * out.nbytes(), &cuda::Kernels::scan_which_back, dy.type,
         data_of(dy.array), offsets_at(place, LevelRef::unwrap(level)), level->total(), dy.columns(),
         which.data, bytes(out));
  return out;
}

constexpr Signature<6> kProdBack{
    "backprop_cumprod", {"dY", "values", "level", "exclusive", "reverse", "out"}, 3, 6};

py::object prod_back(const Arguments<6>& args) {
  const auto [given_dy, given_values, given_level, exclusive, reverse, given_out] = args;
  const Numbers x = placed_numbers_of(given_values, "X");
  const Place place = place_of(x.array);
  const Numbers dy = numbers_at(place, given_dy, "dY");
  check_floats(x, "X");
  check_shape(dy.array, "dY", x.array, "X");
  if (dy.type != x.type) {
    raise_type("dY", "expected " + str_of(x.array.dtype()) + " as X, got " + str_of(dy.array.dtype()));
  }
  const LevelRef level = level_over(given_level, "X", x.array.shape(0));
  const py::dtype dtype = x.array.dtype();
  const Extents shape = shape_of(x.array);
  py::array out = out_at(place, given_out, dtype, shape, {given_values, x.array, given_dy, dy.array});
  const ScanJob job = job_of(Scan::prod, x, LevelRef::unwrap(level), exclusive, reverse);
  const ScratchAt scratch(place, place.kernels->scan_prod_back_scratch(job, level->total()));
  launch(place, "backprop_cumprod", 4 * x.array.nbytes(), &cuda::Kernels::scan_prod_back, job, level->total(),
         data_of(dy.array), scratch.data(), bytes(out));
  return out;
}

PyMethodDef scan_methods[] = {
    method<kScan, scan_array>("scan(op, values, level, exclusive=False, reverse=False, out=None)\n--\n\n"
                              "Running sum, prod, max or min of the rows of each sequence."),
    method<kWhich, which_of>("scan_which(found, level, exclusive=False, reverse=False)\n--\n\n"
                             "Which row of its sequence each running extreme is, or -1."),
    method<kWhichBack, which_back>("backprop_scan_which(dY, which, level, out=None)\n--\n\n"
                                   "The sum of the rows that took each row."),
    method<kProdBack, prod_back>(
        "backprop_cumprod(dY, values, level, exclusive=False, reverse=False, out=None)\n--\n\n"
        "The gradient of running products."),
    {},
};

}  // namespace

void bind_scan(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), scan_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
