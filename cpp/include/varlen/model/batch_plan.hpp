// Batches of rows of several joints. A Batcher has looked at sources and options once; a BatchPlan is one
// batch of it: which outputs there are, how large each is, and how it is written into memory that is given.
//
//     const varlen::Joint visits = varlen::open_joint("visits.nrt");
//     const varlen::Batcher batcher({{visits, ""}}, {varlen::key_of(visits, "time")}, options);
//     varlen::BatchPlan plan(batcher, {.rows = rows, .n = 3});
//     for (varlen::BatchOutput& output : plan.outputs()) output.data = allocate(output.bytes);
//     plan.run();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "varlen/batch.hpp"
#include "varlen/model/batch_stage.hpp"
#include "varlen/model/joint.hpp"
#include "varlen/model/memory.hpp"
#include "varlen/pad.hpp"
#include "varlen/span.hpp"

namespace varlen {

/// A key of the batches: where it lies in the sources, and the row that fills, in the dtype of the output.
struct BatchKey {
  std::string name;
  int dim = 0;
  std::shared_ptr<const Values> fill;     ///< one row
  std::shared_ptr<const Values> nan;      ///< one element that takes the place of NaN; null keeps NaN
  std::shared_ptr<const Values> gap_row;  ///< the row of slots that no row fills; null is zero bytes
};

/// A key as it lies in a joint, filled with zero bytes.
[[nodiscard]] BatchKey key_of(const Joint& joint, const std::string& name);

struct BatchOptions {
  bool flatten = false;  ///< all dims of a key on one axis
  bool lift = false;     ///< all rows of a source are one record
  FillMode fill_mode = FillMode::first;
  bool fill_nan = false;  ///< what no row fills counts as NaN
  Side side = Side::right;
  Side cut = Side::right;
  Draw draw = Draw::from_start;
  bool ragged = false;  ///< values end to end and offsets, instead of rectangles and masks
  bool masks = true;
  bool lengths = false;
  bool positions = false;
  bool parts = false;
  bool windows = false;
  bool cu_seqlens = true;
  std::int64_t max_len = -1;            ///< most rows of axis 1; below 0: all
  std::int64_t max_bytes = -1;          ///< of all outputs; below 0: no limit
  std::vector<std::int64_t> inner_max;  ///< most slots of axes 2, 3, ...
  std::vector<std::int64_t> pad_to;     ///< of axes 1, 2, ...; -1 is as needed
  std::vector<std::int64_t> multiple;   ///< of axes 1, 2, ...
};

/// A key whose values lie in blocks of bits, which are decoded into the batch.
struct BitColumn {
  std::string name;
  int dim = 0;
  std::shared_ptr<const Values> like;  ///< elements and row shape; its rows are not read
  BitBlocks blocks;
  std::shared_ptr<const void> owner;
};

/// Where rows come from; errors name the label: the path of a file, or an argument.
struct BatchSource {
  Joint joint;
  std::string label;
  bool is_file = false;
  std::vector<BitColumn> bits = {};  ///< NOLINT(readability-redundant-member-init): keys beside the joint's
};

/// The rows of one batch, counted through all sources, negatives from the end. Each pointer that is not null
/// has n entries.
struct BatchRequest {
  const std::int64_t* rows = nullptr;
  std::int64_t n = 0;
  const std::int64_t* start = nullptr;  ///< of the window of each row, as slices count
  const std::int64_t* end = nullptr;
  Dice dice;
  const std::int64_t* counters = nullptr;     ///< what random windows depend on; null: the row
  const std::int64_t* prefix_rows = nullptr;  ///< which record of the prefix; null: one for all, or as many
  const std::int64_t* suffix_rows = nullptr;
};

/// Sources and options that were looked at once. Any thread may plan batches of it.
class Batcher {
 public:
  Batcher(const std::vector<BatchSource>& sources, std::vector<BatchKey> keys, BatchOptions options,
          std::optional<Joint> prefix = {}, std::optional<Joint> suffix = {});

  /// Rows of all sources together.
  [[nodiscard]] std::int64_t size() const noexcept { return starts_.back(); }
  /// Rows of n records at axis 1, before any window; `rows` null: the first n.
  void lengths(const std::int64_t* rows, std::int64_t n, std::int64_t* out) const;
  /// Whether every level was checked, and no other thread can write to one.
  [[nodiscard]] bool trust() const noexcept { return trust_; }
  [[nodiscard]] const std::vector<BatchKey>& keys() const noexcept { return keys_; }
  [[nodiscard]] const std::vector<BatchSource>& sources() const noexcept { return joints_; }

 private:
  friend class BatchPlan;

