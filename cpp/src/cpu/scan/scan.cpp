#include "varlen/scan.hpp"

#include <algorithm>
#include <cstring>

#include "loops.hpp"
#include "support/dispatch.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kTile = 256;    // columns at once
constexpr std::int64_t kSlice = 128;   // columns of a long sequence for a thread
constexpr std::int64_t kRoom = 32768;  // bytes converted at once
constexpr std::int64_t kSlot = 8;      // bytes for an accumulator at most

/// Whole sequences end to end, and the columns of them that are scanned.
struct ScanStretch {
  const std::int64_t* ends;
  Range share;
  std::int64_t first;  ///< row that the first of them starts at
  Range columns;
  const std::byte* carry;  ///< accumulators that each column starts with; null: the same for all

  [[nodiscard]] Range rows() const noexcept { return {first, ends[share.end - 1]}; }
};

/// The walk over sequences: which rows are scanned when, and how threads share a sequence.
class ScanRun {
 public:
  ScanRun(const ScanJob& job, std::byte* out) noexcept
      : job_(job),
        loops_(scan_loops(job.op, job.type)),
        load_(cast_of(job.type, scan_memory(job.type))),
        store_(cast_of(scan_memory(job.type), scanned_type(job.op, job.type))),
        out_(out) {
    std::byte start[kSlot];
    std::memcpy(start, loops_.identity, kSlot);
    if (job.exclusive) first(start);
    for (std::int64_t k = 0; k < kTile; ++k) std::memcpy(starts_ + k * loops_.acc, start, kSlot);
  }

  /// Sequences [some), but for those that threads share.
  void sequences(Range share) const noexcept {
    const bool may_share = is_giant(job_.longest);
    while (share.begin < share.end) {
      std::int64_t i = may_share ? share.begin : share.end;
      while (i < share.end && !is_shared(i)) ++i;
      if (i > share.begin) {
        scan({job_.level.ends, {share.begin, i}, job_.level.start(share.begin), {0, job_.columns}, nullptr});
      }
      share.begin = i + 1;
    }
  }

  [[nodiscard]] bool is_shared(std::int64_t i) const noexcept { return is_giant(job_.level.length(i)); }

  /// By all threads, by parts of its rows and of its columns; `totals` has room for kReduceParts times the
  /// columns. Products are not cut by rows: that of a part may leave the range where no product asked for
  /// does.
  void fold_shared(std::int64_t i, std::byte* totals) const noexcept {
    const std::int64_t columns = job_.columns;
    const std::int64_t rows = job_.level.length(i);
    const std::int64_t part_size = job_.op == Scan::prod ? rows : part_rows(rows);
    const std::int64_t parts = (rows + part_size - 1) / part_size;
    const std::int64_t slices = columns < 2 * kSlice ? 1 : columns / kSlice;
    const std::int64_t stride = columns * loops_.acc;
    const auto slice = [&](std::int64_t s) {
      return Range{s * kSlice, s + 1 == slices ? columns : (s + 1) * kSlice};
    };
    const auto part_of = [&](std::int64_t p) {
      const std::int64_t from =
          job_.reverse ? std::max<std::int64_t>(0, rows - (p + 1) * part_size) : p * part_size;
      const std::int64_t to = job_.reverse ? rows - p * part_size : std::min(rows, (p + 1) * part_size);
      return Range{job_.level.start(i) + from, job_.level.start(i) + to};
    };
    parallel(parts > 1 ? parts * slices : 0, [&](std::int64_t k) {
      fold(part_of(k / slices), slice(k % slices), totals + k / slices * stride);
    });
    for (std::int64_t c = 0; c < columns; ++c) {
      std::byte prefix[kSlot];
      std::memcpy(prefix, starts_, kSlot);
      for (std::int64_t p = 0; p < parts; ++p) {
        std::byte* const total = totals + p * stride + c * loops_.acc;
        std::byte own[kSlot];
        std::memcpy(own, parts > 1 ? total : loops_.identity, static_cast<std::size_t>(loops_.acc));
        std::memcpy(total, prefix, static_cast<std::size_t>(loops_.acc));
        loops_.join(prefix, own);
      }
    }
    parallel(parts * slices, [&](std::int64_t k) {
      const Range mine = part_of(k / slices);
      scan({&mine.end, {0, 1}, mine.begin, slice(k % slices), totals + k / slices * stride});
    });
  }

 private:
  [[nodiscard]] bool is_giant(std::int64_t rows) const noexcept {
    return rows * job_.columns * loops_.size >= kGiantBytes;
  }

  /// What an exclusive scan starts with: no lower, or higher, than the values can be.
  void first(std::byte* start) const noexcept {
    const bool is_max = job_.op == Scan::max;
    const std::int64_t size = size_of(job_.type);
    if (job_.op == Scan::sum) std::memset(start, 0, kSlot);
    if (job_.op <= Scan::prod || is_float(job_.type) || size == 8) return;
    const bool is_bool = job_.type == Type::b1;
    const bool is_signed = job_.type >= Type::i8 && job_.type <= Type::i64;
    const std::int64_t bits = is_bool ? 1 : 8 * size - (is_signed ? 1 : 0);
    const std::int64_t limit = (std::int64_t{1} << bits) - 1;
    const std::int64_t bound = !is_max ? limit : is_signed ? -limit - 1 : 0;
    std::memcpy(start, &bound, kSlot);
  }

  void scan(const ScanStretch& all) const noexcept {
    if (job_.type == Type::f32 && job_.op <= Scan::prod && job_.columns == 1) return scan_block4(all);
    if (job_.type == Type::f32 && job_.columns == 1 && !job_.exclusive && !job_.reverse && flat_extremes(all))
      return;
    for (std::int64_t c = all.columns.begin; c < all.columns.end; c += kTile) {
      scan_tile(all, c, std::min(kTile, all.columns.end - c));
    }
  }

