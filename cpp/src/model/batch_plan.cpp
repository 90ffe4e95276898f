// What one batch works out before its outputs are made: records, windows, the rows below them, sizes.
#include "varlen/model/batch_plan.hpp"

#include <algorithm>

#include "varlen/model/error.hpp"

namespace varlen {

BatchPlan::BatchPlan(const Batcher& batcher, const BatchRequest& request, bool is_staged)
    : b_(batcher), request_(request) {
  const BatchOptions& options = b_.options_;
  n_ = request.n;
  per_row_ = 1 + (b_.prefix_ >= 0 ? 1 : 0) + (b_.suffix_ >= 0 ? 1 : 0);
  count_ = n_ * per_row_;
  ranges_.resize(static_cast<std::size_t>(b_.axes_) + 1);
  run_ends_.resize(static_cast<std::size_t>(b_.axes_) + 1);
  levels_.resize(static_cast<std::size_t>(b_.axes_) + 1);
  sizes_.assign(static_cast<std::size_t>(b_.axes_), 0);
  const bool has_bounds = request.start != nullptr || request.end != nullptr;
  const bool cuts = b_.axes_ > 0 && (has_bounds || options.max_len >= 0 || options.windows);
  const bool direct = b_.sources_.size() == 1 && b_.axes_ > 0 && (b_.depth_ == 1 || !options.flatten);
  if (direct) {
    first_axis(cuts || b_.has_outer_);
  } else {
    find_records();
    enter();
  }
  if (cuts) cut_windows();
  measure(direct && !cuts);
  check_values();
  settle_sizes();
  add_outputs();
  if (is_staged) add_stage();
}

void BatchPlan::need(Status status, Place place, const std::string& argument) const {
  if (status.ok()) return;
  const bool is_known = place.run >= 0 && source_ids_.size() > 0;
  b_.raise(status, place, is_known ? source_ids_.data()[place.run] : 0, argument);
}

void BatchPlan::find_records() {
  if (b_.sources_.size() > 1) source_ids_.make(count_);
  records_.make(count_);
  if (n_ == 0) return;
  const std::int64_t window = b_.prefix_ >= 0 ? 1 : 0;
  std::int32_t* source_ids = source_ids_.size() > 0 ? source_ids_.data() + window : nullptr;
  need(batch_records(b_.sources_.data(), static_cast<std::int64_t>(b_.starts_.size()) - 1, b_.starts_.data(),
                     request_.rows, n_, per_row_, source_ids, records_.data() + window),
       "rows");
}

void BatchPlan::put_edge(std::int32_t source, std::int64_t part, const std::int64_t* rows,
                         const char* argument) {
  const Range records = b_.sources_[static_cast<std::size_t>(source)].records;
  const std::int64_t have = records.size();
  const bool is_shared = have == 1 && rows == nullptr;
  if (!is_shared && rows == nullptr && have != n_) {
    throw Error(Fault::value, argument,
                "has " + std::to_string(have) + " records for " + std::to_string(n_) +
                    " rows; give one for all or one for each");
  }
  for (std::int64_t k = 0; k < n_; ++k) {
    std::int64_t record = is_shared ? 0 : k;
    if (rows != nullptr) {
      const std::int64_t number = rows[k];
      record = number < 0 ? number + have : number;
    }
    if (record < 0 || record >= have) {
      const std::string text = "index " + std::to_string(record) + " at position " + std::to_string(k) +
                               " is out of range for " + std::to_string(have) + " rows";
      throw Error(Fault::index, Record{argument, text, k, record});
    }
    const auto index = static_cast<std::size_t>(k * per_row_ + part);
    source_ids_[index] = source;
    records_[index] = {records.begin + record, records.begin + record + 1};
  }
}

void BatchPlan::cut_windows() {
  const auto n = static_cast<std::size_t>(n_);
  const auto per_row = static_cast<std::size_t>(per_row_);
  const std::size_t window = b_.prefix_ >= 0 ? 1 : 0;
  auto& runs = ranges_[1];
  windows_.make(n_);
  Scratch<std::int64_t> rooms(n_);
  for (std::size_t k = 0; k < n; ++k) {
    const Range extent = runs[k * per_row + window];
    const std::int64_t from = request_.start != nullptr ? request_.start[k] : 0;
    const std::int64_t to = request_.end != nullptr ? request_.end[k] : extent.size();
    windows_[k] = span_clip(from, to, extent.size());
    rooms[k] = -1;
    if (b_.options_.max_len < 0) continue;
    std::int64_t room = b_.options_.max_len;
    if (b_.suffix_ >= 0) {  // the suffix is kept first, then the prefix, then the window
      Range& last = runs[k * per_row + per_row - 1];
      last.end = std::min(last.end, last.begin + room);
      room -= last.size();
    }
    if (b_.prefix_ >= 0) {
      Range& first = runs[k * per_row];
      first.end = std::min(first.end, first.begin + room);
      room -= first.size();
    }
    rooms[k] = room;
  }
  const std::int64_t* counters = request_.counters;
  Scratch<std::int64_t> rows;
  if (counters == nullptr) {
    rows.make(n_);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t s = source_of(k * per_row + window);
      rows[k] = b_.starts_[s] + records_[k * per_row + window].begin - b_.sources_[s].records.begin;
    }
    counters = rows.data();
  }
  span_draw(b_.options_.draw, request_.dice, rooms.data(), counters, n_, windows_.data());
  for (std::size_t k = 0; k < n; ++k) {
    Range& run = runs[k * per_row + window];
    run = {run.begin + windows_[k].begin, run.begin + windows_[k].end};
  }
}

