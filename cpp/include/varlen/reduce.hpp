// One row for each sequence: sums and extremes of its rows, column by column.
//
// Values are level.total() rows of `columns` elements of one type, aligned to it. Numbers are folded in an
// order that depends on a sequence alone: by lanes or in fours inside blocks of 4096, blocks one after
// another, float in double. One thread or many, a sequence alone or in a batch: the bits are the same. NaN
// goes through.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

enum class Reduce : std::uint8_t { sum, mean, prod, max, min, any, all, norm, logsumexp, var, std };

/// What a reduction gives: halves and float as f32, double as f64, whole numbers as i64 or u64, which wrap as
/// NumPy's do; but f64 for the mean of whole numbers, what spreads them, and norms, b1 for any and all.
[[nodiscard]] Type reduced_type(Reduce op, Type type) noexcept;

struct ReduceJob {
  Reduce op = Reduce::sum;
  Type type = Type::f32;
  Offsets level;
  std::int64_t longest = 0;  ///< of the level
  const std::byte* values = nullptr;
  std::int64_t columns = 1;
  const std::byte* empty = nullptr;  ///< what sequences without rows give, one element; null is zero
  double ddof = 0;                   ///< var and std: what is taken off the number of rows
  /// Where the values are a rectangle: the rows of each sequence, filled up to so many. 0: they lie end to
  /// end.
  std::int64_t slots = 0;
  bool fill_left = false;  ///< which side of a sequence the rest of its slots is, which nobody reads
};

/// Bytes of scratch that a job needs, aligned to 8: none, but where threads share a long sequence.
[[nodiscard]] std::int64_t reduce_scratch(const ReduceJob& job) noexcept;

/// out: level.count rows of `columns` elements of reduced_type. The values are read once; for logsumexp, var
/// and std twice where a sequence is long. Those of no more than ddof rows are NaN. A rectangle gives the
/// bits that its rows give end to end.
void reduce(const ReduceJob& job, std::byte* scratch, std::byte* out) noexcept;

struct ReduceBackJob {
  Reduce op = Reduce::var;  ///< prod, norm, logsumexp, var or std
  Type type = Type::f32;    ///< of the values and of `out`: floats
  Offsets level;
  std::int64_t longest = 0;
  const std::byte* values = nullptr;
  std::int64_t columns = 1;
  /// Those of the results, level.count rows of f64 where the values are, else f32.
  const std::byte* gradients = nullptr;
  const std::byte* result = nullptr;  ///< the results, likewise; of norm and std
  double ddof = 0;
};

/// The gradient of the values: level.total() rows. Of a norm or a deviation of 0 it is 0. For products,
/// values and `out` are of the type of the gradients; each gets the product of the others, so that zeros are
/// right. `weights` has room for as much as the gradients; products need none.
void reduce_back(const ReduceBackJob& job, std::byte* weights, std::byte* out) noexcept;

/// Where places go: one of the two; int32 where the longest sequence has no more rows than that counts.
struct Places {
  std::int64_t* wide = nullptr;
  std::int32_t* narrow = nullptr;

  void put(std::int64_t i, std::int64_t place) const noexcept {
    if (narrow != nullptr) {
      narrow[i] = static_cast<std::int32_t>(place);
    } else {
      wide[i] = place;
    }
  }

  /// `n` of them, from i on.
  template <class I>
  void put(std::int64_t i, const I* places, std::int64_t n) const noexcept {
    if (narrow != nullptr) {
      for (std::int64_t k = 0; k < n; ++k) narrow[i + k] = static_cast<std::int32_t>(places[k]);
    } else {
      for (std::int64_t k = 0; k < n; ++k) wide[i + k] = places[k];
    }
  }
};

/// The first row of each sequence, column by column, that equals what `extremes` says, or is NaN where that
/// is; -1 where none does. found: level.count rows of `columns` elements of the values' type. Which maximum
/// it was.
void reduce_which(const ReduceJob& job, const std::byte* extremes, Places which) noexcept;

/// `reduce` and `reduce_which` of max or min of float or double, read once.
void reduce_extreme(const ReduceJob& job, std::byte* scratch, std::byte* out, Places which) noexcept;

/// Group k of the values is sequence k of `blocks`, repeated: as many times its rows, or none.
struct BlocksJob {
  Type type = Type::f32;  ///< one that sums are of
  Offsets groups;
  Offsets blocks;
  const std::byte* values = nullptr;
  std::int64_t columns = 1;
};

/// Whether there are as many groups as sequences, each so many times as long: miscounted at the first that is
/// not, with its rows, or at `groups.count` with the number of sequences.
Status reduce_blocks_check(Offsets groups, Offsets blocks) noexcept;

/// The repeats of each sequence added up, row by row: blocks.total() rows, zeros where there is none. One
/// after another up to 4096 of them, and those sums likewise, float in double: the same bits for any threads.
void reduce_blocks(const BlocksJob& job, std::byte* out) noexcept;

/// Rows that are added up by weights, `heads` of them a row: a sequence gives as many rows. Weights and sums
/// are f64 where the values are, else f32.
struct WeightedJob {
  Type type = Type::f32;  ///< of the values: floats
  Offsets level;
  std::int64_t longest = 0;            ///< of the level
  const std::byte* values = nullptr;   ///< level.total() rows of `columns`
  const std::byte* weights = nullptr;  ///< level.total() rows of `heads`
  const std::byte* sums = nullptr;     ///< level.count rows of heads * columns: gradients, for the ways back
  std::int64_t columns = 1;
  std::int64_t heads = 1;  ///< heads * columns: fewer than 2**31
};

/// Bytes of scratch that `weighted_sum` needs, aligned to 8: none, but where threads share a sequence.
[[nodiscard]] std::int64_t weighted_scratch(const WeightedJob& job) noexcept;

/// out: level.count rows of heads * columns elements of the values' type, zeros for empty sequences. Blocks
/// of 4096 rows are added up in the type of the weights, and those sums in double.
void weighted_sum(const WeightedJob& job, std::byte* scratch, std::byte* out) noexcept;

/// Its gradients. Of the values: level.total() rows of their type; of the weights: as many of theirs.
void weighted_sum_to_values(const WeightedJob& job, std::byte* out) noexcept;
void weighted_sum_to_weights(const WeightedJob& job, std::byte* out) noexcept;

/// Row i divided by the length of sequence i, in place; rows of empty sequences are left. Floats only.
void divide_by_lengths(Type type, Offsets level, std::int64_t columns, std::byte* rows) noexcept;

}  // namespace varlen
