// Short sequences are sorted in the registers of a warp, others in the memory of a block; runs of what is
// longer than that are merged, twice as long each time. Items are keys and places, so that equal numbers keep
// their order. On the way back it is first found out where each element of the output comes from.
#include <algorithm>

#include "support/divisor.hpp"
#include "support/key.hpp"
#include "support/launch.hpp"
#include "support/sequences.hpp"
#include "support/start.hpp"
#include "support/view.hpp"
#include "varlen/cast.hpp"
#include "varlen/cuda/sort.hpp"
#include "varlen/cuda/span_rows.hpp"

namespace varlen::cuda {

namespace {

#if defined(__CUDACC__)
constexpr int kThreads = 256;
constexpr int kItems = 8;  // of a thread
#else
constexpr int kThreads = 64;  // each is a thread of the host
constexpr int kItems = 2;
#endif
constexpr std::int64_t kRun = kThreads * kItems;
constexpr std::uint32_t kNowhere = 0xffffffff;

template <class Key>
struct Item {
  Key key;
  std::uint32_t place;

  [[nodiscard]] VARLEN_DEVICE bool precedes(const Item& other) const {
    return key != other.key ? key < other.key : place < other.place;
  }
  /// Behind all that there are.
  [[nodiscard]] static VARLEN_DEVICE Item last() { return {static_cast<Key>(~Key{0}), kNowhere}; }
};

/// What all bodies know.
template <class Key>
struct SortSpec {
  Ends level;
  Ends tops;
  const std::byte* numbers;
  Keys<Key> keys;
  std::int64_t columns;
  std::int64_t size;  ///< bytes of a number
  std::byte* values;
  std::int64_t* places;

  [[nodiscard]] VARLEN_DEVICE Item<Key> item(std::int64_t start, std::int64_t place,
                                             std::int64_t column) const {
    return {keys((start + place) * columns + column), static_cast<std::uint32_t>(place)};
  }

  /// The item of this rank to where it goes, if it is kept.
  VARLEN_DEVICE void put(std::int64_t i, std::int64_t rank, std::int64_t column, std::uint32_t place) const {
    const std::int64_t begin = tops.start(i);
    if (rank >= tops.end(i) - begin) return;
    const std::int64_t to = (begin + rank) * columns + column;
    if (places != nullptr) places[to] = place;
    if (values == nullptr) return;
    const std::int64_t from = (level.start(i) + place) * columns + column;
    switch (size) {
      case 1:
        values[to] = numbers[from];
        break;
      case 2:
        copy<std::uint16_t>(from, to);
        break;
      case 4:
        copy<std::uint32_t>(from, to);
        break;
      default:
        copy<std::uint64_t>(from, to);
    }
  }
  template <class Word>
  VARLEN_DEVICE void copy(std::int64_t from, std::int64_t to) const {
    reinterpret_cast<Word*>(values)[to] = reinterpret_cast<const Word*>(numbers)[from];
  }
};

/// Bitonic sorting by one warp: an item a lane.
template <class Key>
struct SortShort {
  static constexpr bool kNoBarrier = false;

  SortSpec<Key> job;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t warps = thread.threads() / kWarp;
    const std::int64_t mine = thread.block() * warps + thread.index() / kWarp;
    const bool exists = mine < job.level.count() * job.columns;
    const std::int64_t i = exists ? mine / job.columns : 0;
    const std::int64_t column = exists ? mine % job.columns : 0;
    const std::int64_t start = job.level.start(i);
    const std::int64_t length = exists ? job.level.end(i) - start : 0;
    const bool is_short = length <= kWarp;
    const int lane = thread.lane();
    Item<Key> item = is_short && lane < length ? job.item(start, lane, column) : Item<Key>::last();
    for (int width = 2; width <= kWarp; width *= 2) {
      for (int step = width / 2; step > 0; step /= 2) {
        const Item<Key> other{thread.shuffle_xor(item.key, step), thread.shuffle_xor(item.place, step)};
        const bool up = (lane & width) == 0;
        const bool takes_less = ((lane & step) == 0) == up;
        if (other.precedes(item) == takes_less) item = other;
      }
    }
    if (is_short && lane < length) job.put(i, lane, column, item.place);
  }
};

/// A run of a sequence that is longer than a warp, by one block. Runs of sequences of several go to `runs`.
template <class Key>
struct SortRun {
  static constexpr bool kNoBarrier = false;

