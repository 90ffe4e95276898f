// What a joint holds, and views of it by index.
#include "varlen/model/joint.hpp"

#include <string_view>
#include <unordered_set>

#include "varlen/model/error.hpp"

namespace varlen {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw Error(Fault::value, text);
}

std::string rows_text(const std::string& name, std::int64_t have, int dim, std::int64_t want) {
  return name + ": has " + std::to_string(have) + " rows, but dim " + std::to_string(dim) + " has " +
         std::to_string(want);
}

/// A level's sequences are the rows of the dim above it.
void check_levels(const JointData& data) {
  for (int d = 1; d <= data.depth(); ++d) {
    const std::int64_t have = data.views[static_cast<std::size_t>(d - 1)].count;
    const std::int64_t want = data.counts[static_cast<std::size_t>(d - 1)];
    if (have != want) {
      refuse("dim" + std::to_string(d) + "/bounds: has " + std::to_string(have) + " sequences, but dim " +
             std::to_string(d - 1) + " has " + std::to_string(want) + " rows");
    }
  }
}

}  // namespace

void check_names(const JointData& data) {
  std::unordered_set<std::string_view> names;
  for (const Column& column : data.columns) {
    if (!names.insert(column.name).second) refuse("names: two keys are called '" + column.name + "'");
  }
}

int JointData::find(std::string_view name) const noexcept {
  const auto place =
      std::find_if(columns.begin(), columns.end(), [&](const Column& c) { return c.name == name; });
  return place == columns.end() ? -1 : static_cast<int>(place - columns.begin());
}

void JointData::add_level(Level level) {
  if (counts.empty()) counts.push_back(level.count());
  views.push_back(level.view());
  counts.push_back(level.total());
  const Offsets view = level.view();
  levels.push_back({view, std::move(level), nullptr});
}

void JointData::add_bounds(Offsets bounds, std::shared_ptr<const void> owner) {
  if (counts.empty()) counts.push_back(bounds.count);
  views.push_back(bounds);
  counts.push_back(bounds.total());
  levels.push_back({bounds, std::nullopt, std::move(owner)});
  trust = false;
}

void JointData::add_column(std::string name, int dim, std::shared_ptr<const Values> values) {
  columns.push_back({std::move(name), dim, std::move(values)});
}

void throw_if_level(Status status, int level, const std::string& file) {
  if (status.ok()) return;
  Record record = record_of(status, "dim" + std::to_string(level) + "/bounds");
  record.file = file;
  throw Error(file.empty() ? fault_of(status.code) : fault_of_file(status.code), std::move(record));
}

Joint Joint::from_data(std::shared_ptr<const JointData> data) {
  DimRanges ranges(data->counts.size());
  for (std::size_t d = 0; d < ranges.size(); ++d) ranges[d] = {0, data->counts[d]};
  return {std::move(data), 0, std::move(ranges)};
}

Joint Joint::make(std::shared_ptr<JointData> data, std::int64_t count) {
  check_levels(*data);
  const int depth = data->depth();
  if (depth == 0 && count >= 0) data->counts.push_back(count);
  check_names(*data);
  for (const Column& column : data->columns) {
    if (column.dim > depth) {
      refuse(column.name + ": dim " + std::to_string(column.dim) + " needs as many levels, there are " +
             std::to_string(depth));
    }
    if (column.dim < 0) continue;
    const std::int64_t have = column.values->rows().count;
    if (data->counts.empty()) data->counts.push_back(have);
    const std::int64_t want = data->counts[static_cast<std::size_t>(column.dim)];
    if (have != want) refuse(rows_text(column.name, have, column.dim, want));
  }
  if (!data->counts.empty()) return from_data(std::move(data));
  data->counts.push_back(0);
  if (data->columns.empty()) return from_data(std::move(data));
  std::int64_t rows = -1;  // every key was left behind: nothing to index is left
  for (Column& column : data->columns) {
    if (++column.dim != 0) continue;
    const std::int64_t have = column.values->rows().count;
    if (rows < 0) rows = have;
    if (have != rows) refuse(rows_text(column.name, have, -1, rows));
  }
  data->counts[0] = std::max<std::int64_t>(rows, 0);
  Joint all = from_data(std::move(data));
  all.shift_ = 1;
  return all;
}

bool Joint::is_whole() const noexcept {
  if (shift_ != 0) return false;
  for (std::size_t d = 0; d < ranges_.size(); ++d) {
    if (ranges_[d].begin != 0 || ranges_[d].end != data_->counts[d]) return false;
  }
  return true;
}

