// A view to rectangles and masks, all keys in one call.
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "joint.hpp"
#include "raise.hpp"
#include "varlen/checked.hpp"

namespace varlen::bindings {

Side side_of(const std::string& text, const char* argument) {
  if (text == "right") return Side::right;
  if (text == "left") return Side::left;
  raise_value(std::string(argument) + " must be 'left' or 'right'; got '" + text + "'");
}

namespace {

/// Bytes of a rectangle; refused before anything is allocated.
std::int64_t dense_bytes(const std::string& name, const std::vector<py::ssize_t>& shape,
                         std::int64_t itemsize, std::int64_t max_bytes, std::int64_t& used) {
  std::int64_t total = itemsize;
  std::string text;
  bool fits = true;
  for (const py::ssize_t size : shape) {
    fits = fits && checked_mul(total, size, total);
    text += (text.empty() ? "(" : ", ") + std::to_string(size);
  }
  fits = fits && checked_add(used, total, used);
  if (!fits) raise_overflow(name + ": the padded shape " + text + ") does not fit 63 bits");
  if (max_bytes >= 0 && used > max_bytes) {
    raise_value(name + ": the padded shape " + text + ") of " + std::to_string(itemsize) +
                " bytes an entry takes the result to " + std::to_string(used) + " bytes, over max_bytes=" +
                std::to_string(max_bytes) + "; give max_len, take fewer rows, or keep them ragged");
  }
  return total;
}

}  // namespace

py::dict joint_dense(const Joint& joint, const std::string& side, const std::string& truncate,
                     py::object fill, const std::vector<std::int64_t>& max_sizes, bool masks,
                     std::int64_t max_bytes) {
  const Padding how{side_of(side, "padding_side"), side_of(truncate, "truncate"), nullptr};
  joint.check();
  const int depth = joint.depth();
  const Range rows = joint.range(0);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(depth));
  pad_sizes(joint.levels(), depth, rows, sizes.data());
  for (std::size_t d = 0; d < sizes.size() && d < max_sizes.size(); ++d) {
    if (max_sizes[d] >= 0) sizes[d] = std::min(sizes[d], max_sizes[d]);
  }
  const Root& root = joint.root();
  py::dict out;
  std::int64_t used = 0;
  for (int d = 0; d <= depth; ++d) {
    std::vector<py::ssize_t> shape{rows.size()};
    shape.insert(shape.end(), sizes.begin(), sizes.begin() + d);
    bool any = false;
    for (std::size_t c = 0; c < root.names.size(); ++c) any = any || root.dims[c] - joint.shift() == d;
    if (any && d > 0 && masks) {
      const std::string name = "dim" + std::to_string(d) + "/mask";
      dense_bytes(name, shape, 1, max_bytes, used);
      py::array mask = empty(py::dtype::of<bool>(), shape);
      auto* to = static_cast<std::byte*>(mask.mutable_data());
      {
        const Unlocked unlocked(mask.nbytes());
        pad_mask(joint.levels(), d, rows, sizes.data(), how, to);
      }
      out[py::str(name)] = mask;
    }
    for (std::size_t c = 0; c < root.names.size(); ++c) {
      if (root.dims[c] - joint.shift() != d) continue;
      const py::array& array = root.arrays[c];
      std::vector<py::ssize_t> full = shape;
      full.insert(full.end(), array.shape() + 1, array.shape() + array.ndim());
      dense_bytes(root.names[c], full, array.itemsize(), max_bytes, used);
      const py::str name(root.names[c]);
      if (d == 0) {
        out[name] = joint.values(static_cast<int>(c)).attr("copy")();
        continue;
      }
      Padding padding = how;
      py::object pattern = fill.is_none() ? py::object(py::none()) : py::object(fill.attr("get")(name));
      if (!pattern.is_none()) {
        const auto given = pattern.cast<py::array>();
        if (given.nbytes() != root.rows[c].width)
          raise_value("fill: the row for '" + root.names[c] + "' has another size");
        padding.fill = static_cast<const std::byte*>(given.data());
      }
      py::array dense = empty(array.dtype(), full);
      auto* to = static_cast<std::byte*>(dense.mutable_data());
      {
        const Unlocked unlocked(dense.nbytes());
        pad(joint.levels(), d, rows, root.rows[c], sizes.data(), padding, to);
      }
      out[name] = dense;
    }
  }
  return out;
}

}  // namespace varlen::bindings
