// Lookups are sorted, so that those of one row of the table are a run. Short runs are added by a thread a
// column, in their order. Of longer ones every so many lookups, counted from the start of the run, are a
// chunk: each is added up by itself, and a second launch adds the chunks of a run to the table.
#include "scatter/sums.hpp"
#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/start.hpp"
#include "varlen/cuda/scatter.hpp"
#include "varlen/cuda/sort.hpp"

namespace varlen::cuda {

namespace {

constexpr std::int64_t kAlignment = 16;
#if defined(__CUDACC__)
constexpr std::int64_t kMostJoinBlocks = 4096;
#else
constexpr std::int64_t kMostJoinBlocks = 2;  // so that blocks of tests take several turns
#endif

/// What lookups are sorted by: the row, or the number of rows where there is none.
[[nodiscard]] Type key_type(std::int64_t rows) noexcept {
  return rows < INT64_C(0xffffffff) ? Type::u32 : Type::u64;
}

struct WriteKeys {
  static constexpr bool kNoBarrier = true;

  RowNumbers lookups;
  std::int64_t rows;
  Elements<std::byte> keys;
  View<std::int64_t> ends;  ///< of the one sequence that they are
  std::int64_t count;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t k = thread.block() * thread.threads() + thread.index();
    if (k == 0) ends[0] = count;
    if (k >= count) return;
    const std::int64_t row = lookups.row(k);
    keys.write_whole(k, static_cast<std::uint64_t>(row < 0 ? rows : row));
  }
};

/// Lookups in order. Those of one row of the table are a run, `kAddedRows` of them a chunk, and so many
/// places of the order a window, in which one first chunk of a long run begins at most, and one later chunk.
struct Runs {
  View<const std::byte> keys;
  View<const std::int64_t> places;  ///< which lookup it is
  bool is_wide;
  std::int64_t rows;  ///< of the table
  std::int64_t windows;

  [[nodiscard]] VARLEN_DEVICE std::int64_t count() const { return places.count; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t key(std::int64_t k) const {
    return is_wide ? word_at<std::int64_t>(keys, 8 * k)
                   : static_cast<std::int64_t>(word_at<std::uint32_t>(keys, 4 * k));
  }
  [[nodiscard]] VARLEN_DEVICE bool is_at(std::int64_t k, std::int64_t row) const {
    return k < count() && key(k) == row;
  }
  /// The first of places [low, high) whose key is at least `minimum`; `high` where none is.
  [[nodiscard]] VARLEN_DEVICE std::int64_t find(std::int64_t low, std::int64_t high,
                                                std::int64_t minimum) const {
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (key(middle) < minimum) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  [[nodiscard]] VARLEN_DEVICE bool is_long(std::int64_t begin) const {
    return is_at(begin + kAddedRows, key(begin));
  }
  /// Where the long run begins that begins in a window; -1: there is none.
  [[nodiscard]] VARLEN_DEVICE std::int64_t long_run(std::int64_t window) const {
    const std::int64_t first = window * kAddedRows;
    const std::int64_t next = first + kAddedRows;  // it is there as well
    if (next >= count()) return -1;
    const std::int64_t row = key(next);
    if (row == rows || key(next - 1) != row || (first > 0 && key(first - 1) == row)) return -1;
    const std::int64_t begin = find(first, next, row);
    return is_at(begin + kAddedRows, row) ? begin : -1;
  }
  /// Where the chunk that is not the first of its run begins in a window; -1: there is none.
  [[nodiscard]] VARLEN_DEVICE std::int64_t later_chunk(std::int64_t window) const {
    const std::int64_t first = window * kAddedRows;
    if (first == 0) return -1;
    const std::int64_t row = key(first - 1);  // the chunk before it is there
    if (row == rows || key(first) != row) return -1;
    const std::int64_t start = first - find(0, first, row);
    const std::int64_t begin = first + (kAddedRows - start % kAddedRows) % kAddedRows;
    return is_at(begin, row) ? begin : -1;
  }
};

struct AddRuns {
  static constexpr bool kNoBarrier = true;

  Runs runs;
  Sums sums;
  const std::byte* values;
  std::byte* table;
  std::int64_t columns, count;
  Divisor by_columns;
  std::uint32_t per_row;
  View<std::uint64_t> partial;  ///< of the first chunk of a window in row 2 w + 1, of the later one in 2 w

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t element = thread.block() * thread.threads() + thread.index();
    if (element >= count) return;
    const std::int64_t turn = by_columns.quotient(element);
    const std::int64_t column = element - turn * columns;
    std::int64_t begin = turn - runs.windows;
    std::int64_t slot = -1;
    const bool is_first = begin >= 0;
    if (is_first) {
      if (begin > 0 && runs.key(begin - 1) == runs.key(begin)) return;
      if (runs.is_long(begin)) slot = 2 * (begin / kAddedRows) + 1;
    } else {
      begin = runs.later_chunk(turn);
      if (begin < 0) return;
      slot = 2 * turn;
    }
    const std::int64_t row = runs.key(begin);
    if (row == runs.rows) return;
    std::byte* const to = table + (row * columns + column) * sums.size();
    const std::int64_t rest = runs.count() - begin;
    const int limit = static_cast<int>(rest < kAddedRows ? rest : kAddedRows);
    std::uint64_t sum = sums.zero();
    int n = kRowsAtOnce;
    // What the table holds is the first number of all.
    VARLEN_ROLLED for (int k = is_first ? -1 : 0; n == kRowsAtOnce; k += kRowsAtOnce) {
      const std::byte* places[kRowsAtOnce];
      n = 0;
      VARLEN_UNROLLED for (int j = 0; j < kRowsAtOnce; ++j) {
        places[j] = to;
        const std::int64_t next = begin + k + j;
        if (k + j < 0) {
          n = 1;
        } else if (n == j && k + j < limit && runs.key(next) == row) {
          const std::int64_t from = static_cast<std::uint32_t>(runs.places[next]) / per_row;
          places[j] = values + (from * columns + column) * sums.size();
          n = j + 1;
        }
      }
      sum = sums.add(sum, places, ~0U, n);
    }
    sum = sums.wide(sum);
    if (slot < 0) {
      write_wide(to, sums.type(), sums.size(), sum);
    } else {
      partial[slot * columns + column] = sum;
    }
  }
};

/// The chunks of long runs: a block of lanes for every few columns of one, joined by halves.
struct JoinChunks {
  static constexpr bool kNoBarrier = false;
  static constexpr int kMostWidthLog = 3;
  static constexpr int kAtOnce = 4;