void Joint::check() const {
  if (data_->trust || depth() < 1) return;
  int level = 0;
  const Status status = joint_check(data_->nest(), shift_, ranges_.data(), level);
  throw_if_level(status, level, data_->file);
}

void Joint::descend(int from, int to) {
  const Offsets* levels = data_->views.data();
  if (joint_descend({levels, data_->counts.data(), to}, from, ranges_.data()).ok()) return;
  for (int d = from; d < to; ++d)  // which level it was: the first that fails alone
    throw_if_level(joint_descend({levels, data_->counts.data(), d + 1}, d, ranges_.data()), d + 1,
                   data_->file);
}

void Joint::drop(std::int64_t i, std::int64_t position) {
  Range& rows = ranges_[static_cast<std::size_t>(shift_)];
  const std::int64_t n = rows.size();
  const std::int64_t place = i < 0 ? i + n : i;
  if (place < 0 || place >= n) {
    const std::string text = "Index " + std::to_string(i) + " is out of range at dim " +
                             std::to_string(position) + " (length " + std::to_string(n) + ").";
    throw Error(Fault::index, Record{.argument = {}, .reason = text, .number = i});
  }
  rows = {rows.begin + place, rows.begin + place + 1};
  if (shift_ < data_->depth()) descend(shift_, shift_ + 1);
  ++shift_;
}

void Joint::cut(std::int64_t begin, std::int64_t end) {
  Range& rows = ranges_[static_cast<std::size_t>(shift_)];
  const std::int64_t n = rows.size();
  const auto clip = [n](std::int64_t x) { return std::clamp<std::int64_t>(x < 0 ? x + n : x, 0, n); };
  begin = clip(begin);
  end = std::max(begin, clip(end));
  rows = {rows.begin + begin, rows.begin + end};
}

void Joint::settle() {
  descend(shift_, data_->depth());
}

Joint Joint::row(std::int64_t i) const {
  if (depth() < 0) throw Error(Fault::index, "too many indices");
  Joint out = *this;
  out.drop(i, 0);
  out.settle();
  return out;
}

Joint Joint::slice(std::int64_t begin, std::int64_t end) const {
  if (depth() < 0) throw Error(Fault::index, "too many indices");
  Joint out = *this;
  out.cut(begin, end);
  out.settle();
  return out;
}

std::shared_ptr<const Values> Joint::values(std::size_t column) const {
  const std::shared_ptr<const Values>& all = data_->columns[column].values;
  const Range r = column_range(column);
  return r.begin == 0 && r.end == all->rows().count ? all : all->part(r);
}

void Joint::bounds(int d, std::int64_t* out) const {
  throw_if_level(joint_ends(offsets(d), range(d - 1), range(d).begin, out), d + shift_, data_->file);
}

Level Joint::level(int d) const {
  const std::optional<Level>& memo = data_->levels[static_cast<std::size_t>(d + shift_ - 1)].memo;
  const Range r = range(d - 1);
  if (memo && r.begin == 0 && r.end == memo->count()) return *memo;
  Buffer memory = buffer_of(r.size() + 1, sizeof(std::int64_t));
  auto* out = memory.as<std::int64_t>();
  out[0] = 0;
  Status status = joint_ends(offsets(d), r, range(d).begin, out + 1);
  if (status.ok() && !data_->trust) {  // what we own is checked, not what others may change
    const Offsets own{out + 1, r.size()};
    const std::int64_t children = range(d).size();
    status = check_ends(own, children);
    if (status.ok() && own.total() != children) status = {Code::total_mismatch, -1, own.total()};
  }
  if (!status.ok()) check();  // its errors name the row in the bounds that were given
  throw_if_level(status, d + shift_, data_->file);
  return Level::trust(std::move(memory));
}

Joint Joint::settle_levels() const {
  return data_->trust || depth() < 1 ? *this : from_data(compact());
}

std::shared_ptr<JointData> Joint::compact() const {
  auto data = std::make_shared<JointData>();
  data->meta = data_->meta;
  data->counts.push_back(size());
  for (int d = 1; d <= depth(); ++d) data->add_level(level(d));
  for (std::size_t c = 0; c < data_->columns.size(); ++c)
    data->add_column(data_->columns[c].name, dim(c), values(c));
  return data;
}

}  // namespace varlen
