#include "varlen/sort.hpp"

#include <cstring>

#include "run.hpp"
#include "support/read_once.hpp"

namespace varlen {
namespace {

/// out[r] = input[place of item r], elements of kSize bytes, `columns` apart.
template <std::size_t kSize, class W>
void take(const std::byte* input, std::int64_t columns, const typename W::Item* items, std::int64_t count,
          std::byte* out) noexcept {
  const std::int64_t step = columns * static_cast<std::int64_t>(kSize);
  for (std::int64_t r = 0; r < count; ++r) {
    std::memcpy(out + r * step, input + W::place(items[r]) * step, kSize);
  }
}

template <class W>
void take_any(std::int64_t size, const std::byte* input, std::int64_t columns, const typename W::Item* items,
              std::int64_t count, std::byte* out) noexcept {
  switch (size) {
    case 1:
      return take<1, W>(input, columns, items, count, out);
    case 2:
      return take<2, W>(input, columns, items, count, out);
    case 4:
      return take<4, W>(input, columns, items, count, out);
    default:
      return take<8, W>(input, columns, items, count, out);
  }
}

template <class W>
void sort_in(const SortJob& job, Offsets tops, const SortRoom& room, std::byte* scratch, std::byte* values,
             std::int64_t* places) noexcept {
  const std::int64_t size = size_of(job.type);
  const std::int64_t columns = job.columns;
  each_run<W>(job, tops, room, scratch, [=](std::int64_t i, std::int64_t c, const auto* items) {
    const std::byte* const input = job.values + (job.level.start(i) * columns + c) * size;
    const std::int64_t first = tops.start(i) * columns + c;
    const std::int64_t count = tops.length(i);
    const std::int64_t shares = count <= kSortGiant ? 1 : chunks_for(2 * count * size);
    parallel(shares, [=](std::int64_t s) {
      const std::int64_t begin = count / shares * s;
      const std::int64_t n = (s + 1 == shares ? count : count / shares * (s + 1)) - begin;
      if (values != nullptr) {
        take_any<W>(size, input, columns, items + begin, n, values + (first + begin * columns) * size);
      }
      if (places == nullptr) return;
      std::int64_t* const to = places + first + begin * columns;
      for (std::int64_t r = 0; r < n; ++r) to[r * columns] = W::place(items[begin + r]);
    });
  });
}

/// Elements back to their places in a sequence of `length`; those that have none are left out.
template <std::size_t kSize>
void put(const std::byte* rows, std::int64_t columns, Range tops, const std::int64_t* places,
         std::int64_t length, std::byte* out) noexcept {
  for (std::int64_t r = tops.begin; r < tops.end; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t index = r * columns + c;
      const std::int64_t place = read_once(places + index);
      if (!is_inside(place, length)) continue;
      std::memcpy(out + (place * columns + c) * static_cast<std::int64_t>(kSize),
                  rows + index * static_cast<std::int64_t>(kSize), kSize);
    }
  }
}

}  // namespace

void sort_kept(Offsets level, std::int64_t limit, std::int64_t* ends) noexcept {
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < level.count; ++i) ends[i] = total += std::min(level.length(i), limit);
}

std::int64_t sort_misplaced(Offsets level, Offsets tops, std::int64_t columns,
                            const std::int64_t* places) noexcept {
  if (columns == 0) return -1;
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t length = level.length(i);
    for (std::int64_t index = tops.start(i) * columns; index < tops.end(i) * columns; ++index) {
      if (places[index] < -1 || places[index] >= length) return index;
    }
  }
  return -1;
}

SortRoom sort_room(const SortJob& job, std::int64_t limit) noexcept {
  SortRoom room;
  if (job.columns == 0) return room;
  const bool is_long = job.longest > std::int64_t{0xFFFFFFFF};
  room.wide = size_of(job.type) == 8 || is_long;
  const std::int64_t item = room.wide ? static_cast<std::int64_t>(sizeof(WideSort::Item)) : 8;
  const std::int64_t held_count = sort_held(job.longest, limit);  // shorter ones hold no more
  room.items = std::max(std::min(held_count, kSortGiant), kRankLimit);
  room.giant = held_count > room.items ? held_count : 0;
  room.shares = chunks_for(job.level.total() * job.columns * item);
  const std::int64_t count_bytes = kSortShares * kBuckets * static_cast<std::int64_t>(sizeof(std::int64_t));
  room.bytes = std::max(room.shares * 2 * room.items * item,
                        room.giant == 0 ? 0 : 2 * room.giant * item + count_bytes);
  return room;
}

void sort(const SortJob& job, Offsets tops, const SortRoom& room, std::byte* scratch, std::byte* values,
          std::int64_t* places) noexcept {
  if (room.wide) {
    sort_in<WideSort>(job, tops, room, scratch, values, places);
  } else {
    sort_in<NarrowSort>(job, tops, room, scratch, values, places);
  }
}

void unsort(Offsets level, Offsets tops, const std::byte* rows, std::int64_t columns, std::int64_t size,
            const std::int64_t* places, std::byte* out) noexcept {
  if (columns == 0 || level.total() == 0) return;
  const auto run = size == 1 ? &put<1> : size == 2 ? &put<2> : size == 4 ? &put<4> : &put<8>;
  by_sequences(level, columns * size, [&](Range share) {
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      std::byte* const to = out + level.start(i) * columns * size;
      std::memset(to, 0, static_cast<std::size_t>(level.length(i) * columns * size));
      run(rows, columns, {tops.start(i), tops.end(i)}, places, level.length(i), to);
    }
  });
}

}  // namespace varlen