  Runs runs;
  Sums sums;
  std::byte* table;
  View<const std::uint64_t> partial;
  std::int64_t columns;
  std::uint32_t tiles;  ///< of columns
  int width_log;        ///< of the columns of a tile

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::uint32_t block = static_cast<std::uint32_t>(thread.block()) / tiles;
    const std::uint32_t tile = static_cast<std::uint32_t>(thread.block()) - block * tiles;
    const std::uint32_t step = static_cast<std::uint32_t>(thread.blocks()) / tiles;
    for (std::int64_t window = block; window < runs.windows; window += step) {
      const std::int64_t begin = runs.long_run(window);
      if (begin >= 0) join(thread, window, begin, tile);
    }
  }

  template <class Thread>
  VARLEN_DEVICE void join(Thread& thread, std::int64_t window, std::int64_t begin, std::int64_t tile) const {
    const bool real = is_real(sums.type());
    const std::int64_t row = runs.key(begin);
    const std::int64_t length = runs.find(begin, runs.count(), row + 1) - begin;
    const std::int64_t chunks = (length + kAddedRows - 1) / kAddedRows;
    const int width = 1 << width_log;
    const int lanes = thread.threads() >> width_log;
    const int first = thread.index() >> width_log;
    const std::int64_t column = tile * width + (thread.index() & (width - 1));
    const std::uint64_t zero = sums.wide(sums.zero());
    std::uint64_t sum = zero;
    VARLEN_ROLLED for (std::int64_t k = first; column < columns && k < chunks; k += kAtOnce * lanes) {
      std::uint64_t part[kAtOnce];
      VARLEN_UNROLLED for (int a = 0; a < kAtOnce; ++a) {
        const std::int64_t chunk = k + a * lanes;
        const std::int64_t slot = 2 * (window + chunk) + (chunk == 0 ? 1 : 0);
        part[a] = chunk < chunks ? partial[slot * columns + column] : zero;
      }
      VARLEN_UNROLLED for (int a = 0; a < kAtOnce; ++a) sum = join_wide(real, sum, part[a]);
    }
    const View<std::uint64_t> all{thread.template memory<std::uint64_t>(), thread.threads()};
    all[thread.index()] = sum;
    thread.sync();
    VARLEN_ROLLED for (int half = lanes / 2; half > 0; half /= 2) {
      if (first < half) {
        sum = join_wide(real, sum, all[thread.index() + half * width]);
        all[thread.index()] = sum;
      }
      thread.sync();
    }
    if (first == 0 && column < columns) {
      write_wide(table + (row * columns + column) * sums.size(), sums.type(), sums.size(), sum);
    }
    thread.sync();
  }
};

[[nodiscard]] constexpr std::int64_t align(std::int64_t bytes) noexcept {
  return blocks_for(bytes, kAlignment) * kAlignment;
}

/// How the scratch is shared out: the end of the lookups, keys, sorted ones, places, chunks, what sorts.
struct Room {
  SortJob sort;  ///< without its memory
  std::int64_t windows;
  std::int64_t keys, places, partial, sorting;  ///< bytes

