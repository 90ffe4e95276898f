// From rows of several sources to one batch. A source is a nest: a file, a shard, a prefix. A batch is made
// of runs: consecutive rows of one source, `per_row` of them under each row of the batch (prefix, window,
// suffix). What is read of a level that was not checked as a whole is checked here, before it is used as a
// place. Dims count as in joint.hpp. Kernels that can fail say in Place which run and level it was.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/bits.hpp"
#include "varlen/cast.hpp"
#include "varlen/joint.hpp"
#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

struct Source {
  Nest nest;
  Range records;      ///< the rows of dim 0 that count
  bool trust = true;  ///< every level was checked
};

/// Run i is of sources[index[i]], or all are of the first where `index` is null; its rows are in an array of
/// Ranges beside it, one array a dim.
struct Runs {
  const Source* sources = nullptr;
  const std::int32_t* index = nullptr;
  std::int64_t count = 0;

  [[nodiscard]] std::int32_t from(std::int64_t i) const noexcept { return index == nullptr ? 0 : index[i]; }
  [[nodiscard]] const Source& source(std::int64_t i) const noexcept { return sources[from(i)]; }
};

struct Place {
  std::int64_t run = -1;
  int level = 0;
};

/// Deepest nesting of a source.
inline constexpr int kMaxBatchDepth = 31;

/// Rows of all sources counted through, negatives from the end, to source and record. Source s has rows
/// [starts[s], starts[s + 1]). Entry k goes to index[k * stride], where there is an `index`, and records[k *
/// stride]. Fails with index_out_of_range: where = k.
Status batch_records(const Source* sources, std::int64_t source_count, const std::int64_t* starts,
                     const std::int64_t* rows, std::int64_t n, std::int64_t stride, std::int32_t* index,
                     Range* records) noexcept;

/// The rows of dim 1 under rows of one source, which has a level, and ends[k] = the rows in runs [0, k]: what
/// batch_records, batch_enter and batch_ends come to for one run a row. `records` may be null; `longest` is
/// raised to the longest run.
Status batch_first(const Source& source, const std::int64_t* rows, std::int64_t n, Range* records,
                   Range* children, std::int64_t* ends, std::int64_t& longest, Place& place) noexcept;

/// From records to their rows of dim 1, or of the deepest dim. A source without levels gives its record.
Status batch_enter(const Runs& runs, bool deepest, const Range* records, Range* children,
                   Place& place) noexcept;

/// From rows of dim d to those of dim d + 1, every bound between checked; `longest` is raised to the longest
/// sequence that was met.
Status batch_under(const Runs& runs, int d, const Range* parents, Range* children, std::int64_t& longest,
                   Place& place) noexcept;

/// From slots of the deepest dim to the rows of every dim in [1, depth) that reach into them: up[d][i].
/// Only sources of more than one level are looked at.
Status batch_rise(const Runs& runs, const Range* records, const Range* slots, Range* const* up,
                  Place& place) noexcept;

/// ends[i] = the rows in runs [0, i]. Fails with overflow: where = i.
Status batch_ends(const Range* runs, std::int64_t count, std::int64_t* ends) noexcept;

/// The ends of every row of `parents`, run after run, counted anew from 0: level d + 1 of the batch.
void batch_level(const Runs& runs, int d, const Range* parents, const Range* children,
                 std::int64_t* out) noexcept;

/// The ends of level d + 1 that the runs need, for levels that another thread may write: of every run in
/// turn, counted from its own first row. own holds the sum of the sizes of `parents`. Fails with decreasing.
Status batch_own_ends(const Runs& runs, int d, const Range* parents, const Range* children, std::int64_t* own,
                      Place& place) noexcept;

/// batch_level from those.
void batch_own_level(std::int64_t count, const Range* parents, const Range* children, const std::int64_t* own,
                     std::int64_t* out) noexcept;

/// A column as it lies in one source, and how its elements change on their way.
struct Feed {
  Rows rows;  ///< without data, where the column lies in blocks of bits
  int dim = 0;
  Convert convert;
  const BitBlocks* bits = nullptr;  ///< of as many numbers as the rows have words

  /// Elements of a row.
  [[nodiscard]] std::int64_t elements() const noexcept { return rows.width / convert.from; }
};

/// The first row of the runs with an element that does not fit `to`: not_representable, where = its row in
/// the source. `from` is the type that each source holds. With skip_nan, NaN fits. Like all that read rows
/// here, it fails with bad_block too.
Status batch_fits(const Feed* feeds, const Type* from, Type to, bool skip_nan, const Runs& runs,
                  const Range* ranges, Place& place) noexcept;

/// The rows of every run, one run after another, `width` bytes each. ends[i] = rows in runs [0, i].
/// Threaded by bytes.
Status batch_rows(const Feed* feeds, const Runs& runs, const Range* ranges, const std::int64_t* ends,
                  std::int64_t width, std::byte* out, Place& place) noexcept;

/// Which slots under a row of a column above them hold it: the first, or all.
enum class FillMode : std::uint8_t { first, repeat };

/// The same for slots of the deepest dim: a column that lies above it goes to the first slot under each row
/// or to all of them, `fill` (width bytes, null is zero) elsewhere. up is what batch_rise gave.
Status batch_broadcast(const Feed* feeds, const Runs& runs, const Range* slots, Range* const* up,
                       const std::int64_t* ends, FillMode mode, const std::byte* fill, std::int64_t width,
                       std::byte* out, Place& place) noexcept;

}  // namespace varlen
