// What a batcher finds out about its sources: levels, counts, and how each column becomes the output's dtype.
#include <algorithm>
#include <cstring>

#include "varlen/model/batch_plan.hpp"
#include "varlen/model/error.hpp"

namespace varlen {
namespace {

bool all_zero(const Values& row) {
  const std::byte* bytes = row.rows().data;
  return std::all_of(bytes, bytes + row.rows().count * row.rows().width,
                     [](std::byte b) { return b == std::byte{0}; });
}

void none_is_nan(const std::byte* /*in*/, std::int64_t count, const std::byte* /*nan*/,
                 std::byte* out) noexcept {
  std::memset(out, 0, static_cast<std::size_t>(count));
}

bool same_convert(const Feed& a, const Feed& b) {
  return a.convert.run == b.convert.run && a.convert.nan == b.convert.nan && a.rows.width == b.rows.width;
}

/// What is wrong with a source, which is a file or what an argument holds.
Record about(const BatchSource& from, Record record) {
  if (from.is_file) {
    record.file = from.label;
  } else if (!from.label.empty()) {
    record.argument = record.argument.empty() ? from.label : from.label + ": " + record.argument;
  }
  return record;
}

[[noreturn]] void refuse_source(const BatchSource& from, std::string reason) {
  throw Error(Fault::value, about(from, {{}, std::move(reason)}));
}

}  // namespace

BatchKey key_of(const Joint& joint, const std::string& name) {
  const int c = joint.data().find(name);
  if (c < 0) throw Error(Fault::key, name);
  const auto column = static_cast<std::size_t>(c);
  std::byte* row = nullptr;
  std::shared_ptr<const Values> fill = joint.data().columns[column].values->make(1, row);
  std::memset(row, 0, static_cast<std::size_t>(fill->rows().width));
  return {name, joint.dim(column), std::move(fill), nullptr, nullptr};
}

Batcher::Batcher(const std::vector<BatchSource>& sources, std::vector<BatchKey> keys, BatchOptions options,
                 std::optional<Joint> prefix, std::optional<Joint> suffix)
    : keys_(std::move(keys)), options_(std::move(options)) {
  for (const BatchKey& key : keys_) depth_ = std::max(depth_, key.dim);
  if (depth_ > kMaxBatchDepth)
    throw Error(Fault::value, "keys", "nested deeper than " + std::to_string(kMaxBatchDepth));
  axes_ = options_.flatten ? std::min(depth_, 1) : depth_;
  for (const BatchKey& key : keys_) {
    Feeds& feeds = feeds_.emplace_back();
    feeds.axes = std::min(key.dim, axes_);
    feeds.width = key.fill->rows().width;
    feeds.row_shape = key.fill->row_shape();
    feeds.type = key.fill->type();
    if (!all_zero(*key.fill)) feeds.pattern = key.fill->rows().data;
    if (key.gap_row != nullptr && !all_zero(*key.gap_row)) feeds.gap_row = key.gap_row->rows().data;
    has_outer_ = has_outer_ || feeds.axes == 0;
  }
  // Views point into these.
  const std::size_t limit = sources.size() + 2;
  joints_.reserve(limit);
  levels_.reserve(limit);
  counts_.reserve(limit);
  lifts_.reserve(limit);
  starts_.push_back(0);
  for (const BatchSource& source : sources) {
    add_source(source, false);
    starts_.push_back(starts_.back() + sources_.back().records.size());
  }
  add_edge(std::move(prefix), "prefix", prefix_);
  add_edge(std::move(suffix), "suffix", suffix_);
}

void Batcher::add_edge(std::optional<Joint> joint, const char* name, std::int32_t& index) {
  if (!joint) return;
  if (axes_ < 1) throw Error(Fault::value, name, "the keys of this batch have no ragged axis to join it on");
  index = static_cast<std::int32_t>(sources_.size());
  add_source({*joint, name}, true);
}

void Batcher::add_source(const BatchSource& original, bool edge) {
  const BatchSource& from = joints_.emplace_back(original);  // feeds point into it
  const Joint& j = from.joint;
  if (j.depth() < 0) refuse_source(from, "a value that is fully indexed has no rows");
  const int lift = options_.lift && !edge ? 1 : 0;
  const int want = edge && options_.flatten ? 1 : depth_;
  const int have = std::min(want - lift, j.depth());
  auto& levels = levels_.emplace_back();
  auto& counts = counts_.emplace_back();
  Source source;
  source.records = j.range(0);
  source.trust = j.data().trust;
  if (lift == 1) {  // its rows are one record: the second of a level whose first has what lies before them
    auto& ends = lifts_.emplace_back(std::array{source.records.begin, source.records.end});
    levels.push_back({ends.data(), 2});
    counts.push_back(2);
    source.records = {1, 2};
  }
  for (int d = 0; d <= have; ++d) {
    counts.push_back(j.data().counts[static_cast<std::size_t>(d) + static_cast<std::size_t>(j.shift())]);
    if (d < have) levels.push_back(j.levels()[d]);
  }
  if (static_cast<int>(levels.size()) < want && counts.back() > 0) {
    refuse_source(
        from, "has " + std::to_string(j.depth()) + " levels, the batch needs " + std::to_string(want - lift));
  }
  while (static_cast<int>(levels.size()) < want) {  // nothing lies below nothing, however deep
    levels.push_back({nullptr, 0});
    counts.push_back(0);
  }
  source.nest = {levels.data(), counts.data(), want};
  trust_ = trust_ && source.trust;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const int dim = edge && options_.flatten ? std::min(keys_[k].dim, 1) : keys_[k].dim;
    const bool is_needed = counts[static_cast<std::size_t>(dim)] > 0 && !(edge && dim == 0);
    add_feed(k, from, dim, dim - lift, is_needed);
  }
  sources_.push_back(source);
}

