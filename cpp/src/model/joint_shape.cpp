// Other shapes of a view: columns chosen or renamed, dims added, dropped and merged.
#include "varlen/model/error.hpp"
#include "varlen/model/joint.hpp"

namespace varlen {
namespace {

[[noreturn]] void refuse_shape(const std::string& text) {
  throw Error(Fault::value, text);
}

/// A level of n sequences, its ends still to be written behind the leading 0.
Buffer unwritten_level(std::int64_t n) {
  Buffer memory = buffer_of(n + 1, sizeof(std::int64_t));
  *memory.as<std::int64_t>() = 0;
  return memory;
}

}  // namespace

Joint Joint::select(const std::vector<std::string>& names) const {
  auto data = std::make_shared<JointData>();
  int deepest = -1;
  for (const std::string& name : names) {
    const int c = data_->find(name);
    if (c < 0) throw Error(Fault::key, name);
    deepest = std::max(deepest, data_->columns[static_cast<std::size_t>(c)].dim);
  }
  data->meta = data_->meta;
  if (deepest < shift_ && !names.empty()) {  // all were left behind: no rows either
    for (const std::string& name : names) {
      const auto c = static_cast<std::size_t>(data_->find(name));
      data->add_column(name, dim(c), values(c));
    }
    return make(std::move(data));
  }
  const auto levels = std::min(data_->levels.size(), static_cast<std::size_t>(std::max(deepest, shift_)));
  const auto n = static_cast<std::ptrdiff_t>(levels);
  data->trust = data_->trust;
  data->file = data_->file;
  data->levels.assign(data_->levels.begin(), data_->levels.begin() + n);
  data->views.assign(data_->views.begin(), data_->views.begin() + n);
  data->counts.assign(data_->counts.begin(), data_->counts.begin() + n + 1);
  for (const std::string& name : names) {
    data->columns.push_back(data_->columns[static_cast<std::size_t>(data_->find(name))]);
  }
  check_names(*data);
  return {std::move(data), shift_, DimRanges(ranges_.data(), levels + 1)};
}

Joint Joint::rename(const std::vector<std::string>& names) const {
  if (names.size() != data_->columns.size()) refuse_shape("names: expected as many as there are keys");
  auto data = std::make_shared<JointData>(*data_);
  for (std::size_t c = 0; c < names.size(); ++c) data->columns[c].name = names[c];
  check_names(*data);
  return {std::move(data), shift_, ranges_};
}

Joint Joint::with_meta(std::shared_ptr<const void> meta) const {
  auto data = std::make_shared<JointData>(*data_);
  data->meta = std::move(meta);
  return {std::move(data), shift_, ranges_};
}

Joint Joint::with_column(const std::string& name, int dim, std::shared_ptr<const Values> values,
                         std::shared_ptr<const void> meta) const {
  if (dim < 0 || dim > depth()) {
    refuse_shape(name + ": dim " + std::to_string(dim) + " is not one of the " + std::to_string(depth() + 1));
  }
  if (values->rows().count != range(dim).size()) {
    refuse_shape(name + ": has " + std::to_string(values->rows().count) + " rows, but dim " +
                 std::to_string(dim) + " has " + std::to_string(range(dim).size()));
  }
  auto data = is_whole() ? std::make_shared<JointData>(*data_) : compact();
  data->meta = std::move(meta);
  const int place = data->find(name);
  if (place < 0) {
    data->add_column(name, dim, std::move(values));
  } else {
    data->columns[static_cast<std::size_t>(place)] = {name, dim, std::move(values)};
  }
  return from_data(std::move(data));
}

Joint Joint::unsqueeze() const {
  auto data = std::make_shared<JointData>();
  data->meta = data_->meta;
  if (depth() < 0) {
    data->counts.push_back(1);
  } else {
    Buffer offsets = unwritten_level(1);
    offsets.as<std::int64_t>()[1] = size();
    data->add_level(Level::trust(std::move(offsets)));
  }
  for (int d = 1; d <= depth(); ++d) data->add_level(level(d));
  for (std::size_t c = 0; c < data_->columns.size(); ++c) {
    const int d = dim(c) + 1;
    if (d > 0 || (d == 0 && column_range(c).size() == 1))
      data->add_column(data_->columns[c].name, d, values(c));
  }
  return from_data(std::move(data));
}

Joint Joint::squeeze() const {
  if (depth() < 0) refuse_shape("squeeze: every dim was indexed away");
  if (size() != 1) refuse_shape("squeeze: dim 0 has length " + std::to_string(size()) + ", not 1");
  return row(0);
}

Joint Joint::flatten(FillMode mode, const FillRow& fill_row) const {
  if (depth() < 1) refuse_shape("flatten: needs at least two dims");
  if (!data_->trust) return settle_levels().flatten(mode, fill_row);
  const int last = depth();
  auto data = std::make_shared<JointData>();
  data->meta = data_->meta;
  data->counts.push_back(last > 1 ? size() : range(1).size());
  for (int d = 1; d < last - 1; ++d) data->add_level(level(d));
  const Offsets deepest = offsets(last);
  const Range slots = range(last);
  if (last > 1) {
    const Range rows = range(last - 2);
    Buffer result = unwritten_level(rows.size());
    joint_merge(offsets(last - 1), deepest, rows, slots.begin, result.as<std::int64_t>() + 1);
    data->add_level(Level::trust(std::move(result)));
  }
  for (std::size_t c = 0; c < data_->columns.size(); ++c) {
    const Column& column = data_->columns[c];
    const int d = dim(c);
    if (d < last - 1 || d == last) {
      data->add_column(column.name, d == last ? last - 1 : d, values(c));
      continue;
    }
    std::byte* to = nullptr;
    std::shared_ptr<Values> out = column.values->make(slots.size(), to);
    const Rows& rows = column.values->rows();
    if (mode == FillMode::repeat) {
      joint_repeat(&deepest, 1, range(last - 1), rows, slots, to);
    } else {
      const auto row = fill_row ? fill_row(column.name, *column.values) : nullptr;
      joint_spread(&deepest, 1, range(last - 1), rows, slots, row ? row->rows().data : nullptr, to);
    }
    data->add_column(column.name, last - 1, std::move(out));
  }
  return from_data(std::move(data));
}

}  // namespace varlen
