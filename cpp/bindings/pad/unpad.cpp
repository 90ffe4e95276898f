#include <string>

#include "joint/joint.hpp"
#include "pad.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/fastcall.hpp"
#include "support/outputs.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

/// Refuses sequences that are longer than their slots.
void refuse_long(const Levels& levels, const std::int64_t* sizes) {
  for (std::size_t d = 0; d < levels.objects.size(); ++d) {
    if (levels.objects[d]->keeps_to(sizes[d])) continue;
    const Status status = unpad_check(levels.objects[d]->view(), sizes[d]);
    raise_value(Record{"lengths" + (levels.depth() > 1 ? "[" + std::to_string(d) + "]" : std::string()),
                       "row " + std::to_string(status.where) + " has length " + std::to_string(status.value) +
                           ", the block is " + std::to_string(sizes[d]) + " wide",
                       status.where, status.value});
  }
}

constexpr Signature<6> kUnpad{
    "unpad", {"block", "levels", "padding_side", "out", "max_len", "truncate"}, 2, 6};

py::object unpad_array(const Arguments<6>& args) {
  const auto [given_block, given_levels, side, given_out, max_len, truncate] = args;
  const py::array dense = as_placed_rows(given_block, "block");
  const Place place = place_of(dense);
  const Levels levels = levels_of(given_levels, -1, place);
  const int depth = levels.depth();
  Padding how;
  how.side = side_or_right(side, "padding_side");
  how.cut = side_or_right(truncate, "truncate");
  if (dense.ndim() < depth + 1) {
    raise_value("block", "expected (n, width, ...) for " + std::to_string(depth) + " levels, got shape " +
                             text_of(shape_of(dense)));
  }
  if (dense.shape(0) != levels.views[0].count) {
    raise_value("lengths", std::to_string(levels.views[0].count) + " of them for " +
                               std::to_string(dense.shape(0)) + " rows");
  }
  const std::int64_t* const sizes = dense.shape() + 1;
  Slots slots;
  if (is_given(max_len)) {
    if (place.is_host()) raise_type("max_len", "rectangles that cut have a way back on devices alone");
    slots = slots_of(levels, nullptr, max_len, nullptr, how.cut);
    how.keeps = slots.keeps.data();
  } else {
    refuse_long(levels, sizes);
  }
  Extents shape{levels.objects.back()->total()};
  shape.append(dense.shape() + 1 + depth, dense.shape() + dense.ndim());
  py::array out = out_at(place, given_out, dense.dtype(), shape, {given_block, dense});
  std::int64_t width = dense.itemsize();
  for (py::ssize_t axis = depth + 1; axis < dense.ndim(); ++axis) width *= dense.shape(axis);
  auto* to = static_cast<std::byte*>(out.mutable_data());
  const auto* source = data_of(dense);
  const auto level_ends = offsets_at(place, levels);
  launch(place, "unpad", out.nbytes(), &cuda::Kernels::unpad, source, width, level_ends.data(), depth, sizes,
         how, shape[0], to);
  return out;
}

LevelRef mask_to_level(py::handle mask_input, py::handle side) {
  const py::array mask = as_rows(mask_input, "mask");
  if (mask.ndim() != 2) raise_value("mask", "expected two dimensions, got " + std::to_string(mask.ndim()));
  if (mask.dtype().kind() != 'b')
    raise_type("mask", "expected bool, got " + std::string(py::str(mask.dtype())));
  const Side from = side_or_right(side.ptr(), "padding_side");
  py::array lengths = empty_ints(mask.shape(0));
  auto* to = static_cast<std::int64_t*>(lengths.mutable_data());
  const auto* source = data_of(mask);
  Status status;
  {
    const GilRelease gil_release(mask.nbytes());
    status = lengths_from_mask(source, mask.shape(0), mask.shape(1), from, to);
  }
  raise_if(status, "mask");
  return Level::from_lengths(lengths, "mask");
}

PyMethodDef pad_unpad_methods[] = {
    method<kUnpad, unpad_array>(
        "unpad(block, levels, padding_side='right', out=None, max_len=None, truncate='right')\n--\n\n"
        "The rows of a rectangle that the levels say are there, end to end.\n\n"
        "With max_len they are those of one that was cut so: rows that it has not are zeros. On devices."),
    {},
};

}  // namespace

void add_unpad(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), pad_unpad_methods) != 0) throw py::error_already_set();
  m.def("mask_to_level", &mask_to_level, py::arg("mask"), py::arg("padding_side") = "right",
        "The level of a (n, slots) bool mask whose rows are set from one side.");
}

}  // namespace varlen::bindings
