// Ranks and distinct numbers, from what `sort` gives: equal numbers stand side by side there, and a scan
// counts where others begin.
#include <algorithm>

#include "support/divisor.hpp"
#include "support/key.hpp"
#include "support/launch.hpp"
#include "support/number.hpp"
#include "support/selection.hpp"
#include "varlen/cuda/sort.hpp"
#include "varlen/cuda/span_rows.hpp"

namespace varlen::cuda {

namespace {

/// Sorted numbers, column by column, as keys: equal numbers have the same, NaN and zeros of both signs too.
struct InOrder {
  Ends level;
  Divisor columns;
  Keys<std::uint64_t> key;
};

/// The rank of each number to the row that it came from; or, to begin with, a byte of 1 for each that is the
/// first of its equals.
struct RankRows {
  static constexpr bool kNoBarrier = true;

  InOrder order;
  Ranks how;
  std::int64_t first_rank;  ///< of dense ones
  View<const std::int64_t> places;
  View<const std::int64_t> numbers;  ///< dense ranks, from 1
  View<std::uint8_t> marks;          ///< these, where there are any
  View<std::int64_t> out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t element = thread.block() * thread.threads() + thread.index();
    if (element >= places.count) return;
    const std::int64_t columns = order.columns.divisor();
    const std::int64_t row = order.columns.quotient(element);
    const std::int64_t i = order.level.holding(row, 0, order.level.count() - 1);
    const std::int64_t start = order.level.start(i);
    const std::int64_t rows_before = row - start;  // in its sequence
    const bool marks_firsts = marks.count > 0;
    std::int64_t lead = 1;   // equals up to this one
    std::int64_t trail = 1;  // from this one on
    if (marks_firsts || (how != Ranks::ordinal && how != Ranks::dense)) {
      VARLEN_ROLLED for (int side = 0; side < 2; ++side) {
        std::int64_t limit = side == 0 ? rows_before + 1 : order.level.end(i) - row;
        if (marks_firsts && limit > 2) limit = 2;
        const std::int64_t equal_count = equals(element, limit, side == 0 ? -columns : columns);
        (side == 0 ? lead : trail) = equal_count;
      }
    }
    if (marks_firsts) {
      marks[element] = lead == 1 ? 1 : 0;
      return;
    }
    const std::int64_t lowest = rows_before + 2 - lead;
    const std::int64_t limit = rows_before + trail;
    std::int64_t rank = lowest;
    if (how == Ranks::dense) rank = numbers[element] - 1 + first_rank;
    if (how == Ranks::max) rank = limit;
    if (how == Ranks::average) rank = bits_as<std::int64_t>(static_cast<double>(lowest + limit) / 2);
    out[(start + places[element] - row) * columns + element] = rank;
  }

