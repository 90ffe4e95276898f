// Batcher, the object: sources and options that were looked at once, called with rows for each batch.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "joint/joint.hpp"
#include "support/arrays.hpp"
#include "support/dtypes.hpp"
#include "support/overlap.hpp"
#include "support/scratch.hpp"
#include "varlen/batch.hpp"
#include "varlen/span.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// A key of the batch. `fill` is one row in the dtype and shape of the output.
struct BatchKey {
  std::string name;
  py::str text;
  int dim = 0;   ///< in the sources
  int axes = 0;  ///< ragged axes in the batch
  py::array fill;
  const std::byte* pattern = nullptr;  ///< of fill; null where it is zero bytes
  std::int64_t width = 1;
  py::object nan;                      ///< one element that takes the place of NaN, or None
  py::array spread;                    ///< a row of what spreading leaves between, where that is not zero
  const std::byte* between = nullptr;  ///< of spread
  std::optional<Type> type;            ///< of the output; none where it has no number type
  std::vector<Type> from;              ///< [source], where feeds convert
  std::vector<Feed> feeds;             ///< [source]
  std::vector<Feed> nan_feeds;         ///< [source]: one byte an element, 1 where it is NaN
  std::size_t one = 0;                 ///< a source that has it
  bool alike = true;                   ///< every feed has the same bytes a row and the same conversion
};

struct BatchOptions {
  bool flatten = false;
  bool lift = false;  ///< all rows of a shard are one record
  Spread spread = Spread::first;
  bool spread_nan = false;
  Side side = Side::right;
  Side cut = Side::right;
  Draw draw = Draw::from_start;
  bool ragged = false;
  bool masks = true;
  bool lengths = false;
  bool positions = false;
  bool parts = false;
  bool windows = false;
  bool cu_seqlens = true;
  std::int64_t max_len = -1;
  std::int64_t max_bytes = default_max_bytes();
  std::vector<std::int64_t> inner_max;  ///< most slots of axes 2, 3, ...
  std::vector<std::int64_t> pad_to;     ///< of axes 1, 2, ...; -1 is as needed
  std::vector<std::int64_t> multiple;   ///< of axes 1, 2, ...
};

BatchKey make_key(const std::string& name, int dim, const py::handle& fill, const py::handle& nan,
                  const BatchOptions& options);

/// What one call works out before outputs are made.
struct BatchWork {
  std::int64_t n = 0;
  std::int64_t per_row = 1;
  std::int64_t count = 0;              ///< of runs
  Scratch<std::int32_t> of;            ///< empty where all runs are of the first source
  Scratch<Range> records;              ///< empty where nothing asks for them
  Scratch<Range> windows;              ///< inside the record, of every batch row
  std::vector<Scratch<Range>> ranges;  ///< [axis]: rows of the runs at that axis
  std::vector<std::vector<Range>> up;  ///< [dim]: rows above the slots, when flattened; empty for an edge
  std::vector<Range*> up_view;
  std::vector<Scratch<std::int64_t>> run_ends;    ///< [axis]: rows in runs [0, i]
  Scratch<std::int64_t> sums;                     ///< what row_ends looks at, where a row has several runs
  const std::int64_t* row_ends = nullptr;         ///< rows of axis 1 in batch rows [0, k]
  std::vector<Scratch<std::int64_t>> own_ends;    ///< [axis]: of the runs, where a source may be written to
  std::vector<std::vector<std::int64_t>> levels;  ///< [axis]: ends of the batch's own level, where needed
  std::vector<std::int64_t> sizes;                ///< slots of every ragged axis

  [[nodiscard]] Runs runs(const Source* sources) const { return {sources, of.data(), count}; }
  [[nodiscard]] std::size_t from(std::size_t run) const {
    return of.size() == 0 ? 0 : static_cast<std::size_t>(of[run]);
  }
  [[nodiscard]] std::int64_t total(int axis) const {
    const auto& ends = run_ends[static_cast<std::size_t>(axis)];
    return ends.size() == 0 ? 0 : ends[ends.size() - 1];
  }
};

/// Thrown while the GIL may be released; an exception of Python's is made of it afterwards.
struct BatchFault {
  Status status;
  Place place;           ///< the run, for a level that does not hold together
  std::string argument;  ///< or what the caller gave, or the key of a value that does not fit
};

class Batcher {
 public:
  Batcher(const py::list& shards, std::vector<std::string> labels, const py::object& prefix,
          const py::object& suffix, const std::vector<std::string>& names, const std::vector<int>& dims,
          const py::list& fills, const py::list& nans, const py::dict& options);

  py::dict call(py::handle rows, py::handle start, py::handle end, std::uint64_t seed, std::uint64_t epoch,
                py::handle counters, py::handle prefix_rows, py::handle suffix_rows, py::handle out,
                py::handle grow) const;

  /// Rows of each record at axis 1, before any window: int64, all records or those of `rows`.
  py::array lengths(py::handle rows) const;

 private:
  friend class BatchOutputs;

  void add_source(const Joint& joint, const std::string& label, bool edge);
  void add_feed(BatchKey& key, const Joint& j, int dim, int place, bool needed,
                const std::string& where) const;
  void add_edge(const py::object& joint, const char* name, std::int32_t& at);
  void plan(BatchWork& work, const Ints& rows, const Ints* start, const Ints* end, Dice dice,
            const Ints* counters, const Ints* prefix_rows, const Ints* suffix_rows) const;
  void find_records(BatchWork& work, const Ints& rows) const;
  void first_axis(BatchWork& work, const Ints& rows, bool records) const;
  void put_edge(BatchWork& work, std::int32_t source, std::int64_t part, const Ints* rows,
                const char* argument) const;
  void cut_windows(BatchWork& work, const Ints* start, const Ints* end, Dice dice,
                   const std::int64_t* counters) const;
  void enter(BatchWork& work, const Ints* prefix_rows, const Ints* suffix_rows) const;
  void measure(BatchWork& work, bool measured) const;
  void check_values(const BatchWork& work) const;
  void check_runs(const BatchWork& work, const BatchKey& key, const std::vector<Feed>& feeds,
                  const Range* ranges) const;
  [[noreturn]] void raise(const BatchWork& work, const BatchFault& fault) const;

  std::vector<Joint> joints_;  ///< keeps what the views below look at
  std::vector<std::string> labels_;
  std::vector<std::vector<Offsets>> levels_;       ///< [source]
  std::vector<std::vector<std::int64_t>> counts_;  ///< [source]
  std::vector<std::array<std::int64_t, 2>> lifts_;
  std::vector<Source> sources_;
  std::vector<std::int64_t> starts_;  ///< of the shards
  std::vector<BatchKey> keys_;
  BatchOptions options_;
  int depth_ = 0;  ///< of the sources
  int axes_ = 0;   ///< ragged axes of the batch
  std::int32_t prefix_ = -1;
  std::int32_t suffix_ = -1;
  bool has_outer_ = false;  ///< some key has one value a row
  bool trusted_ = true;
  MemoryRead read_;  ///< the columns of all sources
};

}  // namespace varlen::bindings
