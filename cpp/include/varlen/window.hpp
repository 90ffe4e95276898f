// Windows: the neighbours of every row beside it, windows that step through sequences, and the ways back.
// A window never leaves its sequence; what lies outside is zero bytes. Outputs do not overlap inputs, each
// byte of them is written once, and work is cut by bytes: the same bits for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"
#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// `left` places before a row and `right` after it, `dilation` rows apart, around rows 0, stride, 2 stride,
/// ... of each sequence. left, right >= 0 and dilation, stride >= 1; places() fits 63 bits.
struct Window {
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::int64_t dilation = 1;
  std::int64_t stride = 1;

  [[nodiscard]] constexpr std::int64_t places() const noexcept { return left + right + 1; }
};

/// centers[i] = how many rows the sequences [0, i] have a window around: ceil(length / stride) of each.
void window_kept(Offsets level, std::int64_t stride, std::int64_t* centers) noexcept;

/// out (centers.total(), places, values.width): for each row that is kept the rows at its places, first to
/// last. Rows move by width. kept is what window_kept gives.
void seq2col(Rows values, Offsets level, Offsets centers, Window how, std::byte* out) noexcept;

/// The way back, in numbers: dy (centers.total(), places, count) to dx (level.total(), count), each row the
/// sum of the places that it was used in, in ascending order of the rows of dy. Halves are summed in float32,
/// bool is an or, integers wrap. A row that was not used is zeros.
void backprop_seq2col(Type type, const std::byte* dy, std::int64_t count, Offsets level, Offsets centers,
                      Window how, std::byte* dx) noexcept;

/// Windows of `size` rows, `step` rows apart, from the first row of each sequence on, until one reaches its
/// end (step > size: while they begin inside). The last may be shorter; full_only leaves it out then.
struct Stepping {
  std::int64_t size = 1;
  std::int64_t step = 1;
  bool full_only = false;
};

/// ends[i] = how many windows the sequences [0, i] have. Fails with overflow, where = sequence.
Status window_counts(Offsets level, Stepping how, std::int64_t* ends) noexcept;

/// The rows of every window, and ends[k] = how many the windows [0, k] have. `counts` is what window_counts
/// gave. Fails with overflow, where = window.
Status window_ranges(Offsets level, Offsets counts, Stepping how, Range* ranges, std::int64_t* ends) noexcept;

/// The first sequence of two levels of one count whose ends differ; -1 where none does.
[[nodiscard]] std::int64_t window_difference(Offsets a, Offsets b) noexcept;

/// Windows laid end to end, y (rows of all windows, count), back to out (level.total(), count): the sum of
/// the places of each row, or their mean, in the order of the windows. Of bool and integers the mean is
/// float64; else the dtype stays, halves are summed in float32, and sums are as in backprop_seq2col. A row
/// that lies in no window is zeros. `counts` and `ends` are what window_counts and window_ranges gave.
void merge_windows(Type type, const std::byte* y, std::int64_t count, Offsets level, Offsets counts,
                   const std::int64_t* ends, Stepping how, bool mean, std::byte* out) noexcept;

/// The gradient of that mean, as far as it is arithmetic: out = dx, each row divided by how many windows it
/// lies in (by 1 where there is none); its windows are then gathered. A float type.
void share_windows(Type type, const std::byte* dx, std::int64_t count, Offsets level, Offsets counts,
                   Stepping how, std::byte* out) noexcept;

}  // namespace varlen
