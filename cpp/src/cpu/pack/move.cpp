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
  std::int64_t before = 0;
};

/// The slot with this number; `taken` counts those that hold a row, else all are counted.
PackPlace place_of(const Steps& steps, bool taken, std::int64_t number) noexcept {
  if (!taken && steps.padded) {
    const std::int64_t t = number / steps.columns;
    return {t, number % steps.columns, t * steps.columns};
  }
  PackPlace at;
  while (at.step < steps.count && number >= steps.size_at_t[at.step]) {
    number -= steps.size_at_t[at.step];
    at.before += slots_of(steps, at.step++);
  }
  at.column = number;
  return at;
}

/// tile(steps, columns, slots before the first of the steps), over everything from one place to another.
template <class Tile>
void in_tiles(const Steps& steps, PackPlace from, const PackPlace& to, Tile tile) noexcept {
  const auto strip = [&](std::int64_t begin, std::int64_t end) {
    tile(Range{from.step, from.step + 1}, Range{begin, end}, from.before);
  };
  if (from.step == to.step) return strip(from.column, to.column);
  if (from.column > 0) {
    strip(from.column, steps.columns);
    from.before += slots_of(steps, from.step++);
  }
  if (from.step < to.step) {
    // The last tile may be up to twice as wide, so that none is narrow.
    for (std::int64_t begin = 0; begin < steps.columns;) {
      const std::int64_t end = steps.columns - begin < 2 * kTile ? steps.columns : begin + kTile;
      tile(Range{from.step, to.step}, Range{begin, end}, from.before);
      begin = end;
    }
  }
  from = {to.step, 0, to.before};
  if (to.column > 0) strip(0, to.column);
}

template <std::int64_t N>
struct MoveFixed {
  void operator()(std::byte* out, const std::byte* in, std::int64_t /*width*/) const noexcept {
    detail::move_fixed<N>(out, in);
  }
};
struct MoveAny {
  void operator()(std::byte* out, const std::byte* in, std::int64_t width) const noexcept {
    copy_exact(out, in, width);
  }
};

/// Whole lines past the caches.
struct MoveLines {
  void operator()(std::byte* out, const std::byte* in, std::int64_t width) const noexcept {
    PastCaches::lines(out, in, width);
  }
};

template <class Body>
void with_move(std::int64_t width, Body body) noexcept {
  switch (width) {
    case 1:
      return body(MoveFixed<1>{});
    case 2:
      return body(MoveFixed<2>{});
    case 4:
      return body(MoveFixed<4>{});
    case 8:
      return body(MoveFixed<8>{});
    case 16:
      return body(MoveFixed<16>{});
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
void put_step(Cached& out, const std::byte* const* rows, std::int64_t begin, std::int64_t end,
              std::int64_t offset, std::int64_t width, Move move) noexcept {
  out.out = take_step(rows, begin, end, offset, width, move, out.out);
}

template <class Move>
void put_step(PastCaches& out, const std::byte* const* rows, std::int64_t begin, std::int64_t end,
              std::int64_t offset, std::int64_t width, Move move) noexcept {
  if (width >= 2 * Pattern::kLine) {
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t prefetched = k + kPrefetchColumns < end ? std::min(width, kPrefetchBytes) : 0;
      for (std::int64_t at = 0; at < prefetched; at += Pattern::kLine) {
        prefetch(rows[k + kPrefetchColumns], 0, 0, static_cast<std::uintptr_t>(offset + at));
      }
      const std::byte* in = rows[k] + offset;
      out.copy(in, width, in, in + width);
    }
    return;
  }
  alignas(64) std::byte stage[kStage];
  const std::int64_t most = kStage / width;
  while (begin < end) {
    const std::int64_t stop = std::min(end, begin + most);
    const std::byte* last = take_step(rows, begin, stop, offset, width, move, stage);
    out.copy(stage, last - stage, stage, stage + kStage);
    begin = stop;
  }
}

template <class Out>
void pack_part(const Steps& steps, const std::byte* const* rows, std::int64_t width, const Pattern& fill,
               std::byte* out, const PackPlace& from, const PackPlace& to) noexcept {
  with_move(width, [&](auto move) {
    in_tiles(steps, from, to, [&](Range ts, Range columns, std::int64_t before) {
      if (are_narrow(steps, ts, columns, width)) {
        return pack_narrow<Out>(steps, rows, width, fill, out + before * width, ts, move);
      }
      std::optional<Out> sink;
      for (std::int64_t t = ts.begin; t < ts.end; before += slots_of(steps, t++)) {
        const std::int64_t taken = std::clamp<std::int64_t>(steps.size_at_t[t], columns.begin, columns.end);
        const std::int64_t end = steps.padded ? columns.end : taken;
        if (end == columns.begin) break;
        std::byte* const at = out + (before + columns.begin) * width;
        if (!sink || sink->out != at) {
          if (sink) sink->finish();
          sink.emplace(at, out + (before + end) * width, fill);
        }
        put_step(*sink, rows, columns.begin, taken, t * width, width, move);
        if (end > taken) sink->fill((end - taken) * width);
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
void in_chunks(const Steps& steps, bool taken, std::int64_t total, std::int64_t width, Body body) noexcept {
  const std::int64_t chunks = std::min(total, chunks_for(total * width));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks,
           [&](std::int64_t c) { body(place_of(steps, taken, cut(c)), place_of(steps, taken, cut(c + 1))); });
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
      pack_part<Cached>(steps, rows, width, pattern, out, from, to);
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
  const auto at = reinterpret_cast<std::uintptr_t>(out) | static_cast<std::uintptr_t>(width);
  const bool past = at % Pattern::kLine == 0 && stores_for(total * width) == Stores::past_caches;
  in_chunks(steps, true, total, width, [&](const PackPlace& from, const PackPlace& to) {
    const auto run = [&](auto move) {
      in_tiles(steps, from, to, [&](Range ts, Range columns, std::int64_t before) {
        if (are_narrow(steps, ts, columns, width)) {
          return unpack_narrow(steps, block + before * width, width, room, ts, move);
        }
        for (std::int64_t t = ts.begin; t < ts.end; before += slots_of(steps, t++)) {
          const std::int64_t end = std::min<std::int64_t>(steps.size_at_t[t], columns.end);
          if (end <= columns.begin) break;
          const std::byte* in = block + (before + columns.begin) * width;
          for (std::int64_t k = columns.begin; k < end; ++k, in += width)
            move(room[k] + t * width, in, width);
        }
      });
    };
    if (!past) return with_move(width, run);
    run(MoveLines{});
    PastCaches::fence();
  });
}

}  // namespace varlen
