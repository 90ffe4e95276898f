// The walk over sequences: which threads fold which rows.
//
// A sequence of at most a chunk of rows is folded at once. Of longer ones every chunk is folded by itself,
// as if it were a sequence, and a second launch joins the chunks: what one of them takes does not depend on
// how long its sequence is.
//
// * Rows of few columns: a warp has 32 / width lanes, where `width` is the columns rounded up to a power of
//   two. Row k of a chunk goes to lane k % lanes, and lanes are joined by halves. Where most sequences are
//   shorter than that, several share a warp: each has a team of threads, and what it folds is what a whole
//   warp would. Those that are longer are then folded by the whole warp, one after another.
// * Wider rows: a thread a column.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "folds.hpp"
#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/number.hpp"
#include "support/sequences.hpp"
#include "support/view.hpp"

namespace varlen::cuda {

constexpr std::int64_t kNarrowColumns = 16;

#if defined(__CUDACC__)
constexpr std::int64_t kMostBlocks = INT32_MAX;
#else
constexpr std::int64_t kMostBlocks = 2;  // so that blocks of tests take several turns, as those of devices do
#endif

/// Columns rounded up to a power of two.
[[nodiscard]] inline int log_width(std::int64_t columns) noexcept {
  int log = 0;
  while ((std::int64_t{1} << log) < columns) ++log;
  return log;
}

/// Rows of a chunk, which depend on the columns alone.
[[nodiscard]] inline std::int64_t chunk_rows(std::int64_t columns) noexcept {
  constexpr std::int64_t kMaxRows = 2048;
  constexpr std::int64_t kMinRows = 512;
  return columns > kNarrowColumns ? kMinRows : std::max(kMinRows, kMaxRows >> log_width(columns));
}

/// The chunks of sequences that have several. A sequence that starts in chunk-sized piece p of all rows has
/// the slots from 2 p on, as many as it has chunks: it is longer than a chunk, so that they are its own.
struct Chunks {
  Ends level;
  std::int64_t total;
  std::int64_t rows;   ///< of a chunk
  std::int64_t slots;  ///< 0 where no sequence is longer than a chunk
  std::int64_t room;   ///< rows that a sequence has in a rectangle; 0: they lie end to end
  bool fill_left;

  Chunks(const ReduceJob& job, std::int64_t all, std::int64_t chunk)
      : level(ends_of(job.level)),
        total(all),
        rows(chunk),
        slots(job.longest > chunk ? 2 * blocks_for(all, chunk) : 0),
        room(job.slots),
        fill_left(job.fill_left) {}

  /// Where the first row of a sequence lies, of which the level says where it starts.
  [[nodiscard]] VARLEN_DEVICE std::int64_t place(std::int64_t i, std::int64_t start,
                                                 std::int64_t length) const {
    if (room == 0) return start;
    return i * room + (fill_left ? room - length : 0);
  }

  struct ChunkPlace {
    std::int64_t sequence;  ///< -1: the slot is free
    std::int64_t chunk;
  };
  [[nodiscard]] VARLEN_DEVICE ChunkPlace at(std::int64_t slot) const {
    // Whose slot it is has the last row of the piece.
    const std::int64_t row = (slot / 2 + 1) * rows - 1;
    if (row >= total) return {-1, 0};
    const std::int64_t i = level.holding(row, 0, level.count() - 1);
    const std::int64_t start = level.start(i);
    const std::int64_t chunk = slot - 2 * (start / rows);
    const std::int64_t length = level.end(i) - start;
    if (length <= rows || chunk < 0 || chunk * rows >= length) return {-1, 0};
    return {i, chunk};
  }
};

/// What the kernels of one reduction have in common.
template <class Reader, class Fold>
struct Reduction {
  using Lane = typename Fold::Lane;
  using Chunk = typename Fold::ChunkFold::Lane;

  Reader read;
  Fold fold;
  Chunks chunks;
  std::int64_t columns;
  typename Fold::Sink sink;
  View<Chunk> partial;  ///< chunks.slots rows of what chunks gave