  SortSpec<Key> job;
  std::int64_t slots;
  Item<Key>* runs;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t slot = thread.block() / job.columns;
    const std::int64_t column = thread.block() % job.columns;
    const std::int64_t i = holding_slot(slot);
    const std::int64_t start = job.level.start(i);
    const std::int64_t length = job.level.end(i) - start;
    const std::int64_t first = (slot - first_slot(i)) * kRun;
    if (length <= kWarp || first >= length) return;  // all threads alike
    auto* const items = thread.template memory<Item<Key>>();
    const std::int64_t mine = first + thread.index();
    const std::int64_t rest = length - mine;
    const int limit = rest >= kRun ? kItems : rest <= 0 ? 0 : static_cast<int>((rest - 1) / kThreads + 1);
    Key keys[kItems];
    job.keys.load_many((start + mine) * job.columns + column, kThreads * job.columns, limit, keys);
    VARLEN_UNROLLED for (int k = 0; k < kItems; ++k) {
      const int element = thread.index() + k * kThreads;
      items[element] =
          k < limit ? Item<Key>{keys[k], static_cast<std::uint32_t>(first + element)} : Item<Key>::last();
    }
    VARLEN_ROLLED for (int width = 2; width <= kRun; width *= 2) {
      VARLEN_ROLLED for (int step = width / 2; step > 0; step /= 2) {
        thread.sync();
        for (int k = 0; k < kItems / 2; ++k) {
          const int pair = thread.index() + k * kThreads;
          const int low = 2 * pair - (pair & (step - 1));
          const bool up = (low & width) == 0;
          if (items[low + step].precedes(items[low]) == up) {
            const Item<Key> item = items[low];
            items[low] = items[low + step];
            items[low + step] = item;
          }
        }
      }
    }
    thread.sync();
    VARLEN_ROLLED for (int k = 0; k < kItems; ++k) {
      const int element = thread.index() + k * kThreads;
      if (first + element >= length) continue;
      if (length <= kRun) {
        job.put(i, element, column, items[element].place);
      } else {
        runs[(start + first + element) * job.columns + column] = items[element];
      }
    }
  }

