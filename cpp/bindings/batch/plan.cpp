// What one call works out before it makes its outputs: records, windows, the rows below them, sizes.
#include <algorithm>

#include "batch.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

void need(Status status, Place place) {
  if (!status.ok()) throw BatchFault{status, place, {}};
}

void need(Status status, const char* argument) {
  if (!status.ok()) throw BatchFault{status, {}, argument};
}

}  // namespace

void Batcher::find_records(BatchWork& work, const Ints& rows) const {
  if (sources_.size() > 1) work.of.make(work.count);
  work.records.make(work.count);
  if (work.n == 0) return;
  const std::int64_t window = prefix_ >= 0 ? 1 : 0;
  std::int32_t* of = work.of.size() > 0 ? work.of.data() + window : nullptr;
  need(batch_records(sources_.data(), static_cast<std::int64_t>(starts_.size()) - 1, starts_.data(),
                     rows.data, work.n, work.per_row, of, work.records.data() + window),
       "rows");
}

void Batcher::put_edge(BatchWork& work, std::int32_t source, std::int64_t part, const Ints* rows,
                       const char* argument) const {
  const Range records = sources_[static_cast<std::size_t>(source)].records;
  const std::int64_t have = records.size();
  const bool shared = have == 1 && rows == nullptr;
  const std::int64_t given = rows != nullptr ? rows->count : have;
  if (!shared && given != work.n) {
    raise_value(std::string(argument) + ": has " + std::to_string(given) + " records for " +
                std::to_string(work.n) + " rows; give one for all or one for each");
  }
  for (std::int64_t k = 0; k < work.n; ++k) {
    std::int64_t record = shared ? 0 : k;
    if (rows != nullptr) record = rows->data[k] < 0 ? rows->data[k] + have : rows->data[k];
    if (record < 0 || record >= have) need({Code::index_out_of_range, k, record}, argument);
    const auto at = static_cast<std::size_t>(k * work.per_row + part);
    work.of[at] = source;
    work.records[at] = {records.begin + record, records.begin + record + 1};
  }
}

void Batcher::cut_windows(BatchWork& work, const Ints* start, const Ints* end, Dice dice,
                          const std::int64_t* counters) const {
  const auto n = static_cast<std::size_t>(work.n);
  const auto per_row = static_cast<std::size_t>(work.per_row);
  const std::size_t window = prefix_ >= 0 ? 1 : 0;
  auto& runs = work.ranges[1];
  Scratch<Range>& windows = work.windows;
  windows.make(work.n);
  std::vector<std::int64_t> rooms(n, -1);
  for (std::size_t k = 0; k < n; ++k) {
    const Range whole = runs[k * per_row + window];
    const std::int64_t from = start != nullptr ? start->data[k] : 0;
    const std::int64_t to = end != nullptr ? end->data[k] : whole.size();
    windows[k] = span_clip(from, to, whole.size());
    if (options_.max_len < 0) continue;
    std::int64_t room = options_.max_len;
    if (suffix_ >= 0) {  // the suffix is kept first, then the prefix, then the window
      Range& last = runs[k * per_row + per_row - 1];
      last.end = std::min(last.end, last.begin + room);
      room -= last.size();
    }
    if (prefix_ >= 0) {
      Range& first = runs[k * per_row];
      first.end = std::min(first.end, first.begin + room);
      room -= first.size();
    }
    rooms[k] = room;
  }
  std::vector<std::int64_t> rows;
  if (counters == nullptr) {
    rows.resize(n);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t s = work.from(k * per_row + window);
      rows[k] = starts_[s] + work.records[k * per_row + window].begin - sources_[s].records.begin;
    }
    counters = rows.data();
  }
  span_draw(options_.draw, dice, rooms.data(), counters, work.n, windows.data());
  for (std::size_t k = 0; k < n; ++k) {
    Range& run = runs[k * per_row + window];
    run = {run.begin + windows[k].begin, run.begin + windows[k].end};
  }
}

/// The runs of axis 1 where the first level of the only source leads there, measured too.
void Batcher::first_axis(BatchWork& work, const Ints& rows, bool records) const {
  if (records) work.records.make(work.count);
  work.ranges[1].make(work.count);
  work.run_ends[1].make(work.count);
  Place place;
  const Status status = batch_first(sources_[0], rows.data, work.n, records ? work.records.data() : nullptr,
                                    work.ranges[1].data(), work.run_ends[1].data(), work.sizes[0], place);
  if (place.run < 0) need(status, "rows");
  need(status, place);
}

