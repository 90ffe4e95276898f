#include "joint.hpp"

#include <pybind11/stl.h>

#include <algorithm>

#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

int Root::find(std::string_view name) const {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

void Root::add_level(LevelRef level) {
  if (counts.empty()) counts.push_back(level->count());
  levels.push_back(level->view());
  counts.push_back(level->total());
  owners.push_back(std::move(level));
}

void Root::add_column(std::string name, int dim, py::array values) {
  rows.push_back(rows_of(values));
  arrays.push_back(std::move(values));
  names.push_back(std::move(name));
  dims.push_back(dim);
}

void Root::add_memory(MemoryRead& read) const {
  for (const py::array& array : arrays) read.add(array);
  for (const py::object& owner : owners) {
    if (!LevelRef::is_level(owner.ptr())) read.add(py::reinterpret_borrow<py::array>(owner));
  }
}

void raise_level(Status status, int level) {
  if (!status.ok()) raise_if(status, ("dim" + std::to_string(level) + "/bounds").c_str());
}

Joint Joint::whole(std::shared_ptr<const Root> root) {
  Ranges ranges(root->counts.size());
  for (std::size_t d = 0; d < ranges.size(); ++d) ranges[d] = {0, root->counts[d]};
  return {std::move(root), 0, std::move(ranges)};
}

bool Joint::is_whole() const {
  if (shift_ != 0) return false;
  for (std::size_t d = 0; d < ranges_.size(); ++d) {
    if (ranges_[d].begin != 0 || ranges_[d].end != root_->counts[d]) return false;
  }
  return true;
}

Joint Joint::make(const std::vector<std::string>& names, const std::vector<int>& dims,
                  const py::sequence& values, const py::sequence& levels, std::int64_t count,
                  py::object meta) {
  auto root = std::make_shared<Root>();
  root->meta = std::move(meta);
  if (names.size() != dims.size() || names.size() != values.size()) {
    raise_value("names, dims and values: expected as many of each, got " + std::to_string(names.size()) +
                ", " + std::to_string(dims.size()) + " and " + std::to_string(values.size()));
  }
  for (const auto item : levels) {
    if (LevelRef::is_level(item.ptr())) {
      root->add_level(py::reinterpret_borrow<LevelRef>(item));
      continue;
    }
    const std::string name = "dim" + std::to_string(root->levels.size() + 1) + "/bounds";
    const Ints bounds = as_ints(item, name.c_str());
    const Offsets view{bounds.data, bounds.count};
    if (root->counts.empty()) root->counts.push_back(view.count);
    root->levels.push_back(view);
    root->counts.push_back(view.total());
    root->owners.push_back(bounds.keep);
    root->trusted = false;
  }
  const int depth = root->depth();
  for (int d = 1; d <= depth; ++d) {  // a level's sequences are the rows of the dim above it
    const std::int64_t have = root->levels[static_cast<std::size_t>(d - 1)].count;
    const std::int64_t want = root->counts[static_cast<std::size_t>(d - 1)];
    if (have != want) {
      raise_value("dim" + std::to_string(d) + "/bounds: has " + std::to_string(have) +
                  " sequences, but dim " + std::to_string(d - 1) + " has " + std::to_string(want) + " rows");
    }
  }
  if (depth == 0 && count >= 0) root->counts.push_back(count);
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (dims[k] > depth) {
      raise_value(names[k] + ": dim " + std::to_string(dims[k]) + " needs as many levels, there are " +
                  std::to_string(depth));
    }
    const py::array rows = as_rows(values[k], names[k].c_str());
    if (dims[k] < 0) {
      root->add_column(names[k], dims[k], rows);
      continue;
    }
    if (root->counts.empty()) root->counts.push_back(rows.shape(0));
    const std::int64_t want = root->counts[static_cast<std::size_t>(dims[k])];
    if (rows.shape(0) != want) {
      raise_value(names[k] + ": has " + std::to_string(rows.shape(0)) + " rows, but dim " +
                  std::to_string(dims[k]) + " has " + std::to_string(want));
    }
    root->add_column(names[k], dims[k], rows);
  }
  if (root->counts.empty()) {
    root->counts.push_back(0);
    if (!names.empty()) {  // every key was left behind: nothing to index is left
      std::int64_t rows = -1;
      for (std::size_t k = 0; k < names.size(); ++k) {
        if (++root->dims[k] != 0) continue;
        if (rows < 0) rows = root->rows[k].count;
        if (root->rows[k].count != rows) {
          raise_value(names[k] + ": has " + std::to_string(root->rows[k].count) + " rows, but dim -1 has " +
                      std::to_string(rows));
        }
      }
      root->counts[0] = std::max<std::int64_t>(rows, 0);
      Joint all = whole(std::move(root));
      all.shift_ = 1;
      return all;
    }
  }
  return whole(std::move(root));
}

py::array Joint::values(std::size_t column) const {
  const py::array& all = root_->arrays[column];
  const Range r = column_range(column);
  if (r.begin == 0 && r.end == all.shape(0)) return all;
  return rows_between(all, r.begin, r.end);
}

py::array Joint::bounds(int d) const {
  const Range r = range(d - 1);
  py::array out = empty_ints(r.size());
  raise_level(joint_ends(level(d), r, range(d).begin, ints(out)), d + shift_);
  return out;
}

LevelRef Joint::make_level(int d) const {
  const py::object& owner = root_->owners[static_cast<std::size_t>(d + shift_ - 1)];
  const Range r = range(d - 1);
  if (r.begin == 0 && r.end == level(d).count && LevelRef::is_level(owner.ptr())) {
    return py::reinterpret_borrow<LevelRef>(owner);
  }
  py::array offsets = empty_ints(r.size() + 1);
  auto* out = static_cast<std::int64_t*>(offsets.mutable_data());
  out[0] = 0;
  Status status = joint_ends(level(d), r, range(d).begin, out + 1);
  if (status.ok() && !root_->trusted) {  // what we own is checked, not what they may change
    const Offsets own{out + 1, r.size()};
    const std::int64_t below = range(d).size();
    status = check_ends(own, below);
    if (status.ok() && own.total() != below) status = {Code::total_mismatch, -1, own.total()};
  }
  if (!status.ok()) check();  // its errors name the row in the bounds that were given
  raise_level(status, d + shift_);
  return Level::trusted(std::move(offsets));
}

Joint Joint::settled() const {
  if (root_->trusted || depth() < 1) return *this;
  return whole(compact());
}

void Joint::check() const {
  if (root_->trusted || depth() < 1) return;
  int level = 0;
  const Status status = joint_check(root_->nest(), shift_, ranges_.data(), level);
  raise_level(status, level);
}

}  // namespace varlen::bindings
