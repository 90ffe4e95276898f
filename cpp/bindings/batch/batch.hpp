// `_core.Batcher` in C++: the model's Batcher, with outputs that are NumPy arrays.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/ndarray.hpp"
#include "support/overlap.hpp"
#include "varlen/model/batch_plan.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Work on mapped memory may wait for a disk: counted as this many bytes where the GIL is concerned.
inline constexpr std::int64_t kMapWork = std::int64_t{1} << 20;

/// What the dict of options says; a TypeError names what is none.
BatchOptions batch_options(const py::dict& input);
/// A key: `fill` is one row in the dtype and shape of the output, `nan` one element or None, `filler` the
/// row of slots that no row fills, or None for what the options say.
BatchKey batch_key(const std::string& name, int dim, py::handle fill, py::handle nan, py::handle filler,
                   const BatchOptions& options);

/// The rows that a batch is asked for, and what they are read from.
struct RowRequest {
  RowRequest(py::handle rows, py::handle start, py::handle end, std::uint64_t seed, std::uint64_t epoch,
             py::handle counters, py::handle prefix_rows, py::handle suffix_rows);
  RowRequest(const RowRequest&) = delete;
  RowRequest& operator=(const RowRequest&) = delete;

  Ints row_indices;
  Ints others[5];
  BatchRequest request;
};

class BatcherObject {
 public:
  BatcherObject(const py::list& shards, const std::vector<std::string>& labels, const py::object& prefix,
                const py::object& suffix, const std::vector<std::string>& names, const std::vector<int>& dims,
                const py::list& fills, const py::list& nans, const py::dict& options, const py::list& filler,
                const py::list& bits);

  py::dict call(py::handle rows, py::handle start, py::handle end, std::uint64_t seed, std::uint64_t epoch,
                py::handle counters, py::handle prefix_rows, py::handle suffix_rows, py::handle out,
                py::handle grow) const;

  /// The same rows on their way to a device: what `StagedBatch` holds.
  [[nodiscard]] std::unique_ptr<BatchPlan> stage(const BatchRequest& request) const;
  /// The name and the dtype of an output.
  [[nodiscard]] py::str name_of(const BatchOutput& output) const;
  [[nodiscard]] py::dtype dtype_of(const BatchOutput& output) const;
  [[nodiscard]] bool reads_maps() const noexcept { return !model_->trust(); }

  /// Rows of each record at axis 1, before any window: int64, all records or those of `rows`.
  py::array lengths(py::handle rows) const;

 private:
  std::unique_ptr<const Batcher> model_;
  std::vector<py::str> names_;     ///< of the keys
  std::vector<py::dtype> dtypes_;  ///< of the keys
  MemoryRead read_;                ///< the columns of all sources
};

/// Arrays for the outputs of a plan: those of `out` (None, or a dict of buffers by name), of `grow` (None, or
/// what gives one: grow(name, dtype, count)), or new ones. All are looked at before one is written.
py::dict batch_arrays(BatchPlan& plan, const std::vector<py::str>& names,
                      const std::vector<py::dtype>& dtypes, const MemoryRead& read, py::handle out,
                      py::handle grow);

/// The dtype of an output; `dtypes` has those of the keys.
[[nodiscard]] py::dtype dtype_of_output(const BatchOutput& output, const std::vector<py::dtype>& dtypes);

/// Makes the arrays of a batch of its block: both lie at the place. `outputs` has an address for each output.
void make_arrays(const Place& place, const BatchStage& stage, const std::byte* block,
                 const std::vector<std::byte*>& outputs);

/// Memory of a device in an array or a tensor, end to end: what does not lie on one is refused.
[[nodiscard]] py::array placed_bytes(const py::object& input, const char* argument);

/// `_core.PinnedMemory`.
void bind_pinned(py::module_& m);

/// `_core.StagedBatch`, and what makes arrays of what it wrote.
void bind_staged(py::module_& m);

}  // namespace varlen::bindings
