// The outputs of one call of a Batcher.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "batch.hpp"
#include "support/outputs.hpp"
#include "varlen/pad.hpp"

namespace varlen::bindings {

/// Work on mapped memory may wait for a disk: counted as this many bytes where the GIL is concerned.
inline constexpr std::int64_t kMapped = std::int64_t{1} << 20;

class BatchOutputs {
 public:
  /// `out` is None or a dict of buffers by name; `grow` None or what gives one: grow(name, dtype, count).
  BatchOutputs(const Batcher& batcher, BatchWork& work, py::handle out, py::handle grow);

  py::dict run();

 private:
  std::byte* make(const py::object& name, const py::dtype& dtype, const Extents& shape);
  static py::array buffer(const std::string& name, const py::object& given, const py::dtype& dtype,
                          const Extents& shape, std::int64_t count);
  [[nodiscard]] Extents shape_of(int axes, const py::array& row) const;
  /// What every run gives a rectangle of so many ragged axes.
  [[nodiscard]] std::vector<Segment> segments(const BatchKey* key, int axes) const;
  /// The ends of a level of the batch, from the second axis on.
  void level_ends(int axis, std::int64_t* out) const;
  [[nodiscard]] Padding how(const std::byte* pattern, const Convert& convert = {}) const {
    return {b_.options_.side, b_.options_.cut, pattern, 0, stores_, keeps_.data(), convert};
  }

  void settle_sizes();
  /// The sizes of inner axes that are cut: of what is kept.
  void measure_kept();
  void values(const BatchKey& key);
  void not_nan(const BatchKey& key);
  void mask(int axes);
  void levels(int axes);
  void extras();

  [[nodiscard]] bool is_spread(const BatchKey& key) const {
    return b_.options_.flatten && key.dim > 0 && key.dim < b_.depth_;
  }
  /// Memory for what is put together before it is padded: kept by each thread, given back when it grew large.
  static std::byte* scratch(std::int64_t bytes);
  /// One value a row of the batch.
  void outer(const std::vector<Feed>& feeds, std::int64_t width, std::byte* to) const;
  /// All runs of a key, `width` bytes a row; `between` is what spreading leaves.
  void end_to_end(const std::vector<Feed>& feeds, const BatchKey& key, std::int64_t width,
                  const std::byte* between, std::byte* into) const;
  /// Rows that lie end to end to a rectangle.
  void pad_rows(const std::byte* rows, int axes, std::int64_t width, const std::byte* pattern, std::byte* to);

  const Batcher& b_;
  BatchWork& w_;
  Runs runs_;
  py::dict out_;
  bool has_out_ = false;
  py::object grow_;
  py::dict result_;
  std::int64_t used_ = 0;
  std::int64_t taken_ = 0;
  MemoryWritten written_;            ///< of what the caller gave
  std::vector<Offsets> own_levels_;  ///< [run][axis - 2], where a source may be written to
  Stores stores_ = Stores::by_size;
  std::vector<std::int64_t> keeps_;  ///< most rows of a sequence of every axis
  std::vector<std::function<void()>> jobs_;
};

}  // namespace varlen::bindings
