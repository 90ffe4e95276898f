// Between sequences and time-major blocks: tiles of columns, a step at a time, so that what a tile reads
// stays in the cache until all of it was taken, and what it writes is long runs.
#include <algorithm>
#include <optional>

#include "narrow.hpp"
#include "support/prefetch.hpp"
#include "support/writers.hpp"
#include "varlen/concat.hpp"
#include "varlen/copy.hpp"
#include "varlen/pack.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kTile = 1024;  // columns; measured: 256 and 4096 are no faster
constexpr std::int64_t kPrefetchColumns = 8;
constexpr std::int64_t kPrefetchBytes =
    1024;  // of a row; measured at 512: its first line alone takes a third more
constexpr std::int64_t kStage = 4096;

/// A place in a block: a step, a column, and how many slots lie before the step.
struct PackPlace {
  std::int64_t step = 0;
  std::int64_t column = 0;
  std::int64_t slots_before = 0;
};

/// The slot with this number; `take` counts those that hold a row, else all are counted.
PackPlace place_of(const Steps& steps, bool take, std::int64_t number) noexcept {
  if (!take && steps.padded) {
    const std::int64_t t = number / steps.columns;
    return {t, number % steps.columns, t * steps.columns};
  }
  PackPlace place;
  while (place.step < steps.count && number >= steps.size_at_t[place.step]) {
    number -= steps.size_at_t[place.step];
    place.slots_before += slots_of(steps, place.step++);
  }
  place.column = number;
  return place;
}

/// tile(steps, columns, slots before the first of the steps), over everything from one place to another.
template <class Tile>
void in_tiles(const Steps& steps, PackPlace from, const PackPlace& to, Tile tile) noexcept {
  const auto strip = [&](std::int64_t begin, std::int64_t end) {
    tile(Range{from.step, from.step + 1}, Range{begin, end}, from.slots_before);
  };
  if (from.step == to.step) return strip(from.column, to.column);
  if (from.column > 0) {
    strip(from.column, steps.columns);
    from.slots_before += slots_of(steps, from.step++);
  }
  if (from.step < to.step) {
    // The last tile may be up to twice as wide, so that none is narrow.
    for (std::int64_t begin = 0; begin < steps.columns;) {
      const std::int64_t end = steps.columns - begin < 2 * kTile ? steps.columns : begin + kTile;
      tile(Range{from.step, to.step}, Range{begin, end}, from.slots_before);
      begin = end;
    }
  }
  from = {to.step, 0, to.slots_before};
  if (to.column > 0) strip(0, to.column);
}

template <std::int64_t N>
struct FixedMove {
  void operator()(std::byte* out, const std::byte* input, std::int64_t /*width*/) const noexcept {
    detail::move_fixed<N>(out, input);
  }
};
struct MoveAny {
  void operator()(std::byte* out, const std::byte* input, std::int64_t width) const noexcept {
    copy_exact(out, input, width);
  }
};

/// Whole lines past the caches.
struct MoveLines {
  void operator()(std::byte* out, const std::byte* input, std::int64_t width) const noexcept {
    PastCaches::lines(out, input, width);
  }
};

template <class Body>
void with_move(std::int64_t width, Body body) noexcept {
  switch (width) {
    case 1:
      return body(FixedMove<1>{});
    case 2:
      return body(FixedMove<2>{});
    case 4:
      return body(FixedMove<4>{});
    case 8:
      return body(FixedMove<8>{});
    case 16:
      return body(FixedMove<16>{});
    default:
      return body(MoveAny{});
  }
}

/// Row t of columns [begin, end), one after another.
template <class Move>
std::byte* take_step(const std::byte* const* rows, std::int64_t begin, std::int64_t end, std::int64_t offset,
                     std::int64_t width, Move move, std::byte* out) noexcept {
  for (std::int64_t k = begin; k < end; ++k, out += width) {
    if (k + kPrefetchColumns < end)
      prefetch(rows[k + kPrefetchColumns], 0, 0, static_cast<std::uintptr_t>(offset));
    move(out, rows[k] + offset, width);
  }
  return out;
}

template <class Move>
void put_step(CacheWriter& out, const std::byte* const* rows, std::int64_t begin, std::int64_t end,
              std::int64_t offset, std::int64_t width, Move move) noexcept {
  out.out = take_step(rows, begin, end, offset, width, move, out.out);
}

template <class Move>
void put_step(PastCaches& out, const std::byte* const* rows, std::int64_t begin, std::int64_t end,
              std::int64_t offset, std::int64_t width, Move move) noexcept {
  if (width >= 2 * Pattern::kLine) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t prefetch_bytes = k + kPrefetchColumns < end ? std::min(width, kPrefetchBytes) : 0;
      for (std::int64_t place = 0; place < prefetch_bytes; place += Pattern::kLine) {
        prefetch(rows[k + kPrefetchColumns], 0, 0, static_cast<std::uintptr_t>(offset + place));
      }
      const std::byte* input = rows[k] + offset;
      out.copy(input, width, input, input + width);
    }
    return;
  }
  alignas(64) std::byte stage[kStage];
  const std::int64_t limit = kStage / width;
  while (begin < end) {
    const std::int64_t stop = std::min(end, begin + limit);
    const std::byte* last = take_step(rows, begin, stop, offset, width, move, stage);
    out.copy(stage, last - stage, stage, stage + kStage);
    begin = stop;
  }
}

