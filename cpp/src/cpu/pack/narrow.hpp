// Few columns of narrow rows: several steps at a time, one column after another, because a step by
// itself would cost more than the rows in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "support/writers.hpp"
#include "varlen/copy.hpp"
#include "varlen/pack.hpp"

namespace varlen {

inline constexpr std::int64_t kStageBytes = 4096;  // of the steps that are taken together

[[nodiscard]] inline std::int64_t slots_of(const Steps& steps, std::int64_t t) noexcept {
  return steps.padded ? steps.columns : steps.size_at_t[t];
}

[[nodiscard]] inline bool are_narrow(const Steps& steps, Range ts, Range columns,
                                     std::int64_t width) noexcept {
  return ts.size() > 1 && columns.size() == steps.columns && width <= 64 &&
         steps.columns * width <= kStageBytes / 4;
}

/// Where steps from t on stop to be taken together; packed, only those that are equally wide are.
[[nodiscard]] inline std::int64_t narrow_until(const Steps& steps, std::int64_t t, std::int64_t end,
                                               std::int64_t row) noexcept {
  std::int64_t stop = std::min(end, t + kStageBytes / row);
  while (!steps.padded && steps.size_at_t[stop - 1] != steps.size_at_t[t]) stop = t + (stop - t) / 2;
  return stop;
}

/// body(column, how many of the steps [t, stop) it has), the columns that have any.
template <class Body>
void each_narrow(const Steps& steps, std::int64_t t, std::int64_t stop, Body body) noexcept {
  std::int64_t count = stop - t;
  for (std::int64_t k = 0; k < steps.size_at_t[t]; ++k) {
    while (steps.size_at_t[t + count - 1] <= k) --count;
    body(k, count);
  }
}

/// Steps `ts` to `out`, where the first of them goes.
template <class Out, class Move>
void pack_narrow(const Steps& steps, const std::byte* const* rows, std::int64_t width, const Pattern& fill,
                 std::byte* out, Range ts, Move move) noexcept {
  alignas(64) std::byte stage[kStageBytes];
  alignas(64) std::byte blank[kStageBytes / 4];
  const std::int64_t capacity = kStageBytes / (steps.columns * width);  // steps on the stage, if padded
  if (steps.padded) {
    CacheWriter(blank, blank + steps.columns * width, fill).fill(steps.columns * width);
    CacheWriter(stage, stage + kStageBytes, fill).fill(capacity * steps.columns * width);
  }
  Out sink(out, out, fill);
  for (std::int64_t t = ts.begin; t < ts.end && slots_of(steps, t) > 0;) {
    const std::int64_t row = slots_of(steps, t) * width;
    const std::int64_t stop = narrow_until(steps, t, ts.end, row);
    each_narrow(steps, t, stop, [&](std::int64_t k, std::int64_t count) {
      const std::byte* input = rows[k] + t * width;
      std::byte* to = stage + k * width;
      for (; count > 0; --count, input += width, to += row) move(to, input, width);
    });
    // What the step that stood here before had more of; everything behind that is blank already.
    for (std::int64_t j = std::max(t, ts.begin + capacity); steps.padded && j < stop; ++j) {
      const std::int64_t blank_bytes = (steps.size_at_t[j - capacity] - steps.size_at_t[j]) * width;
      if (blank_bytes > 0) copy_exact(stage + (j - t) * row + steps.size_at_t[j] * width, blank, blank_bytes);
    }
    sink.copy(stage, (stop - t) * row, stage, stage + kStageBytes);
    t = stop;
  }
  sink.finish();
}

/// Steps `ts` from `input`, where the first of them lies, to their places in the columns.
template <class Move>
void unpack_narrow(const Steps& steps, const std::byte* input, std::int64_t width, std::byte* const* rows,
                   Range ts, Move move) noexcept {
  for (std::int64_t t = ts.begin; t < ts.end && steps.size_at_t[t] > 0;) {
    const std::int64_t row = slots_of(steps, t) * width;
    const std::int64_t stop = narrow_until(steps, t, ts.end, row);
    each_narrow(steps, t, stop, [&](std::int64_t k, std::int64_t count) {
      const std::byte* from = input + k * width;
      std::byte* to = rows[k] + t * width;
      for (; count > 0; --count, from += row, to += width) move(to, from, width);
    });
    input += (stop - t) * row;
    t = stop;
  }
}

}  // namespace varlen
