// The way back from an order: each element says at its place that it goes there, and the latest of several
// stays; then every element of the output is taken from where it says.
#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/sequences.hpp"
#include "support/view.hpp"
#include "varlen/cuda/sort.hpp"
#include "varlen/cuda/span_rows.hpp"

namespace varlen::cuda {

namespace {

struct Claim {
  static constexpr bool kAlone = true;

  Ends kept;
  Ends level;
  Divisor columns;
  View<const std::int64_t> places;
  View<std::int64_t> sources;  ///< the last element that goes there, -1 at first

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t at = thread.block() * thread.threads() + thread.index();
    if (at >= places.count) return;
    const std::int64_t row = columns.quotient(at);
    const std::int64_t i = kept.holding(row, 0, kept.count() - 1);
    const std::int64_t place = places[at];
    if (place < 0 || place >= level.length(i)) return;
    thread.raise(sources[(level.start(i) + place - row) * columns.by() + at], at);
  }
};

}  // namespace

std::int64_t unsort_scratch(std::int64_t total, std::int64_t columns) noexcept {
  return total * columns * std::int64_t{sizeof(std::int64_t)};
}

Error unsort(Stream stream, Offsets level, std::int64_t total, Offsets kept, std::int64_t kept_total,
             const std::byte* rows, std::int64_t columns, std::int64_t size, const std::int64_t* places,
             std::byte* scratch, std::byte* out) noexcept {
  const std::int64_t count = kept_total * columns;
  const std::int64_t all = total * columns;
  auto* const sources = reinterpret_cast<std::int64_t*>(scratch);
  if (const Error error = fill_bytes(stream, 0xff, unsort_scratch(total, columns), sources); error != 0) {
    return error;
  }
  Grid grid;
  grid.blocks = blocks_for(count, grid.threads);
  const Claim claim{ends_of(kept),
                    ends_of(level),
                    Divisor(columns > 0 ? columns : 1, count),
                    {places, count},
                    {sources, all}};
  if (const Error error = launch(stream, grid, claim); error != 0) return error;
  return take_rows(stream, {rows, count, size}, sources, all, out);
}

}  // namespace varlen::cuda
