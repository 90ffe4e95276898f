// What is folded by scans, and the walk over sequences: which rows, by which threads, converted on their way.
#pragma once

#include <cstddef>
#include <cstdint>

#include "support/sequences.hpp"
#include "varlen/scan.hpp"

namespace varlen {

/// Sequences of one column of float, whose sums and products are in double, in blocks of four. Rows [bounds)
/// may be read and written: what runs over the end of a sequence is written again, for sequences are taken in
/// the direction of the scan.
struct Block4Run {
  const float* input;
  float* out;
  const std::int64_t* ends;  ///< of the sequences, end by end
  Range share;               ///< which of them
  Range bounds;              ///< the rows of them
  double start;              ///< what each starts with

  /// The row that sequence i begins with.
  [[nodiscard]] std::int64_t begin(std::int64_t i) const noexcept {
    return i > share.begin ? ends[i - 1] : bounds.begin;
  }
};

/// By op: sums, sums that are exclusive, their reverses; then products.
using Block4Table = void (*[8])(const Block4Run&) noexcept;
namespace baseline {
extern const Block4Table kScanBlock4;
}
namespace avx2 {
extern const Block4Table kScanBlock4;
}

/// Sequences of one column of float, whose running extremes are taken first row to last.
struct FlatRun {
  const float* input;
  float* out;
  const std::int64_t* ends;  ///< of the sequences, end by end
  Range share;               ///< which of them
  Range rows;                ///< their rows
  float start;               ///< what the first of them starts with; the others start with their first row
};

/// Writes the running maxima or minima where this machine has vectors that pay; else gives false.
[[nodiscard]] bool scan_flat_extremes(Scan op, const FlatRun& run) noexcept;

/// Rows of a stretch of sequences in memory, those of a job or some that were converted, in the direction of
/// the scan: the first of them, and steps in elements from row to row.
struct ScanRows {
  const std::byte* input;
  std::byte* out;
  std::int64_t in_step;
  std::int64_t out_step;
  std::int64_t count;
};

/// Where a scan is: in sequence `sequence`, with so many rows of it ahead, and what those behind came to.
struct ScanPlace {
  const std::int64_t* ends;
  Range share;
  std::int64_t first;  ///< row that the first of the sequences starts at
  std::int64_t sequence;
  std::int64_t remaining;
  const std::byte* starts;  ///< accumulators that sequences start with
  std::byte* acc;

  [[nodiscard]] std::int64_t length(std::int64_t i) const noexcept {
    return ends[i] - (i > share.begin ? ends[i - 1] : first);
  }
};

/// How elements of one type are scanned. Accumulators are another type, of 8 bytes at most.
struct ScanLoops {
  std::int64_t size;      ///< bytes of an element
  std::int64_t acc;       ///< and of an accumulator
  std::byte identity[8];  ///< an accumulator of nothing
  /// Rows of w elements onto w accumulators, each written out before or after the row is joined; sequences
  /// follow each other, `turn` (1 or -1) apart.
  void (*run_rows)(ScanRows rows, ScanPlace& place, std::int64_t w, std::int64_t turn,
                   bool exclusive) noexcept;
  /// The same of one sequence without writing, in an order of its own.
  void (*fold)(ScanRows rows, std::int64_t w, std::byte* acc) noexcept;
  /// a = a and then b.
  void (*join)(std::byte* a, const std::byte* b) noexcept;
};

/// The type that elements are in while they are scanned.
[[nodiscard]] inline Type scan_memory(Type type) noexcept {
  if (type == Type::f64) return Type::f64;
  if (is_float(type)) return Type::f32;
  return type >= Type::u8 && type <= Type::u64 ? Type::u64 : Type::i64;
}

/// Halves in float; float in double, its extremes as they are.
[[nodiscard]] const ScanLoops& scan_loops(Scan op, Type type) noexcept;

}  // namespace varlen
