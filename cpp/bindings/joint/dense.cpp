// A view to rectangles and masks, all keys in one call.
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include "joint.hpp"
#include "support/arrays.hpp"
#include "support/outputs.hpp"
#include "support/overlap.hpp"
#include "support/raise.hpp"
#include "varlen/copy.hpp"

namespace varlen::bindings {

Side side_of(const std::string& text, const char* argument) {
  if (text == "right") return Side::right;
  if (text == "left") return Side::left;
  raise_value(std::string(argument) + " must be 'left' or 'right'; got '" + text + "'");
}

namespace {

/// One entry of the result: planned first, so that what is refused is refused before anything is written.
struct Entry {
  std::string name;
  int dim = 0;
  std::size_t column = 0;
  bool mask = false;
  py::object array;    ///< unset until it is made
  py::object pattern;  ///< the row that fills, where one is given
};

class Plan {
 public:
  /// `given` is the view that `joint` was settled from: its memory is what the caller knows.
  Plan(const Joint& joint, const DenseOptions& options, const Joint& given)
      : joint_(joint),
        given_(given),
        options_(options),
        sizes_(static_cast<std::size_t>(std::max(joint.depth(), 0))) {
    std::vector<std::int64_t> caps(sizes_.size(), INT64_MAX);
    bool cuts = false;
    for (std::size_t d = 0; d < sizes_.size() && d < options.max_sizes.size(); ++d) {
      if (options.max_sizes[d] < 0) continue;
      caps[d] = options.max_sizes[d];
      cuts = true;
    }
    if (cuts) {
      pad_kept_sizes(joint.levels(), joint.depth(), joint.range(0), caps.data(),
                     side_of(options.truncate, "truncate"), sizes_.data());
    } else {
      pad_sizes(joint.levels(), joint.depth(), joint.range(0), sizes_.data());
    }
    const Root& root = joint.root();
    for (int d = 0; d <= joint.depth(); ++d) {
      bool masked = d == 0 || !options.masks;
      for (std::size_t c = 0; c < root.names.size(); ++c) {
        if (joint.dim(c) != d) continue;
        if (!masked) add_mask(d);
        masked = true;
        if (has_entry(d)) add_key(d, c);
      }
    }
  }

  /// A key without a leaf is left out where there are sequences, all empty; not where there are none.
  [[nodiscard]] bool has_entry(int d) const {
    return options_.empty_keys || d == 0 || joint_.range(d).size() > 0 || joint_.range(d - 1).size() == 0;
  }

  py::dict run() {
    Padding how{side_of(options_.padding_side, "padding_side"), side_of(options_.truncate, "truncate"),
                nullptr};
    how.stores = stores_for(used_);
    py::dict out;
    for (Entry& entry : entries_) {
      write(entry, how);
      out[py::str(entry.name)] = entry.array;
    }
    return out;
  }

 private:
  [[nodiscard]] Extents shape_of(int d) const {
    Extents shape{joint_.range(0).size()};
    shape.append(sizes_.data(), sizes_.data() + d);
    return shape;
  }

  void add_mask(int d) {
    Entry entry{"dim" + std::to_string(d) + "/mask", d, 0, true, {}, {}};
    place(entry, py::dtype::of<bool>(), shape_of(d));
  }

  void add_key(int d, std::size_t c) {
    const py::array& source = joint_.root().arrays[c];
    Extents shape = shape_of(d);
    shape.append(source.shape() + 1, source.shape() + source.ndim());
    Entry entry{joint_.root().names[c], d, c, false, {}, {}};
    const py::object fill = options_.fill.is_none()
                                ? py::object(py::none())
                                : py::object(options_.fill.attr("get")(py::str(entry.name)));
    if (!fill.is_none()) {
      const py::array pattern = as_rows(fill, "fill");
      if (pattern.nbytes() != joint_.root().rows[c].width)
        raise_value("fill: the row for '" + entry.name + "' has another size");
      entry.pattern = pattern;
    }
    place(entry, source.dtype(), shape);
  }

  /// An array that was given in `out`, or the bytes that a new one will take.
  void place(Entry& entry, const py::dtype& dtype, const Extents& shape) {
    padded_bytes(entry.name, dtype, shape, -1, used_);
    const py::object given = options_.out.is_none()
                                 ? py::object(py::none())
                                 : py::object(options_.out.attr("get")(py::str(entry.name)));
    if (!given.is_none()) {
      const py::array out = checked_out("out['" + entry.name + "']", given, dtype, shape, {});
      written_.add("out['" + entry.name + "']", out, read());
      entry.array = out;
    } else {
      padded_bytes(entry.name, dtype, shape, options_.max_bytes, fresh_);
    }
    shapes_.push_back(shape);
    dtypes_.push_back(dtype);
    entries_.push_back(std::move(entry));
  }

  const MemoryRead& read() {
    if (!read_) {
      read_.emplace();
      given_.root().add_memory(*read_);
      if (!options_.fill.is_none()) {
        for (const auto& [name, row] : py::reinterpret_borrow<py::dict>(options_.fill)) {
          read_->add(as_rows(row, "fill"));
        }
      }
      read_->settle();
    }
    return *read_;
  }

  void write(Entry& entry, Padding how) {
    const auto at = static_cast<std::size_t>(&entry - entries_.data());
    if (!entry.array) entry.array = empty(dtypes_[at], shapes_[at]);
    auto array = py::reinterpret_borrow<py::array>(entry.array);
    auto* to = static_cast<std::byte*>(array.mutable_data());
    const Range rows = joint_.range(0);
    if (entry.pattern) {
      how.fill = static_cast<const std::byte*>(py::reinterpret_borrow<py::array>(entry.pattern).data());
    }
    const Unlocked unlocked(array.nbytes());
    if (entry.mask) {
      pad_mask(joint_.levels(), entry.dim, rows, sizes_.data(), how, to);
      return;
    }
    const Rows& values = joint_.root().rows[entry.column];
    if (entry.dim == 0) {
      copy_bytes(to, values.data + rows.begin * values.width, rows.size() * values.width);
      return;
    }
    pad(joint_.levels(), entry.dim, rows, values, sizes_.data(), how, to);
  }

  const Joint& joint_;
  const Joint& given_;
  const DenseOptions& options_;
  std::vector<std::int64_t> sizes_;
  std::vector<Entry> entries_;
  std::vector<Extents> shapes_;
  std::vector<py::dtype> dtypes_;
  std::int64_t used_ = 0;   ///< bytes that are written
  std::int64_t fresh_ = 0;  ///< of them those that are not given
  std::optional<MemoryRead> read_;
  MemoryWritten written_;
};

}  // namespace

py::dict joint_dense(const Joint& joint, const DenseOptions& options) {
  (void)side_of(options.padding_side, "padding_side");
  (void)side_of(options.truncate, "truncate");
  if (joint.depth() < 0) return {};
  const Joint settled = joint.settled();
  return Plan(settled, options, joint).run();
}

}  // namespace varlen::bindings
