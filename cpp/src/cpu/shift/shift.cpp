#include "varlen/shift.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "support/dispatch.hpp"
#include "support/prefetch.hpp"
#include "support/writers.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

/// body(rows, past) for shares of the output: `past` where stores go past the caches.
template <class Body>
void by_rows(std::int64_t total, std::int64_t width, Body body) noexcept {
  if (total <= 0 || width <= 0) return;
  const bool past = stores_for(total * width) == Stores::past_caches;
  const std::int64_t chunks = std::min(total, chunks_for(total * width));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks, [&](std::int64_t c) { body(Range{cut(c), cut(c + 1)}, past); });
}

/// body(i, places) for the places of each sequence that lie in `rows`.
template <class Body>
[[gnu::always_inline]] inline void by_places(Offsets level, Range rows, Body body) noexcept {
  std::int64_t i = std::upper_bound(level.ends, level.ends + level.count, rows.begin) - level.ends;
  for (std::int64_t row = rows.begin; row < rows.end; ++i) {
    const std::int64_t start = level.start(i);
    const std::int64_t stop = std::min(level.end(i), rows.end);
    if (row < stop) body(i, Range{row - start, stop - start});
    row = stop;
  }
}

// Of a sequence, on average; measured with plain numbers, moved by one: longer ones are copied one by one as
// fast.
constexpr std::int64_t kAlikeBytes = 4096;

struct Shifting {
  Rows values;
  Offsets level;
  Moves moves;
  bool rolls;
};

template <class Out>
[[gnu::always_inline]] inline void write_shifted(const Shifting& job, Range rows, Out& out) noexcept {
  const std::int64_t width = job.values.width;
  const std::byte* const begin = job.values.data;
  const std::byte* const end = begin + job.values.count * width;
  by_places(job.level, rows, [&](std::int64_t i, Range places) {
    const std::int64_t start = job.level.start(i);
    const std::int64_t length = job.level.length(i);
    const std::int64_t amount = job.moves.distance_of(i);
    // Places from `from` to `to` hold the rows that are `shift` before them.
    const auto copy = [&](std::int64_t from, std::int64_t to, std::int64_t shift) {
      from = std::max(from, places.begin);
      to = std::min(to, places.end);
      if (from < to) out.copy(begin + (start + from - shift) * width, (to - from) * width, begin, end);
    };
    const auto fill = [&](std::int64_t from, std::int64_t to) {
      from = std::max(from, places.begin);
      to = std::min(to, places.end);
      if (from < to) out.fill((to - from) * width);
    };
    if (job.rolls) {
      const std::int64_t rest = amount % length;
      const std::int64_t shift = rest < 0 ? rest + length : rest;
      copy(0, shift, shift - length);
      copy(shift, length, shift);
    } else {
      const std::int64_t shift = std::clamp(amount, -length, length);
      const std::int64_t last = std::min(length, length + shift);
      fill(0, shift);
      copy(shift, last, shift);
      fill(std::max<std::int64_t>(last, 0), length);
    }
  });
  out.finish();
}

VARLEN_LOOP void shift_cached(const Shifting& job, const Pattern& fill, Range rows, std::byte* out) noexcept {
  const std::int64_t width = job.values.width;
  CacheWriter to(out + rows.begin * width, out + rows.end * width, fill);
  write_shifted(job, rows, to);
}

void shift_past(const Shifting& job, const Pattern& fill, Range rows, std::byte* out) noexcept {
  const std::int64_t width = job.values.width;
  PastCaches to(out + rows.begin * width, out + rows.end * width, fill);
  write_shifted(job, rows, to);
}

/// Whether all sequences move by one number, so few rows each that what moves over their ends is little.
bool moves_alike(const Shifting& job) noexcept {
  const std::int64_t width = job.values.width;
  if (job.moves.step != 0 || job.level.count == 0 || width > 16) return false;
  const std::int64_t mean = job.level.total() / job.level.count;
  const std::int64_t shift = job.moves.distance_of(0);
  return shift <= mean / 4 && shift >= -(mean / 4) && mean * width <= kAlikeBytes;
}

// What is copied before the places in it that get none of their own sequence are written: they are in the
// first cache still.
constexpr std::int64_t kAlikeBlock = 16384;

