// Rows put between rows, and taken out again.
#include <algorithm>
#include <cstring>

#include "varlen/copy.hpp"
#include "varlen/pool.hpp"
#include "varlen/span_rows.hpp"

namespace varlen {
namespace {

/// All rows [from, to) of the longer side in order: run(row of the shorter side, row of the longer side,
/// rows) for those that both have, one(k, row of the longer side) for row k of those between.
template <class Run, class One>
void walk(const std::int64_t* targets, std::int64_t n, std::int64_t from, std::int64_t to, Run run,
          One one) noexcept {
  // Row k of those between is row targets[k] + k of all: these increase.
  std::int64_t low = 0;
  for (std::int64_t high = n; low < high;) {
    const std::int64_t k = low + (high - low) / 2;
    if (targets[k] + k < from) {
      low = k + 1;
    } else {
      high = k;
    }
  }
  std::int64_t place = from;
  for (std::int64_t k = low; place < to; ++k) {
    const std::int64_t next = k < n ? std::min(targets[k] + k, to) : to;
    if (next > place) run(place - k, place, next - place);
    if (next < to) one(k, next);
    place = next + 1;
  }
}

/// walk by threads, where there is enough to move.
template <class Run, class One>
void walk_all(const std::int64_t* targets, std::int64_t n, std::int64_t total, std::int64_t width, Run run,
              One one) noexcept {
  if (total == 0 || width == 0) return;
  const std::int64_t chunks = std::min(total, chunks_for(total * width));
  const auto cut = [&](std::int64_t c) { return total / chunks * c + std::min(c, total % chunks); };
  parallel(chunks, [&](std::int64_t c) { walk(targets, n, cut(c), cut(c + 1), run, one); });
}

}  // namespace

void insert_rows(Rows values, const std::int64_t* targets, std::int64_t n, const std::byte* new_rows,
                 std::byte* out) noexcept {
  const std::int64_t width = values.width;
  walk_all(
      targets, n, values.count + n, width,
      [&](std::int64_t row, std::int64_t place, std::int64_t rows) {
        copy_bytes(out + place * width, values.data + row * width, rows * width);
      },
      [&](std::int64_t k, std::int64_t place) {
        if (new_rows != nullptr) {
          copy_exact(out + place * width, new_rows + k * width, width);
        } else {
          std::memset(out + place * width, 0, static_cast<std::size_t>(width));
        }
      });
}

void remove_rows(Rows all, const std::int64_t* targets, std::int64_t n, std::byte* rest,
                 std::byte* removals) noexcept {
  const std::int64_t width = all.width;
  walk_all(
      targets, n, all.count, width,
      [&](std::int64_t row, std::int64_t place, std::int64_t rows) {
        copy_bytes(rest + row * width, all.data + place * width, rows * width);
      },
      [&](std::int64_t k, std::int64_t place) {
        copy_exact(removals + k * width, all.data + place * width, width);
      });
}

}  // namespace varlen