  /// Rows first, first + step, ... below `rows` of a chunk, which lie from `start` on; `rows_before` them are
  /// others of the sequence.
  [[nodiscard]] VARLEN_DEVICE Lane lane(const Fold& column_fold, std::int64_t start, int rows,
                                        std::int64_t rows_before, int first, int step,
                                        std::int64_t column) const {
    Lane result = column_fold.identity();
    const int limit = (rows - first + step - 1) / step;
    VARLEN_ROLLED for (int turn = 0; turn < limit; turn += Fold::kRowsAtOnce) {
      const std::int64_t row = first + turn * step;
      typename Reader::Value values[Fold::kRowsAtOnce];
      if constexpr (requires { read.rows(row, column, step, limit, values); }) {
        read.rows(start + row, column, step, limit - turn, values);
      } else {
        read.load_many((start + row) * columns + column, step * columns, limit - turn, values);
      }
      VARLEN_UNROLLED for (int k = 0; k < Fold::kRowsAtOnce; ++k) {
        if (turn + k < limit) column_fold.add(result, values[k], rows_before + row + k * step);
      }
    }
    return result;
  }
  /// The fold for a column of a sequence that has rows.
  [[nodiscard]] VARLEN_DEVICE Fold fold_at(std::int64_t start, std::int64_t column) const {
    if constexpr (Fold::kPivot) {
      return fold.at(read(start * columns + column));
    } else {
      return fold;
    }
  }
  VARLEN_DEVICE void give(const Fold& column_fold, std::int64_t i, std::int64_t rows, std::int64_t column,
                          const Lane& lane) const {
    if (rows == 0) {
      sink.put_empty(i * columns + column);
    } else {
      sink.put(i * columns + column, column_fold.finish(lane, rows));
    }
  }
};

/// What the lane has whose number differs in the bits of `mask`.
template <class Thread, class Lane>
[[nodiscard]] VARLEN_DEVICE Lane lane_across(Thread& thread, const Lane& lane, int mask) {
  using Word = std::conditional_t<sizeof(Lane) % 8 == 0, std::uint64_t, std::uint32_t>;
  constexpr int kWords = sizeof(Lane) / sizeof(Word);
  Word words[kWords];
  memcpy(words, &lane, sizeof lane);
  VARLEN_UNROLLED for (int k = 0; k < kWords; ++k) words[k] = thread.shuffle_xor(words[k], mask);
  Lane other;
  memcpy(&other, words, sizeof other);
  return other;
}

template <class Reader, class Fold>
struct ReduceNarrow {
  static constexpr bool kNoBarrier = false;
  static constexpr int kShort = 4;  ///< rows of a thread of a team

  Reduction<Reader, Fold> reduction;
  int width_log;
  int team_log;

  using Lane = typename Fold::Lane;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t warps_of_block = thread.threads() / kWarp;
    const int team = 1 << (width_log + team_log);
    const std::int64_t sequences = kWarp / team;
    const std::int64_t slots = reduction.chunks.slots;
    const std::int64_t turns = slots + (reduction.chunks.level.count() + sequences - 1) / sequences;
    for (std::int64_t turn = thread.block() * warps_of_block + thread.index() / kWarp; turn < turns;
         turn += thread.blocks() * warps_of_block) {
      std::int64_t first = (turn - slots) * sequences;
      std::int64_t chunk = -1;
      std::uint32_t left = 0;  // a bit for the first thread of the team of what the whole warp folds
      if (turn < slots) {
        const Chunks::ChunkPlace chunk_place = reduction.chunks.at(turn);
        first = chunk_place.sequence;
        chunk = chunk_place.chunk;
        left = first < 0 ? 0 : 1;
      } else if (team == kWarp) {
        left = reduction.chunks.level.length(first) <= reduction.chunks.rows ? 1 : 0;
      } else {
        left = teams(thread, first);
      }
      for (int from = 0; from < kWarp; from += team, ++first) {
        if (((left >> from) & 1U) != 0) by_warp(thread, first, chunk, turn);
      }
    }
  }

