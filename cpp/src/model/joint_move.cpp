// Rows picked anew, and parts put together: every column and level in one call.
#include "varlen/concat.hpp"
#include "varlen/gather.hpp"
#include "varlen/model/error.hpp"
#include "varlen/model/joint.hpp"
#include "varlen/offsets.hpp"

namespace varlen {
namespace {

[[noreturn]] void refuse_parts(const std::string& text) {
  throw Error(Fault::value, "parts", text);
}

/// Where a part keeps the column `name`: where the first part does, as a rule.
int find_column(const JointData& data, std::size_t guess, const std::string& name) {
  if (guess < data.columns.size() && data.columns[guess].name == name) return static_cast<int>(guess);
  return data.find(name);
}

/// Every part has the column of the first at the same dim, in rows of one kind. A column that is to be
/// dropped where a part lacks it gives false; any other an Error.
bool gather_blocks(const std::vector<const Joint*>& parts, std::size_t c, bool may_drop,
                   std::vector<ConcatBlock>& blocks, std::int64_t& total) {
  const Joint& first = *parts[0];
  const Column& model = first.data().columns[c];
  const int d = first.dim(c);
  total = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Joint& part = *parts[p];
    const JointData& source = part.data();
    const std::string where = "key '" + model.name + "' of part " + std::to_string(p);
    auto k = c;
    if (&source != &first.data()) {
      const int place = find_column(source, c, model.name);
      const bool has_dim = place >= 0 && part.dim(static_cast<std::size_t>(place)) == d;
      if (!has_dim && may_drop) return false;
      if (place < 0) refuse_parts("part " + std::to_string(p) + " has no key '" + model.name + "'");
      if (!has_dim) refuse_parts(where + " lies at another dim");
      k = static_cast<std::size_t>(place);
      if (!model.values->matches(*source.columns[k].values)) {
        if (may_drop) return false;
        refuse_parts(where + " has rows of another dtype or shape");
      }
    } else if (part.dim(k) != d) {
      refuse_parts(where + " lies at another dim");
    }
    const Range r = part.column_range(k);
    if (may_drop && r.size() != 1) return false;
    const Rows& rows = source.columns[k].values->rows();
    total += r.size();
    blocks[p] = {rows.data + r.begin * rows.width, total * rows.width};
  }
  return true;
}

std::size_t live_columns(const Joint& joint) {
  std::size_t n = 0;
  for (std::size_t c = 0; c < joint.data().columns.size(); ++c) n += joint.dim(c) >= 0 ? 1 : 0;
  return n;
}

void check_parts(const std::vector<const Joint*>& parts) {
  if (parts.empty()) throw Error(Fault::value, "Can't concatenate an empty list!");
  const Joint& first = *parts[0];
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const Joint& part = *parts[p];
    const std::string where = "part " + std::to_string(p) + " has ";
    if (part.depth() != first.depth()) {
      refuse_parts(where + std::to_string(part.depth()) + " levels, the first has " +
                   std::to_string(first.depth()));
    }
    if (&part.data() != &first.data() && live_columns(part) != live_columns(first)) {
      refuse_parts(where + std::to_string(live_columns(part)) + " keys, the first has " +
                   std::to_string(live_columns(first)));
    }
  }
}

Buffer fresh_offsets(std::int64_t n) {
  Buffer memory = buffer_of(n + 1, sizeof(std::int64_t));
  *memory.as<std::int64_t>() = 0;
  return memory;
}

/// Level d of all parts as one level. Bounds may lie in memory that others write to: what is checked is not
/// what was read, but what was written here.
Level joined_level(const std::vector<const Joint*>& parts, int d, std::int64_t sequences) {
  Buffer memory = fresh_offsets(sequences);
  std::int64_t* const ends = memory.as<std::int64_t>() + 1;
  std::int64_t start = 0;
  std::int64_t total = 0;
  bool trust = true;
  Status status;
  for (const Joint* part : parts) {
    const Range parent = part->range(d - 1);
    status = joint_ends(part->offsets(d), parent, part->range(d).begin - total, ends + start);
    if (!status.ok()) break;
    start += parent.size();
    total += part->range(d).size();
    const std::int64_t last = start > 0 ? ends[start - 1] : 0;
    if (last != total) status = {Code::total_mismatch, -1, last};
    if (!status.ok()) break;
    trust = trust && part->data().trust;
  }
  if (status.ok() && !trust) status = check_ends({ends, start}, total);
  if (!status.ok()) {
    for (const Joint* part : parts) part->check();  // its errors name the row in the bounds that were given
  }
  throw_if_level(status, d);
  return Level::trust(std::move(memory));
}

}  // namespace