/// The runs of axis 1 where the first level of the only source leads there, measured too.
void BatchPlan::first_axis(bool records) {
  if (records) records_.make(count_);
  ranges_[1].make(count_);
  run_ends_[1].make(count_);
  Place place;
  const Status status = batch_first(b_.sources_[0], request_.rows, n_, records ? records_.data() : nullptr,
                                    ranges_[1].data(), run_ends_[1].data(), sizes_[0], place);
  if (place.run < 0) need(status, "rows");
  need(status, place);
}

void BatchPlan::enter() {
  if (b_.prefix_ >= 0) put_edge(b_.prefix_, 0, request_.prefix_rows, "prefix");
  if (b_.suffix_ >= 0) put_edge(b_.suffix_, per_row_ - 1, request_.suffix_rows, "suffix");
  if (b_.axes_ == 0) return;
  ranges_[1].make(count_);
  Place place;
  const Status status = batch_enter(runs(), b_.options_.flatten, records_.data(), ranges_[1].data(), place);
  need(status, place);
}

/// Sizes and ends of every axis; `is_measured`: of axis 1 they are there.
void BatchPlan::measure(bool is_measured) {
  const Runs view = runs();
  Place place;
  for (std::size_t axis = is_measured ? 2 : 1; axis < ranges_.size(); ++axis) {
    if (axis > 1) {
      ranges_[axis].make(count_);
      const Status status = batch_under(view, static_cast<int>(axis) - 1, ranges_[axis - 1].data(),
                                        ranges_[axis].data(), sizes_[axis - 1], place);
      need(status, place);
    }
    run_ends_[axis].make(count_);
    need(batch_ends(ranges_[axis].data(), count_, run_ends_[axis].data()), "rows");
    if (axis == 1 || b_.trust_) continue;
    own_ends_.resize(ranges_.size());
    own_ends_[axis].make(total(static_cast<int>(axis) - 1));
    need(batch_own_ends(view, static_cast<int>(axis) - 1, ranges_[axis - 1].data(), ranges_[axis].data(),
                        own_ends_[axis].data(), place),
         place);
  }
  own_levels();
  if (b_.options_.flatten && b_.depth_ > 1) {
    up_.resize(static_cast<std::size_t>(b_.depth_));
    for (auto& up : up_) {
      up.resize(static_cast<std::size_t>(count_));
      up_view_.push_back(up.data());
    }
    const Status status = batch_rise(view, records_.data(), ranges_[1].data(), up_view_.data(), place);
    need(status, place);
  }
  if (b_.axes_ == 0) return;
  row_ends_ = run_ends_[1].data();
  if (is_measured) return;
  if (per_row_ > 1) {
    sums_.make(n_);
    const auto per_row = static_cast<std::size_t>(per_row_);
    for (std::size_t k = 0; k < sums_.size(); ++k) sums_[k] = row_ends_[(k + 1) * per_row - 1];
    row_ends_ = sums_.data();
  }
  sizes_[0] = 0;
  std::int64_t previous = 0;
  for (std::int64_t k = 0; k < n_; ++k) {
    sizes_[0] = std::max(sizes_[0], row_ends_[k] - previous);
    previous = row_ends_[k];
  }
}