void Batcher::add_feed(std::size_t k, const BatchSource& from, int dim, int place, bool is_needed) {
  const Joint& joint = from.joint;
  const BatchKey& key = keys_[k];
  Feeds& feeds = feeds_[k];
  Feed feed{{nullptr, 0, feeds.width}, dim, {}};
  if (!is_needed) {
    feeds.values.push_back(feed);
    feeds.is_nan.push_back(feed);
    feeds.from.push_back(feeds.type.value_or(Type::b1));
    return;
  }
  const auto bits = std::find_if(from.bits.begin(), from.bits.end(),
                                 [&](const BitColumn& column) { return column.name == key.name; });
  const bool has_bits = bits != from.bits.end();
  const int c = has_bits ? 0 : joint.data().find(key.name);
  if (c < 0) refuse_source(from, "has no key '" + key.name + "'");
  const auto index = static_cast<std::size_t>(c);
  const int have = has_bits ? bits->dim : joint.dim(index);
  if (have != place) {
    refuse_source(from, "key '" + key.name + "' lies at dim " + std::to_string(have) + ", not " +
                            std::to_string(place));
  }
  const Values& values = has_bits ? *bits->like : *joint.data().columns[index].values;
  if (!values.same_row(*key.fill)) refuse_source(from, "rows of '" + key.name + "' have another shape");
  const std::optional<Type> type = values.type();
  feed.rows = values.rows();
  if (has_bits) {
    feed.bits = &bits->blocks;
    feed.rows.data = nullptr;
    feed.rows.count = joint.range(place).size();
    const std::int64_t words = feed.rows.width / std::max<std::int64_t>(feed.bits->width, 1);
    if (!joint.is_whole() || feed.bits->width != values.element_bytes() ||
        feed.bits->count != feed.rows.count * words) {
      refuse_source(from, "key '" + key.name + "' has " + std::to_string(feed.bits->count) +
                              " numbers in blocks for " + std::to_string(feed.rows.count) + " rows");
    }
    feeds.has_bits = true;
  } else if (place < 0) {
    feed.rows.data += (joint.column_range(index).begin - 1) * feed.rows.width;  // of record 1
  }
  Feed is_nan = feed;
  if (!values.same_element(*key.fill) || key.nan != nullptr) {
    if (!type || !feeds.type) {
      throw Error(Fault::type, about(from, {{},
                                            "'" + key.name + "' is " + values.element_name() +
                                                ", which does not become " + key.fill->element_name()}));
    }
    const bool replaces = key.nan != nullptr && is_float(*type);
    feed.convert = cast_of(*type, *feeds.type, replaces ? key.nan->rows().data : nullptr);
    is_nan.convert =
        is_float(*type) ? nan_mask_of(*type) : Convert{none_is_nan, values.element_bytes(), 1, nullptr};
  }
  const bool first = std::none_of(feeds.values.begin(), feeds.values.end(),
                                  [](const Feed& f) { return f.rows.data != nullptr || f.bits != nullptr; });
  if (!first) feeds.is_uniform = feeds.is_uniform && same_convert(feeds.values[feeds.one], feed);
  if (first) feeds.one = feeds.values.size();
  feeds.values.push_back(feed);
  feeds.is_nan.push_back(is_nan);
  feeds.from.push_back(type.value_or(Type::b1));
}

void Batcher::raise(Status status, Place place, std::int32_t source, const std::string& argument) const {
  if (place.run < 0) throw Error(fault_of(status.code), record_of(status, argument));
  const BatchSource& from = joints_[static_cast<std::size_t>(source)];
  if (status.code == Code::not_representable) {
    Record record{{},
                  "'" + argument + "' row " + std::to_string(status.where) +
                      " holds a value that the dtype of the batch does not"};
    record.row = status.where;
    record.advice = "give dtype={'" + argument + "': ...}";
    throw Error(Fault::value, about(from, std::move(record)));
  }
  if (status.code == Code::bad_block) {
    throw Error(from.is_file ? Fault::format : Fault::value,
                about(from, record_of(status, "'" + argument + "'")));
  }
  const std::string bounds = "dim" + std::to_string(place.level + from.joint.shift()) + "/bounds";
  const Fault fault = from.is_file ? fault_of_file(status.code) : fault_of(status.code);
  throw Error(fault, about(from, record_of(status, bounds)));
}

void Batcher::lengths(const std::int64_t* rows, std::int64_t n, std::int64_t* out) const {
  Scratch<std::int64_t> all;
  if (rows == nullptr) {
    all.make(n);
    for (std::int64_t i = 0; i < n; ++i) all.data()[i] = i;
    rows = all.data();
  }
  Scratch<std::int32_t> source_ids;
  if (sources_.size() > 1) source_ids.make(n);
  Scratch<Range> records(n);
  Place place;
  Status status = batch_records(sources_.data(), static_cast<std::int64_t>(starts_.size()) - 1,
                                starts_.data(), rows, n, 1, source_ids.data(), records.data());
  if (status.ok()) {
    status = batch_enter({sources_.data(), source_ids.data(), n}, options_.flatten, records.data(),
                         records.data(), place);
  }
  if (!status.ok()) {
    const bool is_known = place.run >= 0 && source_ids.size() > 0;
    raise(status, place, is_known ? source_ids.data()[place.run] : 0, "rows");
  }
  for (std::int64_t k = 0; k < n; ++k) out[k] = records.data()[k].size();
}

}  // namespace varlen
