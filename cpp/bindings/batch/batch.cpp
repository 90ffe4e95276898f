#include "batch.hpp"

#include <optional>

#include "bits/bits.hpp"
#include "joint/joint.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace batch_arguments {

const Joint& joint_at(py::handle object, const char* argument) {
  const Joint* joint = joint_of(object.ptr());
  if (joint == nullptr) raise_type(argument, "expected a Joint, got " + type_name(object));
  return *joint;
}

std::optional<Joint> optional_joint(const py::object& object, const char* argument) {
  return object.is_none() ? std::optional<Joint>() : joint_at(object, argument);
}

/// An integer array or None. Kept in `keep`; null for None.
const std::int64_t* optional_ints(py::handle values, const char* argument, std::int64_t count, Ints& keep) {
  if (values.is_none()) return nullptr;
  keep = as_ints(values, argument);
  if (keep.count != count) {
    raise_value(argument,
                "has " + std::to_string(keep.count) + " entries for " + std::to_string(count) + " rows");
  }
  return keep.data;
}

/// Keys in blocks of bits: (name, dim, an array of such values, their `Bits`) each.
std::vector<BitColumn> bit_columns(const py::handle& columns) {
  std::vector<BitColumn> out;
  for (const py::handle column : columns) {
    const auto parts = py::cast<py::tuple>(column);
    const auto bits = py::cast<std::shared_ptr<const BitsObject>>(parts[3]);
    out.push_back({py::cast<std::string>(parts[0]), py::cast<int>(parts[1]),
                   std::make_shared<ArrayValues>(as_rows(parts[2], "bits")), bits->blocks(), bits});
  }
  return out;
}

}  // namespace batch_arguments

BatcherObject::BatcherObject(const py::list& shards, const std::vector<std::string>& labels,
                             const py::object& prefix, const py::object& suffix,
                             const std::vector<std::string>& names, const std::vector<int>& dims,
                             const py::list& fills, const py::list& nans, const py::dict& options,
                             const py::list& fillers, const py::list& bits) {
  using namespace batch_arguments;
  BatchOptions read = batch_options(options);
  std::vector<BatchKey> keys;
  keys.reserve(names.size());
  for (std::size_t k = 0; k < names.size(); ++k) {
    const py::object row = k < fillers.size() ? py::object(fillers[k]) : py::none();
    keys.push_back(batch_key(names[k], dims[k], fills[k], nans[k], row, read));
    names_.emplace_back(names[k]);
    dtypes_.push_back(static_cast<const ArrayValues&>(*keys.back().fill).array().dtype());
  }
  const bool are_files = !read.lift;
  std::vector<BatchSource> sources;
  sources.reserve(shards.size());
  for (std::size_t s = 0; s < shards.size(); ++s) {
    const std::string label = s < labels.size() ? labels[s] : std::string();
    sources.push_back({joint_at(shards[s], "shards"), label, are_files, {}});
    if (s < bits.size()) sources.back().bits = bit_columns(bits[s]);
  }
  model_ = std::make_unique<Batcher>(std::move(sources), std::move(keys), std::move(read),
                                     optional_joint(prefix, "prefix"), optional_joint(suffix, "suffix"));
  for (const BatchSource& source : model_->sources()) add_memory(read_, source.joint.data());
  read_.settle();
}

RowRequest::RowRequest(py::handle rows, py::handle start, py::handle end, std::uint64_t seed,
                       std::uint64_t epoch, py::handle counters, py::handle prefix_rows,
                       py::handle suffix_rows)
    : row_indices(as_ints(rows, "rows")) {
  using batch_arguments::optional_ints;
  request.rows = row_indices.data;
  request.n = row_indices.count;
  request.start = optional_ints(start, "start", row_indices.count, others[0]);
  request.end = optional_ints(end, "end", row_indices.count, others[1]);
  request.dice = {seed, epoch};
  request.counters = optional_ints(counters, "counters", row_indices.count, others[2]);
  request.prefix_rows = optional_ints(prefix_rows, "prefix_rows", row_indices.count, others[3]);
  request.suffix_rows = optional_ints(suffix_rows, "suffix_rows", row_indices.count, others[4]);
}

py::dict BatcherObject::call(py::handle rows, py::handle start, py::handle end, std::uint64_t seed,
                             std::uint64_t epoch, py::handle counters, py::handle prefix_rows,
                             py::handle suffix_rows, py::handle out, py::handle grow) const {
  const RowRequest row_request(rows, start, end, seed, epoch, counters, prefix_rows, suffix_rows);
  const cuda::Kernels* const kernels = kernels_on_host();
  const std::int64_t map_work = model_->trust() ? 0 : kMapWork;
  std::optional<BatchPlan> plan;
  {
    const GilRelease gil_release(row_request.row_indices.count * 64 + map_work);
    plan.emplace(*model_, row_request.request, kernels != nullptr);
  }
  py::dict result = batch_arrays(*plan, names_, dtypes_, read_, out, grow);
  if (!plan->stage().arrays.empty() && plan->stage().axes.size() <= cuda::kMostDepth) {
    std::vector<std::byte*> outputs;
    for (const BatchOutput& output : plan->outputs()) outputs.push_back(output.data);
    Buffer block(plan->stage().bytes);
    plan->write_stage(block.data());
    make_arrays({kernels, {}, nullptr}, plan->stage(), block.data(), outputs);
    return result;
  }
  const GilRelease gil_release(plan->bytes() + map_work);
  plan->run();
  return result;
}

std::unique_ptr<BatchPlan> BatcherObject::stage(const BatchRequest& request) const {
  const GilRelease gil_release(request.n * 64 + (model_->trust() ? 0 : kMapWork));
  return std::make_unique<BatchPlan>(*model_, request, true);
}

py::str BatcherObject::name_of(const BatchOutput& output) const {
  return output.kind == BatchOutput::Kind::values ? names_[static_cast<std::size_t>(output.key)]
                                                  : py::str(output.name);
}

py::dtype BatcherObject::dtype_of(const BatchOutput& output) const {
  return dtype_of_output(output, dtypes_);
}

py::array BatcherObject::lengths(py::handle rows) const {
  Ints row_indices;
  if (!rows.is_none()) row_indices = as_ints(rows, "rows");
  const std::int64_t n = rows.is_none() ? model_->size() : row_indices.count;
  py::array out = empty_ints(n);
  std::int64_t* const to = ints(out);
  const GilRelease gil_release(n * 16 + (model_->trust() ? 0 : kMapWork));
  model_->lengths(rows.is_none() ? nullptr : row_indices.data, n, to);
  return out;
}

}  // namespace varlen::bindings