/// All rows as they lie, block by block, and in each the places that get none of their own sequence.
template <class Put>
[[gnu::always_inline]] inline void shift_blocks(const Shifting& job, std::int64_t width, Range rows,
                                                std::byte* out, Put put) noexcept {
  const std::int64_t shift = job.moves.distance_of(0);
  const std::int64_t* const ends = job.level.ends;
  const std::int64_t step = kAlikeBlock / width;
  std::int64_t i = std::upper_bound(ends, ends + job.level.count, rows.begin) - ends;
  for (Range block{rows.begin, rows.begin}; block.begin < rows.end; block.begin = block.end) {
    block.end = std::min(rows.end, block.begin + step);
    const std::int64_t begin = std::max(block.begin, shift);
    const std::int64_t end = std::min(block.end, job.values.count + shift);
    if (begin < end)
      copy_bytes(out + begin * width, job.values.data + (begin - shift) * width, (end - begin) * width);
    std::int64_t first = job.level.start(i);
    for (; i < job.level.count && first < block.end; ++i) {
      const std::int64_t last = ends[i];
      const std::int64_t from = std::max(shift < 0 ? std::max(last + shift, first) : first, block.begin);
      const std::int64_t to = std::min(shift < 0 ? last : std::min(first + shift, last), block.end);
      for (std::int64_t row = from; row < to; ++row) put(out + row * width);
      if (last > block.end) break;
      first = last;
    }
  }
}

void shift_alike(const Shifting& job, const Pattern& fill, Range rows, std::byte* out) noexcept {
  const auto run_fixed = [&](auto bytes) {
    constexpr std::size_t kWidth = decltype(bytes)::value;
    std::uint64_t one = 0;
    std::memcpy(&one, fill.bytes, kWidth);
    shift_blocks(job, kWidth, rows, out, [one](std::byte* to) { std::memcpy(to, &one, kWidth); });
  };
  const std::int64_t width = job.values.width;
  if (width == 4) return run_fixed(std::integral_constant<std::size_t, 4>{});
  if (width == 8) return run_fixed(std::integral_constant<std::size_t, 8>{});
  shift_blocks(job, width, rows, out, [&](std::byte* to) { copy_exact(to, fill.bytes, width); });
}

void shift_all(const Shifting& job, const std::byte* fill, std::byte* out) noexcept {
  const Pattern pattern(fill, job.values.width);
  const bool is_uniform = !job.rolls && moves_alike(job);
  by_rows(job.level.total(), job.values.width, [&](Range rows, bool past) {
    (past ? shift_past : is_uniform ? shift_alike : best<shift_cached>)(job, pattern, rows, out);
  });
}

// Rows are read towards the start of a sequence, sequences towards the end: the machine does not see that all
// lines are wanted in their order, so many bytes later.
constexpr std::uintptr_t kPrefetchBytes = 2048;
// Of longer rows it sees each.
constexpr std::int64_t kPrefetchWidth = 512;

// Elements of four words, turned round together. The shuffles stay inside halves but for one, which both sets
// of instructions have.
using Words = std::uint64_t __attribute__((vector_size(32)));

/// Elements of Width bytes, last to first.
template <int Width>
[[gnu::always_inline]] inline void turn(Words& v) noexcept {
  using V1 = std::uint16_t __attribute__((vector_size(sizeof(Words))));
  using V2 = std::uint32_t __attribute__((vector_size(sizeof(Words))));
  if constexpr (Width <= 8) {
    v = Words{v[3], v[2], v[1], v[0]};
  } else {
    v = Words{v[2], v[3], v[0], v[1]};
  }
  if constexpr (Width <= 4) {
#if defined(__has_builtin) && __has_builtin(__builtin_shufflevector)
    const V2 w = reinterpret_cast<V2>(v);
    v = reinterpret_cast<Words>(__builtin_shufflevector(w, w, 1, 0, 3, 2, 5, 4, 7, 6));
#else
    v = reinterpret_cast<Words>(__builtin_shuffle(reinterpret_cast<V2>(v), V2{1, 0, 3, 2, 5, 4, 7, 6}));
#endif
  }
  if constexpr (Width <= 2) {
    const V2 w = reinterpret_cast<V2>(v);
    v = reinterpret_cast<Words>((w << 16) | (w >> 16));
  }
  if constexpr (Width <= 1) {
    const V1 w = reinterpret_cast<V1>(v);
    v = reinterpret_cast<Words>((w << 8) | (w >> 8));
  }
}