template <class Out>
void pack_part(const Steps& steps, const std::byte* const* rows, std::int64_t width, const Pattern& fill,
               std::byte* out, const PackPlace& from, const PackPlace& to) noexcept {
  with_move(width, [&](auto move) {
    in_tiles(steps, from, to, [&](Range ts, Range columns, std::int64_t slots_before) {
      if (are_narrow(steps, ts, columns, width)) {
        return pack_narrow<Out>(steps, rows, width, fill, out + slots_before * width, ts, move);
      }
      std::optional<Out> sink;
      for (std::int64_t t = ts.begin; t < ts.end; slots_before += slots_of(steps, t++)) {
        const std::int64_t take = std::clamp<std::int64_t>(steps.size_at_t[t], columns.begin, columns.end);
        const std::int64_t end = steps.padded ? columns.end : take;
        if (end == columns.begin) break;
        std::byte* const place = out + (slots_before + columns.begin) * width;
        if (!sink || sink->out != place) {
          if (sink) sink->finish();
          sink.emplace(place, out + (slots_before + end) * width, fill);
        }
        put_step(*sink, rows, columns.begin, take, t * width, width, move);
        if (end > take) sink->fill((end - take) * width);
      }
      if (sink) sink->finish();
    });
  });
}

[[nodiscard]] std::int64_t taken_in(const Steps& steps) noexcept {
  std::int64_t total = 0;
  for (std::int64_t t = 0; t < steps.count; ++t) total += steps.size_at_t[t];
  return total;
}

/// body(from, to) for every chunk.
template <class Body>
void in_chunks(const Steps& steps, bool take, std::int64_t total, std::int64_t width, Body body) noexcept {
  const std::int64_t chunks = std::min(total, chunks_for(total * width));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks,
           [&](std::int64_t c) { body(place_of(steps, take, cut(c)), place_of(steps, take, cut(c + 1))); });
}

}  // namespace

void pack(Steps steps, const std::byte* const* rows, std::int64_t width, const std::byte* fill,
          std::int64_t period, std::byte* out) noexcept {
  const std::int64_t total = steps.padded ? steps.count * steps.columns : taken_in(steps);
  if (total == 0 || width == 0) return;
  if (steps.columns == 1) {  // one sequence, as pad has it
    const std::int64_t length = taken_in(steps);
    const Offsets level{&length, 1};
    Padding how;
    how.fill = fill;
    how.period = period;
    pad(&level, 1, {0, 1}, {rows[0], length, width}, &total, how, out);
    return;
  }
  const Pattern pattern(fill, period);
  const bool past = stores_for(total * width) == Stores::past_caches;
  in_chunks(steps, !steps.padded, total, width, [&](const PackPlace& from, const PackPlace& to) {
    if (past) {
      pack_part<PastCaches>(steps, rows, width, pattern, out, from, to);
    } else {
      pack_part<CacheWriter>(steps, rows, width, pattern, out, from, to);
    }
  });
}

void unpack(Steps steps, const std::byte* block, std::int64_t width, Offsets level,
            const std::int64_t* indices, std::byte** room, std::byte* out) noexcept {
  const std::int64_t total = level.total();
  if (total == 0 || width == 0) return;
  if (steps.columns == 1) {
    const ConcatBlock one{block, total * width};
    concat(&one, 1, out);
    return;
  }
  with_prefetch(
      0, steps.columns, kPrefetchOffsets,
      [&](std::int64_t k) { prefetch(level.ends, indices[k], sizeof(*level.ends)); },
      [&](std::int64_t k) { room[k] = out + level.start(indices[k]) * width; });
  const auto place = reinterpret_cast<std::uintptr_t>(out) | static_cast<std::uintptr_t>(width);
  const bool past = place % Pattern::kLine == 0 && stores_for(total * width) == Stores::past_caches;
  in_chunks(steps, true, total, width, [&](const PackPlace& from, const PackPlace& to) {
    const auto run = [&](auto move) {
      in_tiles(steps, from, to, [&](Range ts, Range columns, std::int64_t slots_before) {
        if (are_narrow(steps, ts, columns, width)) {
          return unpack_narrow(steps, block + slots_before * width, width, room, ts, move);
        }
        for (std::int64_t t = ts.begin; t < ts.end; slots_before += slots_of(steps, t++)) {
          const std::int64_t end = std::min<std::int64_t>(steps.size_at_t[t], columns.end);
          if (end <= columns.begin) break;
          const std::byte* input = block + (slots_before + columns.begin) * width;
          for (std::int64_t k = columns.begin; k < end; ++k, input += width)
            move(room[k] + t * width, input, width);
        }
      });
    };
    if (!past) return with_move(width, run);
    run(MoveLines{});
    PastCaches::fence();
  });
}

}  // namespace varlen