  /// Slots without a look at other sequences: there are at least as many as a sequence has runs.
  [[nodiscard]] VARLEN_DEVICE std::int64_t first_slot(std::int64_t i) const {
    return i + job.level.start(i) / kRun;
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t holding_slot(std::int64_t slot) const {
    std::int64_t low = 0;
    std::int64_t high = job.level.count() - 1;
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (first_slot(middle) <= slot) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
};

/// Pairs of runs of `length` items to runs of twice as many: each item finds its place by its rank in the
/// other.
template <class Key>
struct MergeRuns {
  static constexpr bool kNoBarrier = true;

  SortSpec<Key> job;
  std::int64_t total;
  std::int64_t run;
  const Item<Key>* from;
  Item<Key>* to;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t element = thread.block() * thread.threads() + thread.index();
    if (element >= total * job.columns) return;
    const std::int64_t row = element / job.columns;
    const std::int64_t column = element - row * job.columns;
    const std::int64_t i = job.level.holding(row, 0, job.level.count() - 1);
    const std::int64_t start = job.level.start(i);
    const std::int64_t length = job.level.end(i) - start;
    if (length <= run) return;  // it is in order
    const std::int64_t place = row - start;
    const std::int64_t pair = place / (2 * run) * (2 * run);
    const bool is_left = place - pair < run;
    const std::int64_t other = is_left ? pair + run : pair;
    const std::int64_t others = other >= length ? 0 : (length - other < run ? length - other : run);
    const Item<Key> item = from[element];
    std::int64_t low = 0;
    std::int64_t high = others;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (from[(start + other + middle) * job.columns + column].precedes(item)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const std::int64_t rank = pair + low + (is_left ? place - pair : place - pair - run);
    if (2 * run >= length) {
      job.put(i, rank, column, item.place);
    } else {
      to[(start + rank) * job.columns + column] = item;
    }
  }
};

template <class Key>
Error sort_by(Stream stream, const SortSpec<Key>& job, std::int64_t longest, std::int64_t total,
              std::byte* scratch) noexcept {
  const std::int64_t count = job.level.ends.count;
  Grid grid;
  grid.threads = kThreads;
  grid.blocks = blocks_for(count * job.columns, kThreads / kWarp);
  if (const Error error = launch(stream, grid, SortShort<Key>{job}); error != 0 || longest <= kWarp)
    return error;

  auto* from = reinterpret_cast<Item<Key>*>(scratch);
  auto* to = from + total * job.columns;
  const std::int64_t slots = count + total / kRun;
  grid.blocks = slots * job.columns;
  grid.shared_bytes = kRun * sizeof(Item<Key>);
  if (const Error error = launch(stream, grid, SortRun<Key>{job, slots, from}); error != 0) return error;

  grid.blocks = blocks_for(total * job.columns, kThreads);
  grid.shared_bytes = 0;
  for (std::int64_t run = kRun; run < longest; run *= 2) {
    if (const Error error = launch(stream, grid, MergeRuns<Key>{job, total, run, from, to}); error != 0) {
      return error;
    }
    std::swap(from, to);
  }
  return 0;
}

/// The way back: each element says at its place that it goes there, and the latest of several stays.
struct Claim {
  static constexpr bool kNoBarrier = true;

  Ends tops;
  Ends level;
  Divisor columns;
  View<const std::int64_t> places;
  View<std::int64_t> sources;  ///< the last element that goes there, -1 at first

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t element = thread.block() * thread.threads() + thread.index();
    if (element >= places.count) return;
    const std::int64_t row = columns.quotient(element);
    const std::int64_t i = tops.holding(row, 0, tops.count() - 1);
    const std::int64_t place = places[element];
    if (place < 0 || place >= level.length(i)) return;
    thread.raise(sources[(level.start(i) + place - row) * columns.divisor() + element], element);
  }
};

bool is_wide(Type type) noexcept {
  return type == Type::i64 || type == Type::u64 || type == Type::f64;
}

template <class Key>
Error sort_as(Stream stream, const SortJob& job, std::int64_t total, Offsets tops, std::byte* scratch,
              std::byte* values, std::int64_t* places) noexcept {
  const SortSpec<Key> spec{ends_of(job.level),
                           ends_of(tops),
                           job.values,
                           {job.type, job.values, total * job.columns, job.descending},
                           job.columns,
                           bytes_of(job.type),
                           values,
                           places};
  return sort_by(stream, spec, job.longest, total, scratch);
}

}  // namespace

std::int64_t sort_scratch(const SortJob& job, std::int64_t total) noexcept {
  if (job.longest <= kRun) return 0;
  const std::int64_t item = is_wide(job.type) ? sizeof(Item<std::uint64_t>) : sizeof(Item<std::uint32_t>);
  return 2 * total * job.columns * item;
}

Error sort(Stream stream, const SortJob& job, std::int64_t total, Offsets tops, std::byte* scratch,
           std::byte* values, std::int64_t* places) noexcept {
  if (total == 0 || job.columns == 0) return 0;
  const auto run = is_wide(job.type) ? &sort_as<std::uint64_t> : &sort_as<std::uint32_t>;
  return run(stream, job, total, tops, scratch, values, places);
}

std::int64_t unsort_scratch(std::int64_t total, std::int64_t columns) noexcept {
  return total * columns * std::int64_t{sizeof(std::int64_t)};
}

Error unsort(Stream stream, Offsets level, std::int64_t total, Offsets tops, std::int64_t kept_total,
             const std::byte* rows, std::int64_t columns, std::int64_t size, const std::int64_t* places,
             std::byte* scratch, std::byte* out) noexcept {
  const std::int64_t count = kept_total * columns;
  const std::int64_t all = total * columns;
  auto* const sources = reinterpret_cast<std::int64_t*>(scratch);
  if (const Error error = fill_bytes(stream, 0xff, unsort_scratch(total, columns), sources); error != 0) {
    return error;
  }
  Grid grid;
  grid.blocks = blocks_for(count, grid.threads);
  const Claim claim{ends_of(tops),
                    ends_of(level),
                    Divisor(columns > 0 ? columns : 1, count),
                    {places, count},
                    {sources, all}};
  if (const Error error = launch(stream, grid, claim); error != 0) return error;
  return take_rows(stream, {rows, count, size}, sources, all, out);
}

}  // namespace varlen::cuda
