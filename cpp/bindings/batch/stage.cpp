// A batch on its way to a device: `_core.StagedBatch` writes the block that is copied there, and `unstage`
// makes the arrays of the copy. Between the two lie bytes alone, which another process may have sent.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "batch.hpp"
#include "support/raise.hpp"
#include "tensor/tensor.hpp"
#include "varlen/cuda/batch.hpp"

namespace varlen::bindings {

namespace {

static_assert(kFillAtHand == cuda::kWidestFill);

/// Plain numbers to bytes and back.
class Recipe {
 public:
  static py::bytes encode(const BatchStage& stage) {
    Recipe recipe;
    recipe.put(stage.bytes);
    recipe.put(stage.n);
    recipe.put(stage.side);
    recipe.put(stage.cut);
    recipe.put_all(stage.axes);
    recipe.put_all(stage.arrays);
    return {recipe.text_.data(), recipe.text_.size()};
  }

  static BatchStage read(const py::bytes& bytes) {
    Recipe recipe;
    recipe.text_ = static_cast<std::string>(bytes);
    BatchStage stage;
    recipe.take(stage.bytes);
    recipe.take(stage.n);
    recipe.take(stage.side);
    recipe.take(stage.cut);
    recipe.take_all(stage.axes);
    recipe.take_all(stage.arrays);
    if (recipe.offset_ != recipe.text_.size()) raise_value("recipe", "is none of this version");
    return stage;
  }

 private:
  template <class T>
  void put(const T& value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void put_all(const std::vector<T>& values) {
    put(static_cast<std::int64_t>(values.size()));
    for (const T& value : values) put(value);
  }
  template <class T>
  void take(T& value) {
    if (text_.size() - offset_ < sizeof value) raise_value("recipe", "is none of this version");
    std::memcpy(&value, text_.data() + offset_, sizeof value);
    offset_ += sizeof value;
  }
  template <class T>
  void take_all(std::vector<T>& values) {
    std::int64_t count = 0;
    take(count);
    for (std::int64_t i = 0; i < count; ++i) {
      T value;
      take(value);
      values.push_back(value);
    }
  }

  std::string text_;
  std::size_t offset_ = 0;
};

class StagedBatch {
 public:
  StagedBatch(py::object owner, const BatcherObject& batcher, std::unique_ptr<RowRequest> row_request)
      : owner_(std::move(owner)),
        batcher_(&batcher),
        row_request_(std::move(row_request)),
        plan_(batcher.stage(row_request_->request)) {
    if (plan_->stage().axes.size() > cuda::kMostDepth) {
      raise_value("device", "a padded batch has " + std::to_string(plan_->stage().axes.size()) +
                                " ragged axes, over " + std::to_string(cuda::kMostDepth) +
                                "; give keys of fewer levels, or flatten=True");
    }
  }

  [[nodiscard]] std::int64_t bytes() const { return plan_->stage().bytes; }

  [[nodiscard]] py::bytes recipe() const { return Recipe::encode(plan_->stage()); }

  /// (name, dtype, shape, place) of every output: place is -1 where it is made on the device. A number is
  /// (name, None, (), number).
  [[nodiscard]] py::list outputs() const {
    py::list result;
    std::size_t k = 0;
    const bool is_ragged = plan_->stage().arrays.empty();
    for (const BatchOutput& output : plan_->outputs()) {
      const std::int64_t place = is_ragged ? plan_->stage().places[k] : -1;
      ++k;
      if (output.kind == BatchOutput::Kind::number) {
        result.append(py::make_tuple(output.name, py::none(), py::tuple(), output.number));
        continue;
      }
      py::tuple shape(output.shape.size());
      for (std::size_t i = 0; i < output.shape.size(); ++i) shape[i] = output.shape[i];
      result.append(py::make_tuple(batcher_->name_of(output), batcher_->dtype_of(output), shape, place));
    }
    return result;
  }

  void write(const py::array& block) {
    if (!py::isinstance<py::array_t<std::uint8_t>>(block) || block.ndim() != 1 || !block.writeable() ||
        (block.flags() & py::array::c_style) == 0) {
      raise_type("block", "expected a writeable array of uint8, end to end");
    }
    if (block.size() < bytes()) {
      raise_value("block", "has " + std::to_string(block.size()) + " bytes, the batch needs " +
                               std::to_string(bytes()));
    }
    auto* const to = static_cast<std::byte*>(py::array(block).mutable_data());
    const GilRelease gil_release(bytes() + (batcher_->reads_maps() ? kMapWork : 0));
    plan_->write_stage(to);
  }

