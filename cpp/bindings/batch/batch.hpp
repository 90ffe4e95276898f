// `_core.Batcher` in C++: the model's Batcher, with outputs that are NumPy arrays.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/ndarray.hpp"
#include "support/overlap.hpp"
#include "varlen/model/batch_plan.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Work on mapped memory may wait for a disk: counted as this many bytes where the GIL is concerned.
inline constexpr std::int64_t kMapped = std::int64_t{1} << 20;

/// What the dict of options says; a TypeError names what is none.
BatchOptions batch_options(const py::dict& given);
/// A key: `fill` is one row in the dtype and shape of the output, `nan` one element or None.
BatchKey batch_key(const std::string& name, int dim, py::handle fill, py::handle nan,
                   const BatchOptions& options);

class BatcherObject {
 public:
  BatcherObject(const py::list& shards, const std::vector<std::string>& labels, const py::object& prefix,
                const py::object& suffix, const std::vector<std::string>& names, const std::vector<int>& dims,
                const py::list& fills, const py::list& nans, const py::dict& options);

  py::dict call(py::handle rows, py::handle start, py::handle end, std::uint64_t seed, std::uint64_t epoch,
                py::handle counters, py::handle prefix_rows, py::handle suffix_rows, py::handle out,
                py::handle grow) const;

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

}  // namespace varlen::bindings
