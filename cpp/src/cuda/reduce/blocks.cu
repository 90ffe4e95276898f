// Repeats of sequences, added up: a thread an element, and for many repeats one for every chunk of them.
#include "folds.hpp"
#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/reduce.hpp"

namespace varlen::cuda {

namespace {

constexpr std::int64_t kRepeats = 512;  ///< of a chunk
constexpr int kRepeatsAtOnce = 8;

/// Elements of the output, sequence by sequence, and chunks of their repeats. Sequence k of n elements has
/// the slots from out_start + in_start / kRepeats on, n for every chunk: up to the next one there are n and
/// its repeats of n, divided by kRepeats, which is no less.
struct RepeatedBlocks {
  Ends groups, blocks;
  std::int64_t columns;
  std::int64_t slots;

  [[nodiscard]] VARLEN_DEVICE std::int64_t first_slot(std::int64_t k) const {
    return blocks.start(k) * columns + groups.start(k) * columns / kRepeats;
  }
  /// The last sequence whose slots begin at `slot` or before it, which those without any do not hide.
  [[nodiscard]] VARLEN_DEVICE std::int64_t holding(std::int64_t slot) const {
    std::int64_t low = 0;
    std::int64_t high = blocks.count() - 1;
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
  [[nodiscard]] VARLEN_DEVICE std::int64_t elements(std::int64_t k) const {
    return blocks.length(k) * columns;
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t repeats(std::int64_t k) const {
    return groups.length(k) / blocks.length(k);
  }
};

template <class Reader, class Fold>
struct AddRepeats {
  static constexpr bool kNoBarrier = true;
  using Chunk = typename Fold::ChunkFold::Lane;

  Reader read;
  Fold fold;
  RepeatedBlocks layout;
  NumbersOut out;
  View<Chunk> partial;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t slot = thread.block() * thread.threads() + thread.index();
    if (slot >= layout.slots) return;
    const std::int64_t k = layout.holding(slot);
    const std::int64_t n = layout.elements(k);
    const std::int64_t place = slot - layout.first_slot(k);
    if (n == 0) return;
    const std::int64_t chunk = place / n;
    const std::int64_t element = place - chunk * n;
    const std::int64_t repeats = layout.repeats(k);
    const std::int64_t begin = chunk * kRepeats;
    if (begin >= repeats && chunk > 0) return;
    const std::int64_t end = begin + kRepeats < repeats ? begin + kRepeats : repeats;
    const std::int64_t from = layout.groups.start(k) * layout.columns + element;
    auto sum = fold.identity();
    for (std::int64_t r = begin; r < end; r += kRepeatsAtOnce) {
      typename Reader::Value values[kRepeatsAtOnce];
      read.load_many(from + r * n, n, static_cast<int>(end - r), values);
      VARLEN_UNROLLED for (int q = 0; q < kRepeatsAtOnce; ++q) {
        if (r + q < end) fold.add(sum, values[q], r + q);
      }
    }
    if (repeats > kRepeats) {
      partial[slot] = Fold::widen(sum);
      return;
    }
    using Sum = decltype(sum);
    out.put(layout.blocks.start(k) * layout.columns + element, repeats > 0 ? sum : Sum(0));
  }
};

/// The chunks of an element, one after another.
template <class ChunkFold>
struct AddChunks {
  static constexpr bool kNoBarrier = true;
  using Lane = typename ChunkFold::Lane;

  ChunkFold fold;
  RepeatedBlocks layout;
  NumbersOut out;
  View<const Lane> partial;
  Divisor by_columns;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t place = thread.block() * thread.threads() + thread.index();
    if (place >= out.count) return;
    const std::int64_t k = layout.blocks.holding(by_columns.quotient(place), 0, layout.blocks.count() - 1);
    const std::int64_t repeats = layout.repeats(k);
    if (repeats <= kRepeats) return;
    const std::int64_t n = layout.elements(k);
    const std::int64_t first = layout.first_slot(k) + place - layout.blocks.start(k) * layout.columns;
    const std::int64_t count = (repeats + kRepeats - 1) / kRepeats;
    Lane sum = fold.identity();
    for (std::int64_t c = 0; c < count; c += kRepeatsAtOnce) {
      Lane part[kRepeatsAtOnce];
      VARLEN_UNROLLED for (int q = 0; q < kRepeatsAtOnce; ++q) {
        part[q] = fold.identity();
        if (c + q < count) part[q] = partial[first + (c + q) * n];
      }
      VARLEN_UNROLLED for (int q = 0; q < kRepeatsAtOnce; ++q) fold.join(sum, part[q]);
    }
    out.put(place, sum);
  }
};

std::int64_t count_slots(const BlocksJob& job, const BlocksSizes& sizes) noexcept {
  return (sizes.rows + sizes.values / kRepeats + (sizes.values % kRepeats != 0 ? 1 : 0)) * job.columns;
}

template <class Reader, class Fold>
Error add(Stream stream, const BlocksJob& job, const BlocksSizes& sizes, Type type, const Fold& fold,
          std::byte* scratch, std::byte* out) noexcept {
  using Lane = typename Fold::ChunkFold::Lane;
  const std::int64_t elements = sizes.rows * job.columns;
  if (elements == 0) return 0;
  const RepeatedBlocks layout{ends_of(job.groups), ends_of(job.blocks), job.columns, count_slots(job, sizes)};
  const bool is_split = sizes.longest > kRepeats;
  const View<Lane> partial{reinterpret_cast<Lane*>(scratch), is_split ? layout.slots : 0};
  const NumbersOut to(type, out, elements);
  Grid grid;
  grid.blocks = blocks_for(layout.slots, grid.threads);
  const Reader read(job.type, job.values, sizes.values * job.columns);
  const Error error = launch(stream, grid, AddRepeats<Reader, Fold>{read, fold, layout, to, partial});
  if (error != 0 || !is_split) return error;
  grid.blocks = blocks_for(elements, grid.threads);
  return launch(
      stream, grid,
      AddChunks<typename Fold::ChunkFold>{
          fold.chunk_fold(), layout, to, {partial.data, partial.count}, Divisor(job.columns, elements)});
}

}  // namespace

std::int64_t reduce_blocks_scratch(const BlocksJob& job, const BlocksSizes& sizes) noexcept {
  return sizes.longest > kRepeats ? count_slots(job, sizes) * 8 : 0;
}

Error reduce_blocks(Stream stream, const BlocksJob& job, const BlocksSizes& sizes, std::byte* scratch,
                    std::byte* out) noexcept {
  if (!is_real(job.type)) {
    return add<AnyNumber<std::int64_t>>(stream, job, sizes, Type::i64, NumberFold<std::int64_t>{}, scratch,
                                        out);
  }
  if (job.type == Type::f64) {
    return add<Doubles>(stream, job, sizes, Type::f64, NumberFold<double>{}, scratch, out);
  }
  return add<AnyNumber<float>>(stream, job, sizes, job.type, FloatFold{}, scratch, out);
}

}  // namespace varlen::cuda
