// Windows of sequences: which run of its rows each one gives. A window is a Range inside [0, length).
#pragma once

#include <cstdint>

#include "varlen/views.hpp"

namespace varlen {

enum class Draw : std::uint8_t {
  from_start,       ///< the first rows
  to_end,           ///< the last rows
  random,           ///< every place where a full window fits is as likely
  balanced_random,  ///< every row is as likely: a window may hang over either end, and is clipped
};

/// What random windows depend on. The same numbers give the same windows, on every machine.
struct Dice {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

/// The begin-th to the end-th row of `length` rows as NumPy slices do: negatives from the end, clipped.
[[nodiscard]] Range span_clip(std::int64_t begin, std::int64_t end, std::int64_t length) noexcept;

/// Cuts windows[i] to at most rooms[i] rows. One that fits is left as it is. counters[i] names the sequence:
/// its window depends on dice and counters[i] alone (splitmix64), never on what else is in the call.
/// A room below 0 is no limit.
void span_draw(Draw draw, Dice dice, const std::int64_t* rooms, const std::int64_t* counters, std::int64_t n,
               Range* windows) noexcept;

/// How many windows of at most `room` rows, `stride` apart, it takes to step through a sequence: the last
/// reaches its end or, where stride is above room, is the last that begins inside; an empty sequence has
/// none. full_only counts those of `room` rows alone. room, stride >= 1.
[[nodiscard]] std::int64_t span_steps_of(std::int64_t length, std::int64_t room, std::int64_t stride,
                                         bool full_only = false) noexcept;

/// The same of n sequences together. -1 where the number does not fit 63 bits.
[[nodiscard]] std::int64_t span_count(const std::int64_t* lengths, std::int64_t n, std::int64_t room,
                                      std::int64_t stride) noexcept;

/// Those windows, sequence by sequence: rows, begins and ends hold span_count entries each.
void span_steps(const std::int64_t* lengths, std::int64_t n, std::int64_t room, std::int64_t stride,
                std::int64_t* rows, std::int64_t* begins, std::int64_t* ends) noexcept;

/// Cuts sequences, in the order given, into consecutive batches: the sum of a batch's lengths (padded: its
/// longest times its count) is at most max_tokens, its count at most max_count. A longer sequence is a batch
/// of its own. ends[b] = where batch b ends; ends holds up to n. Gives the number of batches.
[[nodiscard]] std::int64_t span_budget(const std::int64_t* lengths, std::int64_t n, std::int64_t max_tokens,
                                       std::int64_t max_count, bool padded, std::int64_t* ends) noexcept;

}  // namespace varlen
