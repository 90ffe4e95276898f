#include "varlen/span.hpp"

#include <algorithm>

#include "varlen/support/overflow.hpp"

namespace varlen {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;

/// The output function of splitmix64.
std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

/// 64 random bits to [0, below), by the high half of a product; the bias is below / 2^64.
std::int64_t scale(std::uint64_t bits, std::int64_t limit) noexcept {
  return static_cast<std::int64_t>(
      (static_cast<unsigned __int128>(bits) * static_cast<std::uint64_t>(limit)) >> 64U);
}

}  // namespace

Range span_clip(std::int64_t begin, std::int64_t end, std::int64_t length) noexcept {
  const auto place = [length](std::int64_t x) {
    return std::clamp<std::int64_t>(x < 0 ? x + length : x, 0, length);
  };
  const std::int64_t from = place(begin);
  return {from, std::max(from, place(end))};
}

void span_draw(Draw draw, Dice dice, const std::int64_t* rooms, const std::int64_t* counters, std::int64_t n,
               Range* windows) noexcept {
  const std::uint64_t state = mix(mix(dice.seed + kGolden) ^ (dice.epoch * kGolden));
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t room = rooms[i];
    const Range window = windows[i];
    const std::int64_t length = window.size();
    if (room < 0 || length <= room) continue;
    if (room == 0) {
      windows[i] = {window.begin, window.begin};
      continue;
    }
    std::int64_t begin = 0;
    if (draw == Draw::to_end) begin = length - room;
    if (draw == Draw::random || draw == Draw::balanced_random) {
      const std::uint64_t bits = mix(state + (static_cast<std::uint64_t>(counters[i]) + 1) * kGolden);
      begin =
          draw == Draw::random ? scale(bits, length - room + 1) : scale(bits, length + room - 1) - room + 1;
    }
    windows[i] = {window.begin + std::max<std::int64_t>(begin, 0),
                  window.begin + std::min(begin + room, length)};
  }
}

std::int64_t span_steps_of(std::int64_t length, std::int64_t room, std::int64_t stride,
                           bool full_only) noexcept {
  if (full_only) return length < room ? 0 : (length - room) / stride + 1;
  if (length <= 0) return 0;
  if (length <= room) return 1;
  return std::min((length - room - 1) / stride + 2, (length - 1) / stride + 1);
}

std::int64_t span_count(const std::int64_t* lengths, std::int64_t n, std::int64_t room,
                        std::int64_t stride) noexcept {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    if (!checked_add(total, span_steps_of(lengths[i], room, stride), total)) return -1;
  }
  return total;
}

void span_steps(const std::int64_t* lengths, std::int64_t n, std::int64_t room, std::int64_t stride,
                std::int64_t* rows, std::int64_t* begins, std::int64_t* ends) noexcept {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t count = span_steps_of(lengths[i], room, stride);
    for (std::int64_t k = 0; k < count; ++k) {
      *rows++ = i;
      *begins++ = k * stride;
      *ends++ = k * stride + std::min(room, lengths[i] - k * stride);
    }
  }
}

std::int64_t span_budget(const std::int64_t* lengths, std::int64_t n, std::int64_t max_tokens,
                         std::int64_t max_count, bool padded, std::int64_t* ends) noexcept {
  std::int64_t batches = 0;
  std::int64_t count = 0;
  std::int64_t sum = 0;
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t top = std::max(longest, lengths[i]);
    std::int64_t cost = 0;
    const bool fits = padded ? checked_mul(top, count + 1, cost) : checked_add(sum, lengths[i], cost);
    if (count > 0 && (!fits || cost > max_tokens || count >= max_count)) {
      ends[batches++] = i;
      count = 0;
      sum = 0;
      longest = 0;
    }
    ++count;
    sum += lengths[i];
    longest = std::max(longest, lengths[i]);
  }
  if (count > 0) ends[batches++] = n;
  return batches;
}

}  // namespace varlen
