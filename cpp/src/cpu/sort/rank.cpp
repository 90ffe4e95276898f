#include <algorithm>
#include <cstring>

#include "run.hpp"

namespace varlen {
namespace {

/// body(number of the group, first, end) for each group of equal keys.
template <class W, class Body>
void each_group(const typename W::Item* items, std::int64_t count, Body body) noexcept {
  std::int64_t group = 0;
  for (std::int64_t first = 0; first < count; ++group) {
    const std::uint64_t key = W::key(items[first]);
    std::int64_t end = first + 1;
    while (end < count && W::key(items[end]) == key) ++end;
    body(group, first, end);
    first = end;
  }
}

template <class W>
void rank_in(const SortJob& job, Ranks how, const SortRoom& room, std::byte* scratch,
             std::byte* out) noexcept {
  each_run<W>(job, job.level, room, scratch, [=](std::int64_t i, std::int64_t c, const auto* items) {
    const std::int64_t columns = job.columns;
    const std::int64_t count = job.level.length(i);
    auto* const to = reinterpret_cast<std::int64_t*>(out) + job.level.start(i) * columns + c;
    if (how == Ranks::ordinal) {
      for (std::int64_t r = 0; r < count; ++r) to[W::place(items[r]) * columns] = r + 1;
      return;
    }
    auto* const halves = reinterpret_cast<double*>(out) + job.level.start(i) * columns + c;
    each_group<W>(items, count, [=](std::int64_t group, std::int64_t first, std::int64_t end) {
      const double mean = static_cast<double>(first + 1 + end) / 2;
      const std::int64_t number = how == Ranks::min ? first + 1 : how == Ranks::max ? end : group + 1;
      for (std::int64_t r = first; r < end; ++r) {
        const std::int64_t index = W::place(items[r]) * columns;
        if (how == Ranks::average) {
          halves[index] = mean;
        } else {
          to[index] = number;
        }
      }
    });
  });
}

template <class W>
void find_in(const SortJob& job, const SortRoom& room, std::byte* scratch, Distinct uniques,
             std::int64_t* ends) noexcept {
  each_run<W>(job, job.level, room, scratch, [=](std::int64_t i, std::int64_t, const auto* items) {
    const std::int64_t start = job.level.start(i);
    std::int64_t groups = 0;
    each_group<W>(items, job.level.length(i), [&](std::int64_t group, std::int64_t first, std::int64_t end) {
      uniques.firsts[start + group] = W::place(items[first]);
      uniques.counts[start + group] = end - first;
      groups = group + 1;
      if (uniques.inverse == nullptr) return;
      for (std::int64_t r = first; r < end; ++r) uniques.inverse[start + W::place(items[r])] = group;
    });
    ends[i] = groups;
  });
}

template <std::size_t kSize>
void take_firsts(const std::byte* input, const std::int64_t* firsts, std::int64_t count,
                 std::byte* out) noexcept {
  constexpr auto kStep = static_cast<std::int64_t>(kSize);
  for (std::int64_t k = 0; k < count; ++k) std::memcpy(out + k * kStep, input + firsts[k] * kStep, kSize);
}

}  // namespace

void rank(const SortJob& job, Ranks how, const SortRoom& room, std::byte* scratch, std::byte* out) noexcept {
  if (room.wide) {
    rank_in<WideSort>(job, how, room, scratch, out);
  } else {
    rank_in<NarrowSort>(job, how, room, scratch, out);
  }
}

void unique_find(const SortJob& job, const SortRoom& room, std::byte* scratch, Distinct uniques,
                 std::int64_t* ends) noexcept {
  std::fill_n(ends, job.level.count, 0);
  if (room.wide) {
    find_in<WideSort>(job, room, scratch, uniques, ends);
  } else {
    find_in<NarrowSort>(job, room, scratch, uniques, ends);
  }
  for (std::int64_t i = 1; i < job.level.count; ++i) ends[i] += ends[i - 1];
}

void unique_take(const SortJob& job, Distinct uniques, Offsets result, std::byte* values,
                 std::int64_t* counts) noexcept {
  const std::int64_t size = size_of(job.type);
  const auto take = size == 1   ? &take_firsts<1>
                    : size == 2 ? &take_firsts<2>
                    : size == 4 ? &take_firsts<4>
                                : &take_firsts<8>;
  by_sequences(job.level, size, [&](Range share) {
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      const std::int64_t start = job.level.start(i);
      take(job.values + start * size, uniques.firsts + start, result.length(i),
           values + result.start(i) * size);
      if (counts != nullptr) std::copy_n(uniques.counts + start, result.length(i), counts + result.start(i));
    }
  });
}

}  // namespace varlen