  /// Threads of a warp that have the same column hold lanes, `limit` of them, to be joined by halves.
  template <class Thread>
  [[nodiscard]] VARLEN_DEVICE Lane join_lanes(Thread& thread, const Fold& column_fold, Lane lane,
                                              int limit) const {
    VARLEN_ROLLED for (int half = limit / 2; half > 0; half /= 2)
        column_fold.join(lane, lane_across(thread, lane, half << width_log));
    return lane;
  }

  /// A sequence, or a chunk of it that has this slot.
  template <class Thread>
  VARLEN_DEVICE void by_warp(Thread& thread, std::int64_t i, std::int64_t chunk, std::int64_t slot) const {
    const int column = thread.lane() & ((1 << width_log) - 1);
    const int lanes = kWarp >> width_log;
    const std::int64_t start = reduction.chunks.level.start(i);
    const std::int64_t length = reduction.chunks.level.end(i) - start;
    const std::int64_t rows_before = chunk < 0 ? 0 : chunk * reduction.chunks.rows;
    const std::int64_t rows_left = length - rows_before;
    const std::int64_t rows = rows_left < reduction.chunks.rows ? rows_left : reduction.chunks.rows;
    const bool has_column = column < reduction.columns;
    const std::int64_t place = reduction.chunks.place(i, start, length);
    const Fold column_fold = rows > 0 && has_column ? reduction.fold_at(place, column) : reduction.fold;
    Lane lane = reduction.lane(column_fold, place + rows_before, has_column ? static_cast<int>(rows) : 0,
                               rows_before, thread.lane() >> width_log, lanes, column);
    lane = join_lanes(thread, column_fold, lane, lanes);
    if (thread.lane() >= reduction.columns) return;
    if (chunk < 0) {
      reduction.give(column_fold, i, rows, column, lane);
    } else {
      reduction.partial[slot * reduction.columns + column] = Fold::widen(lane);
    }
  }

  /// Sequences from `first` on, one a team. Those that are too long for it are left: the bits of their first
  /// threads.
  template <class Thread>
  [[nodiscard]] VARLEN_DEVICE std::uint32_t teams(Thread& thread, std::int64_t first) const {
    const Ends& level = reduction.chunks.level;
    const int column = thread.lane() & ((1 << width_log) - 1);
    const int member = (thread.lane() >> width_log) & ((1 << team_log) - 1);
    const int team_size = 1 << team_log;
    const int lanes = kWarp >> width_log;
    const std::int64_t i = first + (thread.lane() >> (width_log + team_log));
    const bool has_sequence = i < level.count();
    const std::int64_t start = has_sequence ? level.start(i) : 0;
    const std::int64_t rows = has_sequence ? level.end(i) - start : 0;
    const int limit = kShort * team_size < lanes ? kShort * team_size : lanes;
    const bool is_short = has_sequence && rows <= limit && column < reduction.columns;
    const std::int64_t mine = is_short ? rows : 0;
    const std::int64_t place = reduction.chunks.place(i, start, rows);
    const Fold column_fold = mine > 0 ? reduction.fold_at(place, column) : reduction.fold;
    typename Reader::Value values[kShort];
    const int own = (static_cast<int>(mine) - member + team_size - 1) >> team_log;
    reduction.read.load_many((place + member) * reduction.columns + column, team_size * reduction.columns,
                             own, values);
    Lane lane[kShort];
    VARLEN_UNROLLED for (int k = 0; k < kShort; ++k) {
      lane[k] = column_fold.identity();
      if (k < own) column_fold.add(lane[k], values[k], member + k * team_size);
    }
    column_fold.join(lane[0], lane[2]);
    column_fold.join(lane[1], lane[3]);
    column_fold.join(lane[0], lane[1]);
    const Lane all = join_lanes(thread, column_fold, lane[0], team_size);
    if (is_short && member == 0) reduction.give(column_fold, i, rows, column, all);
    return thread.ballot(has_sequence && rows > limit && rows <= reduction.chunks.rows);
  }
};

template <class Reader, class Fold>
struct ReduceWide {
  static constexpr bool kNoBarrier = true;

