// What puts bytes of the host into a graph is here as well: a unit of its own would add 10 kB to a module for
// all GPUs.
#include "offsets_from.hpp"
#include "support/embed.hpp"
#include "support/sequences.hpp"
#include "support/start.hpp"
#include "support/write_each.hpp"
#include "varlen/cuda/offsets.hpp"

namespace varlen::cuda {

namespace {

struct Lengths {
  Ends level;

  [[nodiscard]] VARLEN_DEVICE NoScope scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t value(NoScope, std::int64_t i) const { return level.length(i); }
};

struct NarrowOffsets {
  Ends level;

  [[nodiscard]] VARLEN_DEVICE NoScope scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::int32_t value(NoScope, std::int64_t i) const {
    return static_cast<std::int32_t>(level.start(i));
  }
};

struct RowIds : InSequences {
  [[nodiscard]] VARLEN_DEVICE std::int64_t value(const Candidates& candidates, std::int64_t row) const {
    return sequence(candidates, row);
  }
};

struct Positions : InSequences {
  [[nodiscard]] VARLEN_DEVICE std::int64_t value(const Candidates& candidates, std::int64_t row) const {
    return row - level.start(sequence(candidates, row));
  }
};

}  // namespace

Error lengths_of(Stream stream, Offsets level, std::int64_t* lengths) noexcept {
  return write_each(stream, Lengths{ends_of(level)}, level.count, lengths);
}

Error offsets_of(Stream stream, Offsets level, std::int32_t* offsets) noexcept {
  return write_each(stream, NarrowOffsets{ends_of(level)}, level.count + 1, offsets);
}

Error row_ids_of(Stream stream, Offsets level, std::int64_t total, std::int64_t* row_ids) noexcept {
  return write_each(stream, RowIds{ends_of(level)}, total, row_ids);
}

Error positions_of(Stream stream, Offsets level, std::int64_t total, std::int64_t* positions) noexcept {
  return write_each(stream, Positions{ends_of(level)}, total, positions);
}

std::int64_t offsets_from_scratch(std::int64_t n) noexcept {
  return n > OffsetsFrom::kTile ? blocks_for(n, OffsetsFrom::kTile) * 2 * std::int64_t{sizeof(std::int64_t)}
                                : 0;
}

Error offsets_from(Stream stream, const OffsetsJob& job, std::byte* scratch) noexcept {
  const std::int64_t tiles = job.n > OffsetsFrom::kTile ? blocks_for(job.n, OffsetsFrom::kTile) : 1;
  const std::int64_t rows = job.n > 0 && job.total > 0 ? job.total : 0;
  const std::int64_t share = job.n > 0 ? rows / job.n : 0;
  OffsetsFrom body{{job.numbers, (job.n + (job.are_offsets ? 1 : 0)) * (job.is_wide ? 8 : 4)},
                   job.n,
                   job.total,
                   job.max_len,
                   share,
                   rows - share * job.n,
                   {job.out, kFacts + job.n + 1},
                   {reinterpret_cast<std::int64_t*>(scratch), tiles > 1 ? tiles * 2 : 0},
                   tiles,
                   job.verdict,
                   job.stamp,
                   job.is_wide,
                   job.are_offsets,
                   tiles > 1};
  const Grid grid{tiles, OffsetsFrom::kThreads, OffsetsFrom::kWarps * Tally::kWords * sizeof(std::int64_t)};
  if (tiles > 1) {
    if (const Error error = launch(stream, grid, body); error != 0) return error;
    body.is_first = false;
  }
  return launch(stream, grid, body);
}

Error embed(Stream stream, const std::byte* from, std::int64_t bytes, std::byte* to) noexcept {
  constexpr auto kWord = static_cast<std::int64_t>(sizeof(std::uint32_t));
  constexpr std::int64_t kLimit = EmbedBytes::kWords * kWord;
  for (std::int64_t begin = 0; begin < bytes; begin += kLimit) {
    const std::int64_t size = bytes - begin < kLimit ? bytes - begin : kLimit;
    EmbedBytes body;
    std::memcpy(body.words, from + begin, static_cast<std::size_t>(size));
    body.out = {reinterpret_cast<std::uint32_t*>(to + begin), size / kWord};
    body.rest = {to + begin + size / kWord * kWord, size % kWord};
    if (const Error error = launch(stream, {1, 256, 0}, body); error != 0) return error;
  }
  return 0;
}

}  // namespace varlen::cuda