 private:
  py::object owner_;  ///< of the batcher
  const BatcherObject* batcher_;
  std::unique_ptr<RowRequest> row_request_;
  std::unique_ptr<BatchPlan> plan_;
};

/// So many bytes of a block, from a place in it.
const std::byte* part_of(const BatchStage& stage, const std::byte* block, std::int64_t place,
                         std::int64_t count, std::int64_t width) {
  if (place < 0 || count < 0 || width < 0 || place > stage.bytes ||
      (width > 0 && count > (stage.bytes - place) / width)) {
    raise_value("recipe", "leads out of a block of " + std::to_string(stage.bytes) + " bytes");
  }
  return block + place;
}

void unstage(const py::bytes& recipe, const py::object& input, const py::list& outputs) {
  const py::array block = placed_bytes(input, "block");
  const Place place = place_of(block);
  const BatchStage stage = Recipe::read(recipe);
  if (block.nbytes() < stage.bytes) {
    raise_value("block", "has " + std::to_string(block.nbytes()) + " bytes, the recipe needs " +
                             std::to_string(stage.bytes));
  }
  std::vector<std::byte*> addresses;
  for (const py::handle address : outputs) {
    void* const pointer = PyLong_AsVoidPtr(address.ptr());
    if (pointer == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    addresses.push_back(static_cast<std::byte*>(pointer));
  }
  make_arrays(place, stage, data_of(block), addresses);
}

}  // namespace

py::array placed_bytes(const py::object& input, const char* argument) {
  const py::object source = is_tensor(input.ptr()) ? placed_over(input.ptr()) : placed_array(input);
  const std::string message = "expected memory of a device, got ";
  if (!source) raise_type(argument, message + type_name(input));
  py::array memory = as_placed_rows(source, argument);
  if (place_of(memory).is_host()) raise_value(argument, message + "some of the host");
  return memory;
}

void make_arrays(const Place& place, const BatchStage& stage, const std::byte* block,
                 const std::vector<std::byte*>& outputs) {
  std::vector<cuda::BatchAxis> axes;
  for (const StagedAxis& axis : stage.axes) {
    const std::byte* const ends = part_of(stage, block, axis.ends, axis.count, sizeof(std::int64_t));
    axes.push_back({{reinterpret_cast<const std::int64_t*>(ends), axis.count}, axis.slots, axis.keep});
  }
  std::vector<cuda::BatchArray> arrays;
  for (const StagedArray& entry : stage.arrays) {
    if (entry.output < 0 || static_cast<std::size_t>(entry.output) >= outputs.size() || entry.depth < 0 ||
        static_cast<std::size_t>(entry.depth) > axes.size()) {
      raise_value("recipe",
                  "names output " + std::to_string(entry.output) + " of " + std::to_string(outputs.size()));
    }
    cuda::BatchArray array;
    array.kind = static_cast<cuda::BatchKind>(entry.kind);
    array.depth = entry.depth;
    array.from = entry.from;
    array.to = entry.to;
    array.rows = {part_of(stage, block, entry.rows, entry.count, entry.width), entry.count, entry.width};
    if (entry.fill_bytes > 0) {
      const std::byte* const row =
          entry.fill_row < 0 ? entry.fill.data() : part_of(stage, block, entry.fill_row, 1, entry.fill_bytes);
      array.fill = {row, entry.fill_bytes};
    }
    array.replaces_nan = entry.replaces_nan;
    array.nan = entry.nan;
    array.out = outputs[static_cast<std::size_t>(entry.output)];
    arrays.push_back(array);
  }
  cuda::BatchJob job;
  job.axes = axes.data();
  job.depth = static_cast<int>(axes.size());
  job.n = stage.n;
  job.side = stage.side;
  job.cut = stage.cut;
  job.arrays = arrays.data();
  job.count = static_cast<std::int64_t>(arrays.size());
  place.check(place.kernels->batch(place.stream, job), "batch");
}

void bind_staged(py::module_& m) {
  py::class_<StagedBatch>(m, "StagedBatch", "A batch that goes to a device in one block.")
      .def(py::init([](const py::object& batcher, py::handle rows, py::handle start, py::handle end,
                       std::uint64_t seed, std::uint64_t epoch, py::handle counters, py::handle prefix_rows,
                       py::handle suffix_rows) {
             auto row_request = std::make_unique<RowRequest>(rows, start, end, seed, epoch, counters,
                                                             prefix_rows, suffix_rows);
             return std::make_unique<StagedBatch>(batcher, batcher.cast<const BatcherObject&>(),
                                                  std::move(row_request));
           }),
           py::arg("batcher"), py::arg("rows"), py::arg("start") = py::none(), py::arg("end") = py::none(),
           py::arg("seed") = 0, py::arg("epoch") = 0, py::arg("counters") = py::none(),
           py::arg("prefix_rows") = py::none(), py::arg("suffix_rows") = py::none())
      .def_property_readonly("nbytes", &StagedBatch::bytes, "Bytes of the block.")
      .def_property_readonly("recipe", &StagedBatch::recipe, "What `unstage` makes the arrays by.")
      .def_property_readonly(
          "outputs", &StagedBatch::outputs,
          "(name, dtype, shape, place) of every array; place is -1 where it is made on the "
          "device. A number is (name, None, (), number).")
      .def("write", &StagedBatch::write, py::arg("block"), "Writes the block.");
  refuse_pickling(m.attr("StagedBatch"));
  m.def("unstage", &unstage, py::arg("recipe"), py::arg("block"), py::arg("outputs"),
        "Makes the arrays of a batch of a block on a device; outputs are addresses there.");
}

}  // namespace varlen::bindings