  Reduction<Reader, Fold> reduction;
  Divisor by_columns;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t at = thread.block() * thread.threads() + thread.index();
    const std::int64_t turn = by_columns.quotient(at);
    const std::int64_t column = at - turn * reduction.columns;
    const Ends& level = reduction.chunks.level;
    std::int64_t i = turn - reduction.chunks.slots;
    std::int64_t rows_before = 0;
    if (turn < reduction.chunks.slots) {
      const Chunks::ChunkPlace chunk_place = reduction.chunks.at(turn);
      if (chunk_place.sequence < 0) return;
      i = chunk_place.sequence;
      rows_before = chunk_place.chunk * reduction.chunks.rows;
    } else if (i >= level.count() || level.length(i) > reduction.chunks.rows) {
      return;
    }
    const std::int64_t start = level.start(i);
    const std::int64_t length = level.end(i) - start;
    const std::int64_t rows_left = length - rows_before;
    const std::int64_t rows = rows_left < reduction.chunks.rows ? rows_left : reduction.chunks.rows;
    const std::int64_t place = reduction.chunks.place(i, start, length);
    const Fold column_fold = rows > 0 ? reduction.fold_at(place, column) : reduction.fold;
    const auto lane =
        reduction.lane(column_fold, place + rows_before, static_cast<int>(rows), rows_before, 0, 1, column);
    if (turn < reduction.chunks.slots) {
      reduction.partial[at] = Fold::widen(lane);
    } else {
      reduction.give(column_fold, i, rows, column, lane);
    }
  }
};

/// A thread a column, of sequences and of chunks.
template <class Reader, class Fold>
Error run_wide(Stream stream, const Reduction<Reader, Fold>& reduction) noexcept {
  const std::int64_t threads =
      (reduction.chunks.slots + reduction.chunks.level.ends.count) * reduction.columns;
  Grid grid;
  grid.blocks = blocks_for(threads, grid.threads);
  return launch(stream, grid,
                ReduceWide<Reader, Fold>{reduction, Divisor(reduction.columns, threads + grid.threads)});
}

/// The chunks of a sequence: a block of lanes for every few columns of it.
template <class ChunkFold>
struct JoinChunks {
  static constexpr bool kNoBarrier = false;
  static constexpr int kSlots = 8;  ///< that a block looks at
  static constexpr int kAtOnce = 4;
  static constexpr int kMostWidthLog = 3;

  using Lane = typename ChunkFold::Lane;

  ChunkFold fold;
  Chunks chunks;
  std::int64_t columns;
  typename ChunkFold::Sink sink;
  View<const Lane> partial;
  int width_log;       ///< of the columns of a block
  std::int64_t tiles;  ///< of columns

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t turns = (chunks.slots + kSlots - 1) / kSlots * tiles;
    for (std::int64_t turn = thread.block(); turn < turns; turn += thread.blocks()) {
      const std::int64_t piece = turn / tiles;
      for (std::int64_t slot = piece * kSlots; slot < (piece + 1) * kSlots && slot < chunks.slots; ++slot) {
        const auto [i, chunk] = chunks.at(slot);
        if (i >= 0 && chunk == 0) join(thread, slot, i, turn - piece * tiles);
      }
    }
  }

  template <class Thread>
  VARLEN_DEVICE void join(Thread& thread, std::int64_t slot, std::int64_t i, std::int64_t tile) const {
    const int width = 1 << width_log;
    const int lanes = thread.threads() >> width_log;
    const int first = thread.index() >> width_log;
    const std::int64_t column = tile * width + (thread.index() & (width - 1));
    const std::int64_t rows = chunks.level.length(i);
    const std::int64_t count = (rows + chunks.rows - 1) / chunks.rows;
    Lane lane = fold.identity();
    for (std::int64_t k = first; column < columns && k < count; k += kAtOnce * lanes) {
      Lane part[kAtOnce];
      VARLEN_UNROLLED for (int a = 0; a < kAtOnce; ++a) {
        part[a] = fold.identity();
        if (k + a * lanes < count) part[a] = partial[(slot + k + a * lanes) * columns + column];
      }
      VARLEN_UNROLLED for (int a = 0; a < kAtOnce; ++a) fold.join(lane, part[a]);
    }
    const View<Lane> all{thread.template memory<Lane>(), thread.threads()};
    all[thread.index()] = lane;
    thread.sync();
    VARLEN_ROLLED for (int half = lanes / 2; half > 0; half /= 2) {
      if (first < half) fold.join(all[thread.index()], all[thread.index() + half * width]);
      thread.sync();
    }
    if (first == 0 && column < columns) {
      ChunkFold column_fold = fold;
      sink.put(i * columns + column, column_fold.finish(all[thread.index()], rows));
    }
    thread.sync();
  }
};

