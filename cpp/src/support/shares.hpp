// Sequences cut into shares of about the same work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "varlen/pool.hpp"
#include "varlen/support/work.hpp"

namespace varlen {

/// Shares of `count` sequences: cost(i) is the work of one, room(i) the bytes of scratch memory that it
/// needs.
template <class Cost, class Room>
WorkShares shares_of(std::int64_t count, Cost cost, Room room) noexcept {
  constexpr std::int64_t kMostWork = std::int64_t{1} << 61;
  WorkShares shares;
  for (std::int64_t i = 0; i < count; ++i) shares.work = std::min(shares.work + cost(i), kMostWork);
  const auto limit = static_cast<std::int64_t>(WorkShares::kLimit);
  const std::int64_t parts = std::min({count, limit, chunks_for(shares.work)});
  std::int64_t begin = 0;
  for (std::int64_t part = 0; part < parts; ++part) {
    std::int64_t end = begin;
    std::int64_t sum = 0;
    std::int64_t peak = 0;
    const bool is_last = part + 1 == parts;
    while (end < count && (is_last || sum < shares.work / parts)) {
      sum += cost(end);
      peak = std::max(peak, room(end));
      ++end;
    }
    if (end == begin) break;
    shares.items[static_cast<std::size_t>(shares.count++)] = {{begin, end}, shares.bytes};
    shares.bytes += (peak + WorkShares::kAlignment - 1) / WorkShares::kAlignment * WorkShares::kAlignment;
    begin = end;
  }
  return shares;
}

/// body(sequences, scratch) for each share, by threads.
template <class Body>
void by_work(const WorkShares& shares, std::byte* scratch, Body body) noexcept {
  parallel(shares.count, [&](std::int64_t c) {
    const WorkShare& share = shares.items[static_cast<std::size_t>(c)];
    body(share.sequences, scratch + share.scratch);
  });
}

}  // namespace varlen