  Room(std::int64_t columns, std::int64_t count, std::int64_t rows) noexcept
      : windows(count > kAddedRows ? blocks_for(count, kAddedRows) : 0),
        keys(align(count * bytes_of(key_type(rows)))),
        places(align(count * 8)),
        partial(align(2 * windows * columns * 8)) {
    sort.type = key_type(rows);
    sort.longest = count;
    sorting = sort_scratch(sort, count);
  }
  [[nodiscard]] std::int64_t bytes() const noexcept {
    return kAlignment + 2 * keys + places + partial + sorting;
  }
};

}  // namespace

std::int64_t scatter_add_scratch(Type, std::int64_t columns, Lookups lookups, std::int64_t rows) noexcept {
  return lookups.count == 0 ? 0 : Room(columns, lookups.count, rows).bytes();
}

Error scatter_add(Stream stream, Type type, const std::byte* values, std::int64_t columns, Lookups lookups,
                  std::int64_t per_row, std::int64_t rows, const std::byte* start, std::byte* scratch,
                  std::byte* table) noexcept {
  const std::int64_t count = lookups.count;
  if (columns == 0 || rows == 0) return 0;
  Error error = start_with(stream, start, rows * columns * bytes_of(type), table);
  if (error != 0 || count == 0) return error;
  Room room(columns, count, rows);
  auto* const end = reinterpret_cast<std::int64_t*>(scratch);
  std::byte* const keys = scratch + kAlignment;
  std::byte* const sorted_keys = keys + room.keys;
  auto* const places = reinterpret_cast<std::int64_t*>(sorted_keys + room.keys);
  std::byte* const partial = sorted_keys + room.keys + room.places;
  Grid grid;
  grid.blocks = blocks_for(count, grid.threads);
  const WriteKeys write{RowNumbers(lookups, rows), rows, {keys, count, room.sort.type}, {end, 1}, count};
  error = launch(stream, grid, write);
  if (error != 0) return error;
  room.sort.level = {end, 1};
  room.sort.values = keys;
  error = sort(stream, room.sort, count, room.sort.level, partial + room.partial, sorted_keys, places);
  if (error != 0) return error;
  const std::int64_t key_bytes = bytes_of(room.sort.type);
  const Runs runs{{sorted_keys, count * key_bytes}, {places, count}, key_bytes == 8, rows, room.windows};
  const std::int64_t threads = (runs.windows + count) * columns;
  const Sums sums(type);
  const View<std::uint64_t> chunks{reinterpret_cast<std::uint64_t*>(partial), 2 * runs.windows * columns};
  grid.blocks = blocks_for(threads, grid.threads);
  const AddRuns add{runs,
                    sums,
                    values,
                    table,
                    columns,
                    threads,
                    Divisor(columns, threads),
                    static_cast<std::uint32_t>(per_row),
                    chunks};
  error = launch(stream, grid, add);
  if (error != 0 || runs.windows == 0) return error;
  int width_log = 0;
  while (width_log < JoinChunks::kMostWidthLog && (std::int64_t{1} << width_log) < columns) ++width_log;
  const std::int64_t tiles = blocks_for(columns, std::int64_t{1} << width_log);
  grid.blocks = std::min(runs.windows, blocks_for(kMostJoinBlocks, tiles)) * tiles;
  grid.shared_bytes = static_cast<std::size_t>(grid.threads) * sizeof(std::uint64_t);
  return launch(stream, grid,
                JoinChunks{runs,
                           sums,
                           table,
                           {chunks.data, chunks.count},
                           columns,
                           static_cast<std::uint32_t>(tiles),
                           width_log});
}

}  // namespace varlen::cuda