/// Bytes of what the chunks of sequences give.
template <class Fold>
[[nodiscard]] std::int64_t chunk_bytes(std::int64_t slots, std::int64_t columns) noexcept {
  return slots * columns * static_cast<std::int64_t>(sizeof(typename Fold::ChunkFold::Lane));
}

/// Threads of a team for sequences of this mean length: each has about two rows.
[[nodiscard]] inline int log_team(std::int64_t total, std::int64_t count, int width_log) noexcept {
  int log = 1;
  while ((1 << (log + width_log)) < kWarp && (std::int64_t{2} << log) * count < total) ++log;
  return log;
}

/// Numbers that lie where the values of a job do.
[[nodiscard]] inline std::int64_t numbers_of(const ReduceJob& job, std::int64_t total) noexcept {
  return (job.slots > 0 ? job.level.count * job.slots : total) * job.columns;
}

/// The values of a job.
template <class Reader>
[[nodiscard]] Reader values_of(const ReduceJob& job, std::int64_t total) noexcept {
  return Reader(job.type, job.values, numbers_of(job, total));
}

/// The second launch, where a sequence is longer than a chunk.
template <class Fold>
Error join_chunks(Stream stream, const Chunks& chunks, std::int64_t columns, const Fold& fold,
                  const typename Fold::Sink& sink, View<typename Fold::ChunkFold::Lane> partial) noexcept {
  if (chunks.slots == 0) return 0;
  using Join = JoinChunks<typename Fold::ChunkFold>;
  const int width_log = std::min(log_width(columns), Join::kMostWidthLog);
  const std::int64_t tiles = blocks_for(columns, std::int64_t{1} << width_log);
  Grid grid;
  grid.shared_bytes = static_cast<std::size_t>(grid.threads) * sizeof(typename Join::Lane);
  grid.blocks = std::min(blocks_for(chunks.slots, Join::kSlots) * tiles, kMostBlocks);
  return launch(
      stream, grid,
      Join{fold.chunk_fold(), chunks, columns, sink, {partial.data, partial.count}, width_log, tiles});
}

/// One row for each sequence: one launch, and one more where a sequence is longer than a chunk.
template <class Reader, class Fold>
Error run_fold(Stream stream, const ReduceJob& job, std::int64_t total, const Reader& read, const Fold& fold,
               const typename Fold::Sink& sink, std::byte* scratch) noexcept {
  const std::int64_t columns = job.columns;
  if (columns == 0 || job.level.count == 0) return 0;
  const Chunks chunks(job, total, chunk_rows(columns));
  const View<typename Fold::ChunkFold::Lane> partial{
      reinterpret_cast<typename Fold::ChunkFold::Lane*>(scratch), chunks.slots * columns};
  const Reduction<Reader, Fold> reduction{read, fold, chunks, columns, sink, partial};
  Grid grid;
  Error error = 0;
  if (columns <= kNarrowColumns) {
    const int width_log = log_width(columns);
    const int team_log = log_team(total, job.level.count, width_log);
    const std::int64_t turns =
        chunks.slots + blocks_for(job.level.count, std::int64_t{kWarp} >> (width_log + team_log));
    grid.blocks = std::min(blocks_for(turns, grid.threads / kWarp), kMostBlocks);
    error = launch(stream, grid, ReduceNarrow<Reader, Fold>{reduction, width_log, team_log});
  } else {
    error = run_wide(stream, reduction);
  }
  return error != 0 ? error : join_chunks(stream, chunks, columns, fold, sink, partial);
}

}  // namespace varlen::cuda