 private:
  /// How many of `limit` numbers, from this one on and `step` apart, are equal to it.
  [[nodiscard]] VARLEN_DEVICE std::int64_t equals(std::int64_t element, std::int64_t limit,
                                                  std::int64_t step) const {
    const std::uint64_t mine = order.key(element);
    std::int64_t low = 1;
    std::int64_t high = limit;
    std::int64_t probe = 1;  // most numbers have no equals: look at the next one first
    VARLEN_ROLLED while (low < high) {
      if (order.key(element + probe * step) == mine) {
        low = probe + 1;
      } else {
        high = probe;
      }
      probe = low + (high - low) / 2;
    }
    return low;
  }
};

/// The parts of a scratch; what is not needed is null.
struct Room {
  std::byte* sorted_values = nullptr;
  std::int64_t* places = nullptr;
  std::int64_t* numbers = nullptr;
  std::byte* marks = nullptr;
  std::byte* work = nullptr;  ///< of what sorts and scans
  std::int64_t bytes = 0;
};

Room room_of(const SortJob& job, Ranks how, std::int64_t total, std::byte* scratch) noexcept {
  constexpr std::int64_t kInt = sizeof(std::int64_t);
  const std::int64_t count = total * job.columns;
  Room room;
  const auto part = [&](std::int64_t bytes) {
    std::byte* const element = scratch != nullptr ? scratch + room.bytes : nullptr;
    room.bytes += part_of(bytes);
    return element;
  };
  room.places = reinterpret_cast<std::int64_t*>(part(count * kInt));
  if (how != Ranks::ordinal) room.sorted_values = part(count * bytes_of(job.type));
  std::int64_t work = sort_scratch(job, total);
  if (how == Ranks::dense) {
    room.numbers = reinterpret_cast<std::int64_t*>(part(count * kInt));
    room.marks = part(count);
    work = std::max(work, scan_scratch(number_job(job.level, job.longest, job.columns, nullptr), total));
  }
  room.work = part(work);
  return room;
}

Error rank_sorted(Stream stream, const SortJob& job, Ranks how, std::int64_t first_rank, std::int64_t total,
                  const Room& room, std::byte* marks, std::int64_t* out) noexcept {
  const std::int64_t count = total * job.columns;
  const auto if_there = [count](const void* data) { return data != nullptr ? count : 0; };
  Grid grid;
  grid.blocks = blocks_for(count, grid.threads);
  return launch(
      stream, grid,
      RankRows{
          {ends_of(job.level), Divisor(job.columns, count), {job.type, room.sorted_values, count, false}},
          how,
          first_rank,
          {room.places, count},
          {room.numbers, if_there(room.numbers)},
          {reinterpret_cast<std::uint8_t*>(marks), if_there(marks)},
          {out, if_there(out)}});
}

/// Sorts and, for dense ranks, numbers what is distinct.
Error prepare(Stream stream, const SortJob& job, Ranks how, std::int64_t total, const Room& room) noexcept {
  Error error = sort(stream, job, total, job.level, room.work, room.sorted_values, room.places);
  if (error != 0 || how != Ranks::dense) return error;
  error = rank_sorted(stream, job, how, 1, total, room, room.marks, nullptr);
  if (error != 0) return error;
  return scan(stream, number_job(job.level, job.longest, job.columns, room.marks), total, room.work,
              reinterpret_cast<std::byte*>(room.numbers));
}

}  // namespace

std::int64_t rank_scratch(const SortJob& job, Ranks how, std::int64_t total) noexcept {
  return room_of(job, how, total, nullptr).bytes;
}

Error rank(Stream stream, const SortJob& job, Ranks how, std::int64_t total, std::byte* scratch,
           std::byte* out) noexcept {
  if (total == 0 || job.columns == 0) return 0;
  const Room room = room_of(job, how, total, scratch);
  const Error error = prepare(stream, job, how, total, room);
  if (error != 0) return error;
  return rank_sorted(stream, job, how, 1, total, room, nullptr, reinterpret_cast<std::int64_t*>(out));
}

std::int64_t unique_scratch(const SortJob& job, std::int64_t total) noexcept {
  return rank_scratch(job, Ranks::dense, total);
}

Error unique_find(Stream stream, const SortJob& job, std::int64_t total, std::byte* scratch,
                  std::int64_t* inverse, std::int64_t* lengths) noexcept {
  const Room room = room_of(job, Ranks::dense, total, scratch);
  if (total > 0) {
    Error error = prepare(stream, job, Ranks::dense, total, room);
    if (error == 0 && inverse != nullptr) {
      error = rank_sorted(stream, job, Ranks::dense, 0, total, room, nullptr, inverse);
    }
    if (error != 0) return error;
  }
  return count_selection(stream, selection_of(job.level, room.numbers, total), lengths);
}

Error unique_take(Stream stream, const SortJob& job, std::int64_t total, std::byte* scratch, Offsets result,
                  std::int64_t distinct, std::byte* values, std::int64_t* counts) noexcept {
  const Room room = room_of(job, Ranks::dense, total, scratch);
  const Selection selection = selection_of(job.level, room.numbers, total);
  std::int64_t* const rows = room.places;  // which nobody needs any more
  Error error = rows_of_selection(stream, selection, result, distinct, rows);
  if (error != 0) return error;
  error = take_rows(stream, {room.sorted_values, total, bytes_of(job.type)}, rows, distinct, values);
  if (error != 0 || counts == nullptr) return error;
  return spaces_of_selection(stream, selection, result, distinct, rows, counts);
}

}  // namespace varlen::cuda
