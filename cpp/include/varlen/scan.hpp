// Running sums, products and extremes: each row with all rows before it in its sequence, column by column.
// Every sequence starts anew. Values and outputs are level.total() rows of `columns` elements, aligned to
// their type; outputs do not overlap inputs. Work is cut by bytes, and what is folded in which order depends
// on a sequence alone: one thread or many, a sequence alone or in a batch, the bits are the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

enum class Scan : std::uint8_t { sum, prod, max, min };

/// What a scan gives: floats and extremes keep their type, sums and products of bools and signed integers are
/// i64, of unsigned ones u64, and wrap as NumPy's do.
[[nodiscard]] Type scanned_type(Scan op, Type type) noexcept;

struct ScanJob {
  Scan op = Scan::sum;
  Type type = Type::f32;
  Offsets level;
  std::int64_t longest = 0;  ///< of the level
  const std::byte* values = nullptr;
  std::int64_t columns = 1;
  bool exclusive = false;  ///< without the row itself: the first row is 0, 1, the type's lowest or highest
  bool reverse = false;    ///< with the rows after it in place of those before it
};

/// Bytes of scratch that a job needs, aligned to 8: none, but where threads share a long sequence.
[[nodiscard]] std::int64_t scan_scratch(const ScanJob& job) noexcept;

/// out: of scanned_type. Row after row in the type itself, halves in float, rounded once an element; sums and
/// products of float in double, in blocks of four where there is one column. A sequence of more than 65536
/// rows and 4 MB is scanned in parts, each on top of what those before it come to. NaN goes through, an
/// infinity stays in its sequence.
void scan(const ScanJob& job, std::byte* scratch, std::byte* out) noexcept;

/// Which row inside its sequence the running extreme of each row is, the first such; -1 where there is none
/// before it. `job` is that of the extremes, but values is what scan gave for it. Threads share any sequence.
void scan_which(const ScanJob& job, std::int64_t* which) noexcept;

/// The way back from extremes: out row j of a sequence is the sum of the rows i of dy that have which[i] = j.
/// Added up in the order of the rows, float in double and halves in float. A float type. Fails with
/// index_out_of_range at the first element (where, value) that is no row of its sequence, and not -1.
Status scan_which_check(Offsets level, std::int64_t columns, const std::int64_t* which) noexcept;
void scan_which_back(Type type, const std::byte* dy, Offsets level, std::int64_t columns,
                     const std::int64_t* which, std::byte* out) noexcept;

/// The way back from products, right where there are zeros. before: the exclusive products of the values in
/// the direction of the job; out row i is that times the sum of dy[t], t from i on (from behind it, where the
/// job is exclusive), times the values between i and t. f32, in double, or f64. One thread a sequence.
void scan_prod_back(const ScanJob& job, const std::byte* dy, const std::byte* prefixes,
                    std::byte* out) noexcept;

}  // namespace varlen
