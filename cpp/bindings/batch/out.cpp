// The outputs of a batch: made or taken from `out` first, all of them, then filled with the GIL released.
#include "out.hpp"

#include <algorithm>

#include "batch.hpp"
#include "support/arrays.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

BatchOutputs::BatchOutputs(const Batcher& batcher, BatchWork& work, py::handle out, py::handle grow)
    : b_(batcher), w_(work), runs_(work.runs(batcher.sources_.data())) {
  has_out_ = !out.is_none();
  if (has_out_) out_ = out.cast<py::dict>();
  if (!grow.is_none()) grow_ = py::reinterpret_borrow<py::object>(grow);
  w_.levels.resize(static_cast<std::size_t>(b_.axes_) + 1);
  if (w_.own_ends.empty()) return;
  for (std::size_t axis = 2; axis < w_.own_ends.size(); ++axis) {
    const std::int64_t* ends = w_.own_ends[axis].data();
    own_levels_.resize(static_cast<std::size_t>(w_.count) * (w_.own_ends.size() - 2));
    for (std::size_t i = 0; i < static_cast<std::size_t>(w_.count); ++i) {
      const std::int64_t size = w_.ranges[axis - 1][i].size();
      own_levels_[i * (w_.own_ends.size() - 2) + axis - 2] = {ends, size};
      ends += size;
    }
  }
}

std::byte* BatchOutputs::make(const py::object& name, const py::dtype& dtype, const Extents& shape) {
  const std::string label = py::str(name);
  const std::int64_t bytes = padded_bytes(label, dtype, shape, b_.options_.max_bytes, used_);
  const std::int64_t count = dtype.itemsize() > 0 ? bytes / dtype.itemsize() : 0;
  py::array array;
  if (has_out_ && out_.contains(name)) {
    const py::object given = out_[name];
    array = buffer(label, given, dtype, shape, count);
    written_.add("out['" + label + "']", array, b_.read_);
    ++taken_;
  } else if (grow_) {
    array = buffer(label, grow_(name, dtype, count), dtype, shape, count);
  } else {
    array = empty(dtype, shape);
  }
  result_[name] = array;
  return static_cast<std::byte*>(array.mutable_data());
}

py::array BatchOutputs::buffer(const std::string& name, const py::object& given, const py::dtype& dtype,
                               const Extents& shape, std::int64_t count) {
  if (!py::isinstance<py::array>(given)) {
    raise_type("out['" + name + "']: expected an array, got " + type_name(given));
  }
  refuse_masked(given.ptr(), "out['" + name + "']");
  auto array = py::reinterpret_borrow<py::array>(given);
  if (!array.dtype().equal(dtype)) {
    raise_type("out['" + name + "']: has dtype " + py::str(array.dtype()).cast<std::string>() +
               ", the batch gives " + py::str(dtype).cast<std::string>());
  }
  if ((array.flags() & py::array::c_style) == 0 || !array.writeable()) {
    raise_value("out['" + name + "']: must be C-contiguous and writeable");
  }
  if (array.size() < count) {
    raise_value("out['" + name + "']: has room for " + std::to_string(array.size()) +
                " entries, the batch needs " + std::to_string(count));
  }
  const bool same = array.ndim() == static_cast<py::ssize_t>(shape.size()) &&
                    std::equal(shape.begin(), shape.end(), array.shape());
  if (same) return array;
  return make_array(dtype.ptr(), static_cast<int>(shape.size()), shape.data(), nullptr, array.mutable_data(),
                    array.ptr());
}

Extents BatchOutputs::shape_of(int axes, const py::array& row) const {
  Extents shape;
  if (axes > 0 && b_.options_.ragged) {
    shape.push_back(w_.total(axes));
  } else {
    shape.push_back(w_.n);
    shape.append(w_.sizes.data(), w_.sizes.data() + axes);
  }
  if (row.ndim() > 0) shape.append(row.shape() + 1, row.shape() + row.ndim());
  return shape;
}

void BatchOutputs::measure_kept() {
  for (std::size_t a = 1; a < keeps_.size(); ++a) w_.sizes[a] = std::min(w_.sizes[a], keeps_[a]);
  if (keeps_.size() < 3) return;  // what is cut at the last axis has nothing below it
  const auto inner = static_cast<int>(keeps_.size()) - 1;
  std::vector<std::int64_t> longest(static_cast<std::size_t>(inner));
  std::fill(w_.sizes.begin() + 1, w_.sizes.end(), 0);
  for (const Segment& segment : segments(nullptr, inner + 1)) {
    pad_kept_sizes(segment.levels, inner, segment.rows, keeps_.data() + 1, b_.options_.cut, longest.data());
    for (std::size_t a = 0; a < longest.size(); ++a) w_.sizes[a + 1] = std::max(w_.sizes[a + 1], longest[a]);
  }
}

void BatchOutputs::settle_sizes() {
  const BatchOptions& o = b_.options_;
  keeps_.assign(w_.sizes.size(), INT64_MAX);
  bool cuts = false;
  for (std::size_t a = 1; a < keeps_.size(); ++a) {
    if (a - 1 >= o.inner_max.size() || o.inner_max[a - 1] < 0) continue;
    keeps_[a] = o.inner_max[a - 1];
    cuts = cuts || keeps_[a] < w_.sizes[a];
  }
  if (cuts) measure_kept();
  for (std::size_t a = 0; a < w_.sizes.size(); ++a) {
    std::int64_t& size = w_.sizes[a];
    if (a < o.multiple.size() && o.multiple[a] > 1 && size % o.multiple[a] != 0) {
      size += o.multiple[a] - size % o.multiple[a];
    }
    if (a < o.pad_to.size() && o.pad_to[a] >= 0) {
      if (size > o.pad_to[a]) {
        raise_value("pad_to: the longest sequence of axis " + std::to_string(a + 1) + " takes " +
                    std::to_string(size) + " slots, over " + std::to_string(o.pad_to[a]) +
                    "; give max_len to cut it");
      }
      size = o.pad_to[a];
    }
  }
}

py::dict BatchOutputs::run() {
  settle_sizes();
  for (int axes = 0; axes <= b_.axes_; ++axes) {
    bool any = false;
    for (const BatchKey& key : b_.keys_) any = any || key.axes == axes;
    if (axes > 0 && b_.options_.ragged) levels(axes);
    if (axes > 0 && any && !b_.options_.ragged && b_.options_.masks) mask(axes);
    for (std::size_t k = 0; k < b_.keys_.size(); ++k) {
      if (b_.keys_[k].axes == axes) values(b_.keys_[k]);
    }
  }
  if (b_.axes_ > 0) extras();
  if (has_out_ && taken_ < static_cast<std::int64_t>(out_.size())) {
    for (const auto& [name, buffer] : out_) {
      if (!result_.contains(name)) {
        raise_value("out: the batch has no '" + py::str(name).cast<std::string>() + "'");
      }
    }
  }
  stores_ = stores_for(used_);
  {
    const Unlocked unlocked(used_ + (b_.trusted_ ? 0 : kMapped));
    for (const auto& job : jobs_) job();
  }
  return result_;
}

}  // namespace varlen::bindings
