// A square that says which rows may look at which, and numbers in the place of what is masked.
#include "varlen/mask.hpp"

#include <string>

#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// As many rows as are asked for; all of them where nothing is.
std::int64_t reach(PyObject* argument, const char* name) {
  if (!is_given(argument)) return INT64_MAX;
  return at_least(0, int_of(argument, name), name);
}

constexpr Signature<7> kBlockMask{
    "block_mask", {"level", "values", "before", "behind", "out", "max_bytes", "beside"}, 2, 7};

py::object block_mask_of(const Arguments<7>& args) {
  const LevelRef row_level = level_over(args[0], "values", -1);
  Level& level = LevelRef::unwrap(row_level);
  const Place place = place_of_any({args[4], args[6]});
  const py::array values = as_rows(args[1], "values");
  if (values.ndim() != 1 || values.shape(0) != 2) raise_value("values", "expected two, outside and inside");
  const AttentionWindow window{reach(args[2], "before"), reach(args[3], "behind")};
  const Extents shape{level.total(), level.total()};
  const std::int64_t limit = max_bytes_of(args[5]);
  std::int64_t total_bytes = 0;
  if (!is_given(args[4])) padded_bytes("mask", values.dtype(), shape, limit, total_bytes);
  py::array out = out_at(place, args[4], values.dtype(), shape, {args[1], values});
  const std::int64_t unit = values.itemsize();
  const auto* const two = data_of(values);
  launch(place, "block_mask", out.nbytes(), &cuda::Kernels::block_mask, offsets_at(place, level),
         level.total(), window, unit, two + unit, two, bytes(out));
  return out;
}

constexpr Signature<1> kNothingBeside{"nothing_beside", {"level"}};

/// No numbers, where those of a level come from; None for a level of the host.
py::object nothing_beside(const Arguments<1>& args) {
  LevelRef::expect(args[0], "level");
  const Level& level = LevelRef::unwrap(args[0]);
  if (!level.is_of_device()) return py::none();
  return empty_at(level.hidden_place(), py::dtype::of<std::int64_t>(), {0});
}

constexpr Signature<3> kFillMasked{"fill_masked", {"values", "mask", "fill"}};

py::object fill_masked_of(const Arguments<3>& args) {
  const py::array values = as_rows(args[0], "values");
  const py::array mask = as_rows(args[1], "mask");
  const py::array fill = as_rows(args[2], "fill");
  const std::int64_t width = values.itemsize();
  if (width != 1 && width != 2 && width != 4 && width != 8) {
    raise_value("values", "expected items of 1, 2, 4 or 8 bytes, got " + std::to_string(width), std::nullopt,
                width);
  }
  if (mask.size() != values.size() || mask.itemsize() != 1) {
    raise_value("mask", "expected " + std::to_string(values.size()) + " bools, got " +
                            std::to_string(mask.size()) + " items of " + std::to_string(mask.itemsize()) +
                            " bytes");
  }
  if (fill.size() != 1 || fill.itemsize() != width) raise_value("fill", "expected one item, as values has");
  py::array out = empty(values.dtype(), shape_of(values));
  {
    const GilRelease release(values.nbytes());
    fill_masked(data_of(values), width, reinterpret_cast<const std::uint8_t*>(data_of(mask)), values.size(),
                data_of(fill), bytes(out));
  }
  return out;
}

PyMethodDef mask_methods[] = {
    method<kBlockMask, block_mask_of>(
        "block_mask(level, values, before=None, behind=None, out=None, max_bytes=None, beside=None)\n--\n\n"
        "(total, total): values[1] where a row sees another of its sequence, values[0] elsewhere. On the "
        "device of `beside`, if that is an array of one."),
    method<kFillMasked, fill_masked_of>(
        "fill_masked(values, mask, fill)\n--\n\n"
        "A copy of the values with fill[0] where the mask is True; items have 1, 2, 4 or 8 bytes."),
    method<kNothingBeside, nothing_beside>(
        "nothing_beside(level)\n--\n\n"
        "An array of no numbers on the device that those of a level come from; "
        "None for a level of the host."),
    {},
};

}  // namespace

void bind_mask(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), mask_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