void Batcher::enter(BatchWork& work, const Ints* prefix_rows, const Ints* suffix_rows) const {
  if (prefix_ >= 0) put_edge(work, prefix_, 0, prefix_rows, "prefix");
  if (suffix_ >= 0) put_edge(work, suffix_, work.per_row - 1, suffix_rows, "suffix");
  if (axes_ == 0) return;
  work.ranges[1].make(work.count);
  Place place;
  const Status status = batch_enter(work.runs(sources_.data()), options_.flatten, work.records.data(),
                                    work.ranges[1].data(), place);
  need(status, place);
}

/// Sizes and ends of every axis; `measured`: of axis 1 they are there.
void Batcher::measure(BatchWork& work, bool measured) const {
  const Runs view = work.runs(sources_.data());
  Place place;
  for (std::size_t axis = measured ? 2 : 1; axis < work.ranges.size(); ++axis) {
    if (axis > 1) {
      work.ranges[axis].make(work.count);
      const Status status = batch_under(view, static_cast<int>(axis) - 1, work.ranges[axis - 1].data(),
                                        work.ranges[axis].data(), work.sizes[axis - 1], place);
      need(status, place);
    }
    work.run_ends[axis].make(work.count);
    need(batch_ends(work.ranges[axis].data(), work.count, work.run_ends[axis].data()), "rows");
    if (axis == 1 || trusted_) continue;
    work.own_ends.resize(work.ranges.size());
    work.own_ends[axis].make(work.total(static_cast<int>(axis) - 1));
    need(batch_own_ends(view, static_cast<int>(axis) - 1, work.ranges[axis - 1].data(),
                        work.ranges[axis].data(), work.own_ends[axis].data(), place),
         place);
  }
  if (options_.flatten && depth_ > 1) {
    work.up.resize(static_cast<std::size_t>(depth_));
    for (auto& up : work.up) {
      up.resize(static_cast<std::size_t>(work.count));
      work.up_view.push_back(up.data());
    }
    const Status status =
        batch_rise(view, work.records.data(), work.ranges[1].data(), work.up_view.data(), place);
    need(status, place);
  }
  if (axes_ == 0) return;
  work.row_ends = work.run_ends[1].data();
  if (measured) return;
  if (work.per_row > 1) {
    work.sums.make(work.n);
    const auto per_row = static_cast<std::size_t>(work.per_row);
    for (std::size_t k = 0; k < work.sums.size(); ++k) work.sums[k] = work.row_ends[(k + 1) * per_row - 1];
    work.row_ends = work.sums.data();
  }
  work.sizes[0] = 0;
  std::int64_t before = 0;
  for (std::int64_t k = 0; k < work.n; ++k) {
    work.sizes[0] = std::max(work.sizes[0], work.row_ends[k] - before);
    before = work.row_ends[k];
  }
}

void Batcher::plan(BatchWork& work, const Ints& rows, const Ints* start, const Ints* end, Dice dice,
                   const Ints* counters, const Ints* prefix_rows, const Ints* suffix_rows) const {
  work.n = rows.count;
  work.per_row = 1 + (prefix_ >= 0 ? 1 : 0) + (suffix_ >= 0 ? 1 : 0);
  work.count = work.n * work.per_row;
  work.ranges.resize(static_cast<std::size_t>(axes_) + 1);
  work.run_ends.resize(static_cast<std::size_t>(axes_) + 1);
  work.sizes.assign(static_cast<std::size_t>(axes_), 0);
  const bool cuts =
      axes_ > 0 && (start != nullptr || end != nullptr || options_.max_len >= 0 || options_.windows);
  const bool direct = sources_.size() == 1 && axes_ > 0 && (depth_ == 1 || !options_.flatten);
  if (direct) {
    first_axis(work, rows, cuts || has_outer_);
  } else {
    find_records(work, rows);
    enter(work, prefix_rows, suffix_rows);
  }
  if (cuts) cut_windows(work, start, end, dice, counters != nullptr ? counters->data : nullptr);
  measure(work, direct && !cuts);
  check_values(work);
}

}  // namespace varlen::bindings