Joint joint_concat(const std::vector<const Joint*>& parts, bool stack) {
  check_parts(parts);
  const Joint& first = *parts[0];
  const auto part_count = static_cast<std::int64_t>(parts.size());
  auto data = std::make_shared<JointData>();
  data->meta = first.data().meta;
  if (first.depth() < 0) {
    if (!stack) refuse_parts("every dim was indexed away, stack them instead");
    data->counts.push_back(part_count);
  } else if (stack) {
    Buffer offsets = fresh_offsets(part_count);
    auto* out = offsets.as<std::int64_t>();
    for (std::size_t p = 0; p < parts.size(); ++p) out[p + 1] = out[p] + parts[p]->size();
    data->add_level(Level::trust(std::move(offsets)));
  } else {
    std::int64_t n = 0;
    for (const Joint* part : parts) n += part->size();
    data->counts.push_back(n);
  }
  for (int d = 1; d <= first.depth(); ++d) data->add_level(joined_level(parts, d, data->counts.back()));
  std::vector<ConcatBlock> blocks(parts.size());
  for (std::size_t c = 0; c < first.data().columns.size(); ++c) {
    const int d = first.dim(c) + (stack ? 1 : 0);
    if (stack && d < 0) continue;  // left behind twice
    std::int64_t total = 0;
    if (!gather_blocks(parts, c, stack && d == 0, blocks, total)) continue;
    std::byte* to = nullptr;
    std::shared_ptr<Values> out = first.data().columns[c].values->make(total, to);
    concat(blocks.data(), part_count, to);
    data->add_column(first.data().columns[c].name, d, std::move(out));
  }
  return Joint::from_data(std::move(data));
}

Joint Joint::take(const std::int64_t* index, std::int64_t n) const {
  if (depth() < 0) throw Error(Fault::index, "too many indices");
  auto data = std::make_shared<JointData>();
  data->meta = data_->meta;
  data->counts.push_back(n);
  const Range outer = range(0);
  std::vector<std::vector<Range>> ranges(static_cast<std::size_t>(depth() + 1),
                                         std::vector<Range>(static_cast<std::size_t>(n)));
  std::vector<std::vector<std::int64_t>> ends(ranges.size(),
                                              std::vector<std::int64_t>(static_cast<std::size_t>(n)));
  if (const Status status = gather_index(index, n, outer.size(), ranges[0].data()); !status.ok()) {
    const std::string text = "Index " + std::to_string(status.value) + " is out of range at dim 0 (length " +
                             std::to_string(outer.size()) + ").";
    throw Error(Fault::index, Record{{}, text, status.where, status.value});
  }
  for (std::size_t k = 0; k < ranges[0].size(); ++k) {
    Range& r = ranges[0][k];
    r = {r.begin + outer.begin, r.end + outer.begin};
    ends[0][k] = static_cast<std::int64_t>(k) + 1;
  }
  for (int d = 1; d <= depth(); ++d) {
    const auto parent = static_cast<std::size_t>(d - 1);
    auto& children = ranges[parent + 1];
    auto& below_ends = ends[parent + 1];
    throw_if_level(gather_descend(offsets(d), ranges[parent].data(), n, data_->counts[place(d)],
                                  children.data(), below_ends.data()),
                   d + shift_, data_->file);
    Buffer level_offsets = fresh_offsets(n > 0 ? ends[parent].back() : 0);
    throw_if_level(gather_ends(offsets(d), ranges[parent].data(), children.data(), below_ends.data(), n,
                               level_offsets.as<std::int64_t>() + 1),
                   d + shift_, data_->file);
    Level level = Level::trust(std::move(level_offsets));
    if (const std::int64_t want = n > 0 ? below_ends.back() : 0; level.total() != want) {
      // written to meanwhile
      throw_if_level({Code::total_mismatch, -1, level.total()}, d + shift_, data_->file);
    }
    data->add_level(std::move(level));
  }
  for (std::size_t c = 0; c < data_->columns.size(); ++c) {
    const Column& column = data_->columns[c];
    const int d = dim(c);
    if (d < 0) {
      data->add_column(column.name, d, values(c));
      continue;
    }
    const auto place = static_cast<std::size_t>(d);
    std::byte* to = nullptr;
    std::shared_ptr<Values> out = column.values->make(n > 0 ? ends[place].back() : 0, to);
    gather_rows(column.values->rows(), ranges[place].data(), ends[place].data(), n, to);
    data->add_column(column.name, d, std::move(out));
  }
  return from_data(std::move(data));
}

}  // namespace varlen
