// Orders of the host, their ways back, and what goes by them: see sort.hpp.
#include <algorithm>

#include "room.hpp"
#include "varlen/host.hpp"

namespace varlen::host {

using cuda::Error;
using cuda::Stream;

namespace {

SortRoom room_of(const SortJob& job) noexcept {
  return sort_room(job, std::min(job.limit, job.longest));
}

/// What unique_find leaves for unique_take, in front of its scratch.
Distinct distinct_in(Room& room, std::int64_t total, std::int64_t* inverse) noexcept {
  const std::int64_t bytes = total * size_of(Type::i64);
  auto* const firsts = reinterpret_cast<std::int64_t*>(room.take(bytes));
  return {firsts, reinterpret_cast<std::int64_t*>(room.take(bytes)), inverse};
}

}  // namespace

std::int64_t sort_scratch(const SortJob& job, std::int64_t) noexcept {
  return room_of(job).bytes;
}

Error sort(Stream, const SortJob& job, std::int64_t, Offsets tops, std::byte* scratch, std::byte* values,
           std::int64_t* places) noexcept {
  varlen::sort(job, tops, room_of(job), scratch, values, places);
  return 0;
}

std::int64_t unique_scratch(const SortJob& job, std::int64_t total) noexcept {
  return 2 * part(total * size_of(Type::i64)) + room_of(job).bytes;
}

Error unique_find(Stream, const SortJob& job, std::int64_t total, std::byte* scratch, std::int64_t* inverse,
                  std::int64_t* lengths) noexcept {
  Room room(scratch);
  const Distinct uniques = distinct_in(room, total, inverse);
  varlen::unique_find(job, room_of(job), room.take(0), uniques, lengths);
  for (std::int64_t i = job.level.count - 1; i > 0; --i) lengths[i] -= lengths[i - 1];
  return 0;
}

Error unique_take(Stream, const SortJob& job, std::int64_t total, std::byte* scratch, Offsets result,
                  std::int64_t, std::byte* values, std::int64_t* counts) noexcept {
  Room room(scratch);
  varlen::unique_take(job, distinct_in(room, total, nullptr), result, values, counts);
  return 0;
}

std::int64_t unsort_scratch(std::int64_t, std::int64_t) noexcept {
  return 0;
}

Error unsort(Stream, Offsets level, std::int64_t, Offsets tops, std::int64_t, const std::byte* rows,
             std::int64_t columns, std::int64_t size, const std::int64_t* places, std::byte*,
             std::byte* out) noexcept {
  varlen::unsort(level, tops, rows, columns, size, places, out);
  return 0;
}

std::int64_t rank_scratch(const SortJob& job, Ranks, std::int64_t) noexcept {
  return room_of(job).bytes;
}

Error rank(Stream, const SortJob& job, Ranks how, std::int64_t, std::byte* scratch, std::byte* out) noexcept {
  varlen::rank(job, how, room_of(job), scratch, out);
  return 0;
}

}  // namespace varlen::host
