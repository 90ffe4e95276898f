// Other shapes of a view: columns chosen or renamed, dims added, dropped and merged.
#include <algorithm>
#include <limits>

#include "joint.hpp"
#include "support/arrays.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

std::shared_ptr<Root> Joint::compact() const {
  auto root = std::make_shared<Root>();
  root->meta = root_->meta;
  root->counts.push_back(size());
  for (int d = 1; d <= depth(); ++d) root->add_level(make_level(d));
  for (std::size_t c = 0; c < root_->names.size(); ++c) root->add_column(root_->names[c], dim(c), values(c));
  return root;
}

Joint Joint::select(const std::vector<std::string>& names) const {
  auto root = std::make_shared<Root>();
  int deepest = -1;
  for (const std::string& name : names) {
    const int c = root_->find(name);
    if (c < 0) throw py::key_error(name);
    deepest = std::max(deepest, root_->dims[static_cast<std::size_t>(c)]);
  }
  if (deepest < shift_ && !names.empty()) {  // all were left behind: no rows either
    std::vector<int> dims;
    py::list arrays;
    for (const std::string& name : names) {
      const auto c = static_cast<std::size_t>(root_->find(name));
      dims.push_back(dim(c));
      arrays.append(values(c));
    }
    return make(names, dims, arrays, py::list(), -1, root_->meta);
  }
  const auto levels = std::min(root_->levels.size(), static_cast<std::size_t>(std::max(deepest, shift_)));
  const auto n = static_cast<std::ptrdiff_t>(levels);
  root->meta = root_->meta;
  root->trusted = root_->trusted;
  root->owners.assign(root_->owners.begin(), root_->owners.begin() + n);
  root->levels.assign(root_->levels.begin(), root_->levels.begin() + n);
  root->counts.assign(root_->counts.begin(), root_->counts.begin() + n + 1);
  for (const std::string& name : names) {
    const auto c = static_cast<std::size_t>(root_->find(name));
    root->add_column(name, root_->dims[c], root_->arrays[c]);
  }
  return {std::move(root), shift_, Ranges(ranges_.data(), levels + 1)};
}

Joint Joint::rename(const std::vector<std::string>& names) const {
  if (names.size() != root_->names.size()) raise_value("names: expected as many as there are keys");
  auto root = std::make_shared<Root>(*root_);
  root->names = names;
  return {std::move(root), shift_, ranges_};
}

Joint Joint::with_meta(py::object meta) const {
  auto root = std::make_shared<Root>(*root_);
  root->meta = std::move(meta);
  return {std::move(root), shift_, ranges_};
}

Joint Joint::with_column(const std::string& name, int dim, py::handle values, py::object meta) const {
  if (dim < 0 || dim > depth()) {
    raise_value(name + ": dim " + std::to_string(dim) + " is not one of the " + std::to_string(depth() + 1));
  }
  const py::array rows = as_rows(values, name.c_str());
  if (rows.shape(0) != range(dim).size()) {
    raise_value(name + ": has " + std::to_string(rows.shape(0)) + " rows, but dim " + std::to_string(dim) +
                " has " + std::to_string(range(dim).size()));
  }
  auto root = is_whole() ? std::make_shared<Root>(*root_) : compact();
  root->meta = std::move(meta);
  const int at = root->find(name);
  if (at < 0) {
    root->add_column(name, dim, rows);
  } else {
    const auto c = static_cast<std::size_t>(at);
    root->arrays[c] = rows;
    root->rows[c] = rows_of(rows);
    root->dims[c] = dim;
  }
  return whole(std::move(root));
}

Joint Joint::unsqueeze() const {
  auto root = std::make_shared<Root>();
  root->meta = root_->meta;
  if (depth() < 0) {
    root->counts.push_back(1);
  } else {
    py::array offsets = empty_ints(2);
    ints(offsets)[0] = 0;
    ints(offsets)[1] = size();
    root->add_level(Level::trusted(std::move(offsets)));
  }
  for (int d = 1; d <= depth(); ++d) root->add_level(make_level(d));
  for (std::size_t c = 0; c < root_->names.size(); ++c) {
    const int d = dim(c) + 1;
    if (d > 0 || (d == 0 && column_range(c).size() == 1)) root->add_column(root_->names[c], d, values(c));
  }
  return whole(std::move(root));
}

Joint Joint::squeeze() const {
  if (depth() < 0) raise_value("squeeze: every dim was indexed away");
  if (size() != 1) raise_value("squeeze: dim 0 has length " + std::to_string(size()) + ", not 1");
  return row(0);
}

Joint Joint::flatten(const std::string& spread) const {
  if (depth() < 1) raise_value("flatten: needs at least two dims");
  if (spread != "first" && spread != "repeat" && spread != "nan") {
    raise_value("spread: expected 'first', 'repeat' or 'nan', got '" + spread + "'");
  }
  if (!root_->trusted) return settled().flatten(spread);
  const int last = depth();
  auto root = std::make_shared<Root>();
  root->meta = root_->meta;
  root->counts.push_back(last > 1 ? size() : range(1).size());
  for (int d = 1; d < last - 1; ++d) root->add_level(make_level(d));
  const Offsets deepest = level(last);
  const Range slots = range(last);
  if (last > 1) {
    const Range rows = range(last - 2);
    py::array offsets = empty_ints(rows.size() + 1);
    ints(offsets)[0] = 0;
    joint_merge(level(last - 1), deepest, rows, slots.begin, ints(offsets) + 1);
    root->add_level(Level::trusted(std::move(offsets)));
  }
  for (std::size_t c = 0; c < root_->names.size(); ++c) {
    const int d = dim(c);
    if (d < last - 1) {
      root->add_column(root_->names[c], d, values(c));
    } else if (d == last) {
      root->add_column(root_->names[c], last - 1, values(c));
    } else {
      py::array out = rows_like(root_->arrays[c], slots.size());
      auto* to = static_cast<std::byte*>(out.mutable_data());
      if (spread == "repeat") {
        joint_repeat(&deepest, 1, range(last - 1), root_->rows[c], slots, to);
      } else {
        py::object fill = py::none();
        const char kind = out.dtype().kind();
        if (spread == "nan" && (kind == 'f' || kind == 'c' || kind == 'm' || kind == 'M')) {
          fill = rows_like(root_->arrays[c], 1);
          if (kind == 'f' || kind == 'c') {
            fill.attr("fill")(py::float_(std::numeric_limits<double>::quiet_NaN()));
          } else {
            fill.attr("fill")(py::str("NaT"));
          }
        }
        const auto* pattern =
            fill.is_none() ? nullptr : static_cast<const std::byte*>(fill.cast<py::array>().data());
        joint_spread(&deepest, 1, range(last - 1), root_->rows[c], slots, pattern, to);
      }
      root->add_column(root_->names[c], last - 1, std::move(out));
    }
  }
  return whole(std::move(root));
}

}  // namespace varlen::bindings