void BatchPlan::own_levels() {
  if (own_ends_.empty()) return;
  const std::size_t inner = own_ends_.size() - 2;
  own_levels_.resize(static_cast<std::size_t>(count_) * inner);
  for (std::size_t axis = 2; axis < own_ends_.size(); ++axis) {
    const std::int64_t* ends = own_ends_[axis].data();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
      const std::int64_t size = ranges_[axis - 1][i].size();
      own_levels_[i * inner + axis - 2] = {ends, size};
      ends += size;
    }
  }
}

void BatchPlan::check_values() const {
  for (std::size_t k = 0; k < b_.keys_.size(); ++k) {
    const Feeds& key = b_.feeds_[k];
    const bool any = std::any_of(key.values.begin(), key.values.end(),
                                 [](const Feed& feed) { return feed.convert.run != nullptr; });
    if (!any || !key.type) continue;
    const bool lies_above = is_above(k);
    const auto axis = static_cast<std::size_t>(lies_above ? b_.keys_[k].dim : key.axes);
    const Range* ranges = key.axes == 0 ? records_.data()
                          : lies_above  ? up_[axis].data()
                                        : ranges_[axis].data();
    check_runs(k, key.values, ranges);
    if (!lies_above) continue;
    std::vector<Feed> edges = key.values;  // those lie at the slots already
    for (std::size_t s = 0; s + 1 < b_.starts_.size(); ++s) edges[s].convert = {};
    check_runs(k, edges, ranges_[1].data());
  }
}

void BatchPlan::check_runs(std::size_t k, const std::vector<Feed>& feeds, const Range* ranges) const {
  const Feeds& key = b_.feeds_[k];
  Place place;
  const Status status =
      batch_fits(feeds.data(), key.from.data(), *key.type, b_.keys_[k].nan != nullptr, runs(), ranges, place);
  need(status, place, b_.keys_[k].name);
}

/// The sizes of inner axes that are cut: of what is kept.
void BatchPlan::measure_kept() {
  for (std::size_t a = 1; a < keeps_.size(); ++a) sizes_[a] = std::min(sizes_[a], keeps_[a]);
  if (keeps_.size() < 3) return;  // what is cut at the last axis has nothing below it
  const auto inner = static_cast<int>(keeps_.size()) - 1;
  std::vector<std::int64_t> longest(static_cast<std::size_t>(inner));
  std::fill(sizes_.begin() + 1, sizes_.end(), 0);
  const Scratch<Segment> all = segments(nullptr, inner + 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    pad_kept_sizes(all[i].levels, inner, all[i].rows, keeps_.data() + 1, b_.options_.cut, longest.data());
    for (std::size_t a = 0; a < longest.size(); ++a) sizes_[a + 1] = std::max(sizes_[a + 1], longest[a]);
  }
}

void BatchPlan::settle_sizes() {
  const BatchOptions& o = b_.options_;
  keeps_.assign(sizes_.size(), INT64_MAX);
  bool cuts = false;
  for (std::size_t a = 1; a < keeps_.size(); ++a) {
    if (a - 1 >= o.inner_max.size() || o.inner_max[a - 1] < 0) continue;
    keeps_[a] = o.inner_max[a - 1];
    cuts = cuts || keeps_[a] < sizes_[a];
  }
  if (cuts) measure_kept();
  for (std::size_t a = 0; a < sizes_.size(); ++a) {
    std::int64_t& size = sizes_[a];
    if (a < o.multiple.size() && o.multiple[a] > 1 && size % o.multiple[a] != 0) {
      size += o.multiple[a] - size % o.multiple[a];
    }
    if (a < o.pad_to.size() && o.pad_to[a] >= 0) {
      if (size > o.pad_to[a]) {
        throw Error(Fault::value, "pad_to",
                    "the longest sequence of axis " + std::to_string(a + 1) + " takes " +
                        std::to_string(size) + " slots, over " + std::to_string(o.pad_to[a]) +
                        "; give max_len to cut it");
      }
      size = o.pad_to[a];
    }
  }
}

}  // namespace varlen