  void scan_block4(const ScanStretch& all) const noexcept {
    double start = 0;
    std::memcpy(&start, all.carry == nullptr ? starts_ : all.carry, sizeof start);
    const Block4Run run{reinterpret_cast<const float*>(job_.values),
                        reinterpret_cast<float*>(out_),
                        all.ends,
                        all.share,
                        all.rows(),
                        start};
    const int which = (job_.op == Scan::prod ? 4 : 0) + (job_.reverse ? 2 : 0) + (job_.exclusive ? 1 : 0);
    VARLEN_BEST(kScanBlock4)[which](run);
  }

  [[nodiscard]] bool flat_extremes(const ScanStretch& all) const noexcept {
    float start = 0;
    std::memcpy(&start, all.carry == nullptr ? starts_ : all.carry, sizeof start);
    return scan_flat_extremes(
        job_.op, {reinterpret_cast<const float*>(job_.values), reinterpret_cast<float*>(out_), all.ends,
                  all.share, all.rows(), start});
  }

  void scan_tile(const ScanStretch& all, std::int64_t c, std::int64_t w) const noexcept {
    alignas(64) std::byte acc[kTile * kSlot];
    const std::int64_t origin = job_.reverse ? all.share.end - 1 : all.share.begin;
    ScanPlace place{all.ends, all.share, all.first, origin, 0, starts_, acc};
    if (all.carry != nullptr) place.starts = all.carry + c * loops_.acc;
    place.remaining = place.length(origin);
    std::memcpy(acc, place.starts, static_cast<std::size_t>(w * loops_.acc));
    by_blocks(all.rows(), c, w, [&](const ScanRows& rows) {
      loops_.run_rows(rows, place, w, job_.reverse ? -1 : 1, job_.exclusive);
    });
  }

  /// The part's own total, column by column, in an order that depends on its rows alone.
  void fold(Range part, Range columns, std::byte* totals) const noexcept {
    for (std::int64_t c = columns.begin; c < columns.end; ++c) {
      std::memcpy(totals + c * loops_.acc, loops_.identity, static_cast<std::size_t>(loops_.acc));
    }
    for (std::int64_t c = columns.begin; c < columns.end; c += kTile) {
      const std::int64_t w = std::min(kTile, columns.end - c);
      by_blocks(part, c, w, [&](const ScanRows& rows) { loops_.fold(rows, w, totals + c * loops_.acc); });
    }
  }

  /// body(rows) for all rows in the direction of the scan, columns [c, c + w): at once where nothing
  /// is converted, else as many as there is room for.
  template <class Body>
  void by_blocks(Range all, std::int64_t c, std::int64_t w, Body body) const noexcept {
    alignas(64) std::byte room[kRoom];
    const bool loads = load_.run != nullptr;
    const bool stores = store_.run != nullptr;
    const std::int64_t columns = job_.columns;
    const std::int64_t limit = loads ? kRoom / (w * loops_.size) : all.size();
    while (all.begin < all.end) {
      Range rows = all;
      if (job_.reverse) {
        rows.begin = all.end = std::max(all.begin, all.end - limit);
      } else {
        rows.end = all.begin = std::min(all.end, all.begin + limit);
      }
      const std::int64_t origin = rows.begin * columns + c;
      const bool is_whole = w == columns;
      const std::int64_t runs = is_whole ? 1 : rows.size();
      const std::int64_t run = is_whole ? rows.size() * w : w;
      for (std::int64_t r = 0; loads && r < runs; ++r) {
        load_.run(job_.values + (origin + r * columns) * load_.from, run, nullptr, room + r * w * load_.to);
      }
      ScanRows block{loads ? room : job_.values + origin * loops_.size,
                     stores ? room : out_ + origin * loops_.size, loads ? w : columns, stores ? w : columns,
                     rows.size()};
      if (job_.reverse) {
        block.input += (rows.size() - 1) * block.in_step * loops_.size;
        block.out += (rows.size() - 1) * block.out_step * loops_.size;
        block.in_step = -block.in_step;
        block.out_step = -block.out_step;
      }
      body(block);
      for (std::int64_t r = 0; stores && r < runs; ++r) {
        store_.run(room + r * w * store_.from, run, nullptr, out_ + (origin + r * columns) * store_.to);
      }
    }
  }

  const ScanJob& job_;
  const ScanLoops& loops_;
  Convert load_;
  Convert store_;
  std::byte* out_;
  alignas(8) std::byte starts_[(kTile + 1) * kSlot];
};

}  // namespace

Type scanned_type(Scan op, Type type) noexcept {
  return op == Scan::max || op == Scan::min || is_float(type) ? type : scan_memory(type);
}

std::int64_t scan_scratch(const ScanJob& job) noexcept {
  const std::int64_t bytes = job.longest * job.columns * size_of(scan_memory(job.type));
  return bytes < kGiantBytes ? 0 : kReduceParts * job.columns * kSlot;
}

void scan(const ScanJob& job, std::byte* scratch, std::byte* out) noexcept {
  if (job.columns <= 0) return;
  const ScanRun run(job, out);
  const std::int64_t width = job.columns * size_of(scan_memory(job.type));
  by_sequences(job.level, width, [&](Range share) { run.sequences(share); });
  if (job.longest * width < kGiantBytes) return;
  for (std::int64_t i = 0; i < job.level.count; ++i) {
    if (run.is_shared(i)) run.fold_shared(i, scratch);
  }
}

}  // namespace varlen