/// Rows [rows) of the output, at `out`. Two vectors a turn, which run over the end of a sequence, where the
/// next one is written later, and read before its start: so no branch waits for how many rows are left. That
/// takes a third to a half of the time of exact ends, for sequences of 4 to 64 numbers.
template <int Width>
VARLEN_LOOP void reverse_narrow(Rows values, Offsets level, Range rows, std::byte* out) noexcept {
  constexpr auto kVector = static_cast<std::int64_t>(sizeof(Words));
  constexpr std::int64_t kTurn = 2 * kVector;
  const std::byte* const limit = out + rows.size() * Width;
  by_places(level, rows, [&](std::int64_t i, Range places) {
    std::byte* to = out + (level.start(i) + places.begin - rows.begin) * Width;
    const std::byte* from = values.data + (level.end(i) - places.begin) * Width;  // behind the first row
    const std::int64_t bytes = places.size() * Width;
    const std::int64_t safe_bytes = std::min<std::int64_t>(limit - to, from - values.data) - kTurn + 1;
    const std::byte* const line = values.data + (level.start(i) + places.begin) * Width;
    std::int64_t place = 0;
    for (const std::int64_t cap = std::min(bytes, safe_bytes); place < cap; place += kTurn) {
      prefetch(line, place, 1, kPrefetchBytes);
      Words a;
      Words b;
      std::memcpy(&a, from - place - kVector, sizeof a);
      std::memcpy(&b, from - place - kTurn, sizeof b);
      turn<Width>(a);
      turn<Width>(b);
      std::memcpy(to + place, &a, sizeof a);
      std::memcpy(to + place + kVector, &b, sizeof b);
    }
    for (; place < bytes; place += Width) std::memcpy(to + place, from - place - Width, Width);
  });
}

using ReverseNarrow = void (*)(Rows, Offsets, Range, std::byte*) noexcept;

ReverseNarrow narrow_for(std::int64_t width) noexcept {
  switch (width) {
    case 1:
      return best<reverse_narrow<1>>;
    case 2:
      return best<reverse_narrow<2>>;
    case 4:
      return best<reverse_narrow<4>>;
    case 8:
      return best<reverse_narrow<8>>;
    case 16:
      return best<reverse_narrow<16>>;
    default:
      return nullptr;
  }
}

template <class Out>
[[gnu::always_inline]] inline void write_reversed(Rows values, Offsets level, Range rows, Out& out) noexcept {
  const std::int64_t width = values.width;
  const std::byte* const begin = values.data;
  const std::byte* const end = begin + values.count * width;
  const std::int64_t amount = width <= kPrefetchWidth ? width : 0;
  by_places(level, rows, [&](std::int64_t i, Range places) {
    const std::byte* from = begin + (level.end(i) - 1 - places.begin) * width;
    const std::byte* line = begin + (level.start(i) + places.begin) * width;
    for (std::int64_t n = places.size(); n > 0; --n, from -= width, line += width) {
      for (std::int64_t place = 0; place < amount; place += Pattern::kLine)
        prefetch(line, place, 1, 2 * kPrefetchBytes);
      out.copy(from, width, begin, end);
    }
  });
  out.finish();
}

VARLEN_LOOP void reverse_cached(Rows values, Offsets level, const Pattern& blank, Range rows,
                                std::byte* out) noexcept {
  CacheWriter to(out + rows.begin * values.width, out + rows.end * values.width, blank);
  write_reversed(values, level, rows, to);
}

void reverse_past(Rows values, Offsets level, const Pattern& blank, Range rows, std::byte* out) noexcept {
  PastCaches to(out + rows.begin * values.width, out + rows.end * values.width, blank);
  write_reversed(values, level, rows, to);
}

/// Narrow rows past the caches: put in order in the first cache, then stored line by line.
void reverse_narrow_past(ReverseNarrow run, Rows values, Offsets level, const Pattern& blank, Range rows,
                         std::byte* out) noexcept {
  constexpr std::int64_t kRoom = 16384;
  alignas(64) std::byte room[kRoom];
  PastCaches to(out + rows.begin * values.width, out + rows.end * values.width, blank);
  for (const std::int64_t cap = kRoom / values.width; rows.begin < rows.end; rows.begin += cap) {
    const Range part{rows.begin, std::min(rows.end, rows.begin + cap)};
    run(values, level, part, room);
    to.copy(room, part.size() * values.width, room, room + kRoom);
  }
  to.finish();
}

}  // namespace

void reverse_rows(Rows values, Offsets level, std::byte* out) noexcept {
  const Pattern blank(nullptr, 0);
  const ReverseNarrow narrow = narrow_for(values.width);
  by_rows(level.total(), values.width, [&](Range rows, bool past) {
    if (narrow == nullptr) {
      (past ? reverse_past : best<reverse_cached>)(values, level, blank, rows, out);
    } else if (past) {
      reverse_narrow_past(narrow, values, level, blank, rows, out);
    } else {
      narrow(values, level, rows, out + rows.begin * values.width);
    }
  });
}

void shift_rows(Rows values, Offsets level, Moves moves, const std::byte* fill, std::byte* out) noexcept {
  shift_all({values, level, moves, false}, fill, out);
}

void roll_rows(Rows values, Offsets level, Moves moves, std::byte* out) noexcept {
  shift_all({values, level, moves, true}, nullptr, out);
}

}  // namespace varlen
