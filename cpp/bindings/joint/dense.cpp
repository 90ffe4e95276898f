// A view to rectangles and masks, all keys in one call.
#include "varlen/model/dense.hpp"

#include <optional>

#include "joint.hpp"
#include "support/arrays.hpp"
#include "support/outputs.hpp"
#include "support/overlap.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

Side side_of(const std::string& text, const char* argument) {
  if (text == "right") return Side::right;
  if (text == "left") return Side::left;
  raise_value(std::string(argument) + " must be 'left' or 'right'; got '" + text + "'");
}

namespace joint_dense_outputs {

/// The arrays of a plan: given or new, all looked at before one is written.
class DenseOutputs {
 public:
  DenseOutputs(const Joint& joint, const DenseOptions& options)
      : joint_(joint),
        options_(options),
        plan_(joint, options.max_sizes, side_of(options.truncate, "truncate"), options.masks,
              options.empty_keys) {
    outputs_.reserve(plan_.entries().size());
    for (const DensePlan::Entry& entry : plan_.entries()) add(entry);
  }

  py::dict run() {
    Padding how{side_of(options_.padding_side, "padding_side"), side_of(options_.truncate, "truncate"),
                nullptr};
    how.stores = stores_for(total_bytes_);
    py::dict out;
    for (Output& output : outputs_) {
      if (!output.has_target) output.array = empty(output.dtype, output.shape);
      how.fill = output.pattern ? static_cast<const std::byte*>(output.pattern->data()) : nullptr;
      std::byte* const to = bytes(output.array);
      {
        const GilRelease gil_release(output.array.nbytes());
        plan_.write(*output.entry, how, to);
      }
      out[py::str(output.entry->name)] = output.array;
    }
    return out;
  }

 private:
  struct Output {
    const DensePlan::Entry* entry = nullptr;
    py::dtype dtype;
    Extents shape;
    bool has_target = false;
    py::array array;
    std::optional<py::array> pattern;  ///< the row that fills, where one is given
  };

  static py::object item_of(const py::object& dict, const std::string& name) {
    return dict.is_none() ? py::object(py::none()) : py::object(dict.attr("get")(py::str(name)));
  }

  void add(const DensePlan::Entry& entry) {
    Output& output = outputs_.emplace_back();
    output.entry = &entry;
    output.shape.push_back(joint_.size());
    output.shape.append(plan_.sizes().data(), plan_.sizes().data() + entry.dim);
    if (entry.mask) {
      output.dtype = py::dtype::of<bool>();
    } else {
      const py::array& source = array_of(joint_.data().columns[entry.column]);
      output.dtype = source.dtype();
      output.shape.append(source.shape() + 1, source.shape() + source.ndim());
      const py::object fill = item_of(options_.fill, entry.name);
      if (!fill.is_none()) {
        output.pattern = as_rows(fill, "fill");
        if (output.pattern->nbytes() != row_bytes(source))
          raise_value("fill", "the row for '" + entry.name + "' has another size");
      }
    }
    padded_bytes(entry.name, output.dtype, output.shape, -1, total_bytes_);
    const py::object target = item_of(options_.out, entry.name);
    if (target.is_none()) {
      padded_bytes(entry.name, output.dtype, output.shape, options_.max_bytes, fresh_);
    } else {
      const std::string name = "out['" + entry.name + "']";
      output.array = checked_out(name, target, output.dtype, output.shape, {});
      output.has_target = true;
      out_memory_.add(name, output.array, read());
    }
  }

  const MemoryRead& read() {
    if (!read_) {
      read_.emplace();
      add_memory(*read_, joint_.data());
      if (!options_.fill.is_none()) {
        for (const auto& [name, row] : py::reinterpret_borrow<py::dict>(options_.fill)) {
          read_->add(as_rows(row, "fill"));
        }
      }
      read_->settle();
    }
    return *read_;
  }

  const Joint& joint_;
  const DenseOptions& options_;
  DensePlan plan_;
  std::vector<Output> outputs_;
  std::int64_t total_bytes_ = 0;  ///< bytes that are written
  std::int64_t fresh_ = 0;        ///< of them those that are not given
  std::optional<MemoryRead> read_;
  MemoryWritten out_memory_;
};

}  // namespace joint_dense_outputs

py::dict joint_dense(const Joint& joint, const DenseOptions& options) {
  (void)side_of(options.padding_side, "padding_side");
  (void)side_of(options.truncate, "truncate");
  return joint_dense_outputs::DenseOutputs(joint, options).run();
}

}  // namespace varlen::bindings