  /// What was found out about a key.
  struct Feeds {
    int axes = 0;  ///< ragged axes in the batch
    std::int64_t width = 1;
    std::vector<std::int64_t> row_shape;
    const std::byte* pattern = nullptr;  ///< of fill; null where it is zero bytes
    const std::byte* gap_row = nullptr;
    std::optional<Type> type;  ///< of the output; none where it has no number type
    std::vector<Type> from;    ///< [source], where feeds convert
    std::vector<Feed> values;  ///< [source]
    std::vector<Feed> is_nan;  ///< [source]: one byte an element, 1 where it is NaN
    std::size_t one = 0;       ///< a source that has it
    bool is_uniform = true;    ///< every feed has the same bytes a row and the same conversion
    bool has_bits = false;     ///< a feed is decoded
  };

  void add_source(const BatchSource& original, bool edge);
  void add_edge(std::optional<Joint> joint, const char* name, std::int32_t& at);
  void add_feed(std::size_t key, const BatchSource& from, int dim, int place, bool is_needed);
  [[noreturn]] void raise(Status status, Place place, std::int32_t source, const std::string& argument) const;

  std::vector<BatchSource> joints_;  ///< what the views below look at
  std::vector<BatchKey> keys_;
  BatchOptions options_;
  std::vector<std::vector<Offsets>> levels_;       ///< [source]
  std::vector<std::vector<std::int64_t>> counts_;  ///< [source]
  std::vector<std::array<std::int64_t, 2>> lifts_;
  std::vector<Source> sources_;
  std::vector<std::int64_t> starts_;  ///< of the sources but prefix and suffix
  std::vector<Feeds> feeds_;          ///< [key]
  int depth_ = 0;                     ///< of the sources
  int axes_ = 0;                      ///< ragged axes of the batch
  std::int32_t prefix_ = -1;
  std::int32_t suffix_ = -1;
  bool has_outer_ = false;  ///< some key has one value a row
  bool trust_ = true;
};

/// An array of a batch. Who runs the plan sets `data`.
struct BatchOutput {
  enum class Kind : std::uint8_t { values, flags, bytes, int32, int64, number };
  /// What is written there; `plain` is small, and written as it is.
  enum class Part : std::uint8_t { values, not_nan, mask, parts, plain };

  std::string name;
  Kind kind = Kind::values;
  Part part = Part::plain;
  int axes = 0;                     ///< ragged ones
  int key = -1;                     ///< values have the dtype of this key's fill
  std::vector<std::int64_t> shape;  ///< that of a row of the key at its end
  std::int64_t bytes = 0;
  std::int64_t number = 0;  ///< of Kind::number, which has no array
  std::byte* data = nullptr;
};

/// One batch, planned. The Batcher, and the request's arrays, have to outlive it.
class BatchPlan {
 public:
  /// `is_staged`: nothing is written into the outputs, but what they are made of into one block.
  BatchPlan(const Batcher& batcher, const BatchRequest& request, bool is_staged = false);
  BatchPlan(const BatchPlan&) = delete;
  BatchPlan& operator=(const BatchPlan&) = delete;
  ~BatchPlan() = default;

  [[nodiscard]] std::vector<BatchOutput>& outputs() noexcept { return outputs_; }
  /// Of all outputs.
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
  /// Writes every output.
  void run();

  /// How the outputs are made of the block, of a plan that is staged.
  [[nodiscard]] const BatchStage& stage() const noexcept { return stage_; }
  /// Writes the block of stage().bytes.
  void write_stage(std::byte* block);

 private:
  using Feeds = Batcher::Feeds;

  [[nodiscard]] Runs runs() const noexcept { return {b_.sources_.data(), source_ids_.data(), count_}; }
  [[nodiscard]] std::size_t source_of(std::size_t run) const noexcept {
    return source_ids_.size() == 0 ? 0 : static_cast<std::size_t>(source_ids_[run]);
  }
  [[nodiscard]] std::int64_t total(int axis) const noexcept {
    const auto& ends = run_ends_[static_cast<std::size_t>(axis)];
    return ends.size() == 0 ? 0 : ends[ends.size() - 1];
  }
  void need(Status status, Place place, const std::string& argument = {}) const;
  void need(Status status, const char* argument) const { need(status, {}, argument); }

  // Which rows: batch_plan.cpp.
  void find_records();
  void first_axis(bool records);
  void put_edge(std::int32_t source, std::int64_t part, const std::int64_t* rows, const char* argument);
  void enter();
  void cut_windows();
  void measure(bool is_measured);
  void own_levels();
  void check_values() const;
  void check_runs(std::size_t key, const std::vector<Feed>& feeds, const Range* ranges) const;
  void settle_sizes();
  void measure_kept();

