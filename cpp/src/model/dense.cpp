#include "varlen/model/dense.hpp"

#include <algorithm>

#include "varlen/copy.hpp"

namespace varlen {

DensePlan::DensePlan(const Joint& source, const std::vector<std::int64_t>& max_sizes, Side cut, bool masks,
                     bool empty_keys)
    : joint_(source.settle_levels()), sizes_(static_cast<std::size_t>(std::max(source.depth(), 0))) {
  const Joint& joint = joint_;
  if (joint.depth() < 0) return;
  const bool cuts =
      std::any_of(max_sizes.begin(), max_sizes.end(), [](std::int64_t limit) { return limit >= 0; });
  if (cuts) {
    std::vector<std::int64_t> caps(sizes_.size(), INT64_MAX);
    for (std::size_t d = 0; d < sizes_.size() && d < max_sizes.size(); ++d) {
      if (max_sizes[d] >= 0) caps[d] = max_sizes[d];
    }
    pad_kept_sizes(joint.levels(), joint.depth(), joint.range(0), caps.data(), cut, sizes_.data());
  } else {
    pad_sizes(joint.levels(), joint.depth(), joint.range(0), sizes_.data());
  }
  const std::vector<Column>& columns = joint.data().columns;
  for (int d = 0; d <= joint.depth(); ++d) {
    bool has_mask = d == 0 || !masks;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (joint.dim(c) != d) continue;
      if (entries_.empty()) entries_.reserve(columns.size() + sizes_.size());
      if (!has_mask) entries_.push_back({"dim" + std::to_string(d) + "/mask", d, 0, true});
      has_mask = true;
      if (has_entry(d, empty_keys)) entries_.push_back({columns[c].name, d, c, false});
    }
  }
}

/// A key without a leaf is left out where there are sequences, all empty; not where there are none.
bool DensePlan::has_entry(int d, bool empty_keys) const noexcept {
  return empty_keys || d == 0 || joint_.range(d).size() > 0 || joint_.range(d - 1).size() == 0;
}

std::vector<std::int64_t> DensePlan::shape(int dim) const {
  std::vector<std::int64_t> shape{joint_.range(0).size()};
  shape.insert(shape.end(), sizes_.begin(), sizes_.begin() + dim);
  return shape;
}

void DensePlan::write(const Entry& entry, const Padding& how, std::byte* out) const noexcept {
  const Range rows = joint_.range(0);
  if (entry.mask) {
    pad_mask(joint_.levels(), entry.dim, rows, sizes_.data(), how, out);
    return;
  }
  const Rows& values = joint_.data().columns[entry.column].values->rows();
  if (entry.dim == 0) {
    copy_bytes(out, values.data + rows.begin * values.width, rows.size() * values.width);
  } else {
    pad(joint_.levels(), entry.dim, rows, values, sizes_.data(), how, out);
  }
}

}  // namespace varlen