  // Which outputs, and what is written into each: batch_outputs.cpp.
  void add_outputs();
  std::size_t add(std::string name, BatchOutput::Kind kind, std::vector<std::int64_t> shape, int key = -1);
  /// Who writes an output, and what that is.
  void add_job(std::size_t output, BatchOutput::Part part, int axes, std::function<void()> job);
  [[nodiscard]] std::byte* at(std::size_t output) const noexcept { return outputs_[output].data; }
  [[nodiscard]] std::int64_t* ints_at(std::size_t output) const noexcept {
    return reinterpret_cast<std::int64_t*>(outputs_[output].data);
  }
  [[nodiscard]] std::vector<std::int64_t> shape_of(int axes) const;
  void add_values(std::size_t key);
  void add_not_nan(std::size_t key);
  void add_mask(int axes);
  void add_levels(int axes);
  void add_extras();
  void write_values(std::size_t key, std::byte* to);
  void write_not_nan(std::size_t key, std::byte* to);
  void write_not_nan_rows(std::size_t key, std::byte* rows);
  void write_parts(std::byte* to);
  void write_parts_rows(std::byte* rows);

  // What goes to a device, and what it becomes there: batch_stage.cpp.
  void add_stage();
  void stage_values(std::size_t key, StagedArray& array);
  void stage_not_nan(std::size_t key, StagedArray& array);
  void stage_levels();
  /// Room in the block, and who writes it.
  std::int64_t stage(std::int64_t bytes, std::function<void(std::byte*)> write);
  /// The rows of a key as they lie in the sources, which are alike.
  std::int64_t stage_key(std::size_t key);

  [[nodiscard]] bool is_above(std::size_t key) const noexcept {
    return b_.options_.flatten && b_.keys_[key].dim > 0 && b_.keys_[key].dim < b_.depth_;
  }
  [[nodiscard]] Padding how(const std::byte* pattern, const Convert& convert = {}) const noexcept {
    return {b_.options_.side, b_.options_.cut, pattern, 0, stores_, keeps_.data(), convert};
  }
  /// What every run gives a rectangle of so many ragged axes; `feeds` null: a mask.
  [[nodiscard]] Scratch<Segment> segments(const Feeds* feeds, int axes) const;
  /// One value a row of the batch.
  void outer(const std::vector<Feed>& feeds, std::size_t key, std::int64_t width, std::byte* to) const;
  /// All runs of a key, `width` bytes a row; `gap_row` is the row of slots that no row fills.
  void end_to_end(const std::vector<Feed>& feeds, std::size_t key, std::int64_t width,
                  const std::byte* gap_row, std::byte* target) const;
  /// The ends of a level of the batch, from the second axis on.
  void level_ends(int axis, std::int64_t* out) const;
  /// Rows that lie end to end to a rectangle.
  void pad_rows(const std::byte* rows, int axes, std::int64_t width, const std::byte* pattern, std::byte* to);

  const Batcher& b_;
  BatchRequest request_;
  std::int64_t n_ = 0;
  std::int64_t per_row_ = 1;
  std::int64_t count_ = 0;              ///< of runs
  Scratch<std::int32_t> source_ids_;    ///< empty where all runs are of the first source
  Scratch<Range> records_;              ///< empty where nothing asks for them
  Scratch<Range> windows_;              ///< inside the record, of every batch row
  std::vector<Scratch<Range>> ranges_;  ///< [axis]: rows of the runs at that axis
  std::vector<std::vector<Range>> up_;  ///< [dim]: rows above the slots, when flattened; empty for an edge
  std::vector<Range*> up_view_;
  std::vector<Scratch<std::int64_t>> run_ends_;    ///< [axis]: rows in runs [0, i]
  Scratch<std::int64_t> sums_;                     ///< what row_ends looks at, where a row has several runs
  const std::int64_t* row_ends_ = nullptr;         ///< rows of axis 1 in batch rows [0, k]
  std::vector<Scratch<std::int64_t>> own_ends_;    ///< [axis]: of the runs, where a source may be written to
  std::vector<Offsets> own_levels_;                ///< [run][axis - 2]: views of them
  std::vector<std::vector<std::int64_t>> levels_;  ///< [axis]: ends of the batch's own level, where needed
  std::vector<std::int64_t> sizes_;                ///< slots of every ragged axis
  std::vector<std::int64_t> keeps_;                ///< most rows of a sequence of every axis
  std::vector<BatchOutput> outputs_;
  std::vector<std::function<void()>> jobs_;
  std::vector<std::function<void()>> plain_jobs_;  ///< of outputs whose part is plain
  BatchStage stage_;
  std::vector<std::pair<std::int64_t, std::function<void(std::byte*)>>> writers_;  ///< places and who writes
  std::vector<std::int64_t> staged_keys_;  ///< places of rows as they lie in the sources; -1: nowhere
  std::int64_t bytes_ = 0;
  Stores stores_ = Stores::by_size;
};

}  // namespace varlen
