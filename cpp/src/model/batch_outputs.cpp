// The outputs of a batch, in their order, and the jobs that write them.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "varlen/copy.hpp"
#include "varlen/model/batch_plan.hpp"
#include "varlen/model/error.hpp"
#include "varlen/offsets.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kBytesOf[] = {0, 1, 1, 4, 8, 0};

std::string dim_name(int axes, const char* what) {
  return "dim" + std::to_string(axes) + "/" + what;
}

}  // namespace

void BatchPlan::add_outputs() {
  const bool ragged = b_.options_.ragged;
  for (int axes = 0; axes <= b_.axes_; ++axes) {
    bool any = false;
    for (const Feeds& key : b_.feeds_) any = any || key.axes == axes;
    if (axes > 0 && ragged) add_levels(axes);
    if (axes > 0 && any && !ragged && b_.options_.masks) add_mask(axes);
    for (std::size_t k = 0; k < b_.keys_.size(); ++k) {
      if (b_.feeds_[k].axes == axes) add_values(k);
    }
  }
  if (b_.axes_ > 0) add_extras();
}

std::size_t BatchPlan::add(std::string name, BatchOutput::Kind kind, std::vector<std::int64_t> shape,
                           int key) {
  std::int64_t element = kBytesOf[static_cast<std::size_t>(kind)];
  if (kind == BatchOutput::Kind::values)
    element = b_.keys_[static_cast<std::size_t>(key)].fill->element_bytes();
  BatchOutput output;
  output.bytes = padded_bytes(name, element, shape.data(), shape.size(), b_.options_.max_bytes, bytes_);
  output.name = std::move(name);
  output.kind = kind;
  output.key = key;
  output.shape = std::move(shape);
  outputs_.push_back(std::move(output));
  return outputs_.size() - 1;
}

std::vector<std::int64_t> BatchPlan::shape_of(int axes) const {
  std::vector<std::int64_t> shape;
  if (axes > 0 && b_.options_.ragged) {
    shape.push_back(total(axes));
  } else {
    shape.push_back(n_);
    shape.insert(shape.end(), sizes_.begin(), sizes_.begin() + axes);
  }
  return shape;
}

void BatchPlan::add_job(std::size_t output, BatchOutput::Part part, int axes, std::function<void()> job) {
  outputs_[output].part = part;
  outputs_[output].axes = axes;
  jobs_.push_back(std::move(job));
}

void BatchPlan::run() {
  stores_ = stores_for(bytes_);
  for (const auto& job : jobs_) job();
  for (const auto& job : plain_jobs_) job();
}

Scratch<Segment> BatchPlan::segments(const Feeds* feeds, int axes) const {
  const std::size_t inner = own_ends_.size() - 2;  // where there are some
  Scratch<Segment> all(count_);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t s = source_of(i);
    all[i] = {};
    all[i].levels = b_.sources_[s].nest.levels + 1;
    if (feeds != nullptr) {
      all[i].values = feeds->values[s].rows;
      all[i].values.width =
          feeds->values[feeds->one].rows.width;  // a source without rows has none of its own
    }
    all[i].rows = ranges_[1][i];
    if (own_levels_.empty() || axes < 2) continue;
    // Levels of our own are counted from the first row of their run, and so are its values.
    const Range rows = ranges_[static_cast<std::size_t>(axes)][i];
    all[i].levels = own_levels_.data() + i * inner;
    all[i].rows = {0, all[i].rows.size()};
    if (feeds == nullptr || rows.size() == 0) continue;
    all[i].values.data += rows.begin * all[i].values.width;
    all[i].values.count = rows.size();
  }
  return all;
}

void BatchPlan::end_to_end(const std::vector<Feed>& feeds, std::size_t key, std::int64_t width,
                           const std::byte* gap_row, std::byte* target) const {
  const auto axis = static_cast<std::size_t>(b_.feeds_[key].axes);
  const std::int64_t* ends = run_ends_[axis].data();
  Place place;
  const Status status =
      is_above(key) ? batch_broadcast(feeds.data(), runs(), ranges_[1].data(), up_view_.data(), ends,
                                      b_.options_.fill_mode, gap_row, width, target, place)
                    : batch_rows(feeds.data(), runs(), ranges_[axis].data(), ends, width, target, place);
  need(status, place, b_.keys_[key].name);
}

void BatchPlan::level_ends(int axis, std::int64_t* out) const {
  const auto a = static_cast<std::size_t>(axis);
  const Range* const parents = ranges_[a - 1].data();
  const Range* const children = ranges_[a].data();
  if (own_levels_.empty()) {
    batch_level(runs(), axis - 1, parents, children, out);
  } else {
    batch_own_level(count_, parents, children, own_ends_[a].data(), out);
  }
}

void BatchPlan::pad_rows(const std::byte* rows, int axes, std::int64_t width, const std::byte* pattern,
                         std::byte* to) {
  std::vector<Offsets> levels{{row_ends_, n_}};
  for (int axis = 2; axis <= axes; ++axis) {
    auto& ends = levels_[static_cast<std::size_t>(axis)];
    if (ends.empty()) {
      ends.resize(static_cast<std::size_t>(total(axis - 1)));
      level_ends(axis, ends.data());
    }
    levels.push_back({ends.data(), static_cast<std::int64_t>(ends.size())});
  }
  pad(levels.data(), axes, {0, n_}, {rows, total(axes), width}, sizes_.data(), how(pattern), to);
}

void BatchPlan::add_values(std::size_t key) {
  const Feeds& feeds = b_.feeds_[key];
  std::vector<std::int64_t> shape = shape_of(feeds.axes);
  shape.insert(shape.end(), feeds.row_shape.begin(), feeds.row_shape.end());
  const std::size_t k = add(b_.keys_[key].name, BatchOutput::Kind::values, shape, static_cast<int>(key));
  add_job(k, BatchOutput::Part::values, feeds.axes, [this, key, k] { write_values(key, at(k)); });
  if (b_.keys_[key].nan == nullptr) return;
  const std::size_t mask =
      add(b_.keys_[key].name + "/mask", BatchOutput::Kind::flags, std::move(shape), static_cast<int>(key));
  add_job(mask, BatchOutput::Part::not_nan, feeds.axes, [this, key, mask] { write_not_nan(key, at(mask)); });
}

void BatchPlan::write_values(std::size_t key, std::byte* to) {
  const Feeds& feeds = b_.feeds_[key];
  if (feeds.axes == 0) {
    outer(feeds.values, key, feeds.width, to);
  } else if (b_.options_.ragged) {
    end_to_end(feeds.values, key, feeds.width, feeds.gap_row, to);
  } else if (is_above(key) || !feeds.is_uniform || feeds.has_bits) {
    Buffer rows = buffer_of(total(feeds.axes), feeds.width);
    end_to_end(feeds.values, key, feeds.width, feeds.gap_row, rows.data());
    pad_rows(rows.data(), feeds.axes, feeds.width, feeds.pattern, to);
  } else {
    const Scratch<Segment> all = segments(&feeds, feeds.axes);
    pad_segments(all.data(), per_row_, n_, feeds.axes, sizes_.data(),
                 how(feeds.pattern, feeds.values[feeds.one].convert), to);
  }
}

void BatchPlan::write_not_nan(std::size_t key, std::byte* to) {
  const Feeds& feeds = b_.feeds_[key];
  if (feeds.axes == 0 || b_.options_.ragged) {
    write_not_nan_rows(key, to);
    return;
  }
  const std::int64_t width = feeds.width / b_.keys_[key].fill->element_bytes();
  Buffer rows(total(feeds.axes) * width);
  write_not_nan_rows(key, rows.data());
  pad_rows(rows.data(), feeds.axes, width, nullptr, to);
}

void BatchPlan::write_not_nan_rows(std::size_t key, std::byte* rows) {
  const Feeds& feeds = b_.feeds_[key];
  const std::int64_t width = feeds.width / b_.keys_[key].fill->element_bytes();
  const std::int64_t count = (feeds.axes == 0 ? n_ : total(feeds.axes)) * width;
  if (feeds.axes == 0) {
    outer(feeds.is_nan, key, width, rows);
  } else {
    const std::vector<std::byte> ones(static_cast<std::size_t>(width), std::byte{1});
    end_to_end(feeds.is_nan, key, width, b_.options_.fill_nan ? ones.data() : nullptr, rows);
  }
  for (std::int64_t i = 0; i < count; ++i) rows[i] ^= std::byte{1};
}

void BatchPlan::outer(const std::vector<Feed>& feeds, std::size_t key, std::int64_t width,
                      std::byte* to) const {
  const std::string& name = b_.keys_[key].name;
  Scratch<std::int64_t> ends(n_);
  std::iota(ends.data(), ends.data() + n_, 1);
  Place place;
  if (per_row_ == 1) {
    need(batch_rows(feeds.data(), runs(), records_.data(), ends.data(), width, to, place), place, name);
    return;
  }
  const auto per_row = static_cast<std::size_t>(per_row_);
  const std::size_t window = b_.prefix_ >= 0 ? 1 : 0;
  Scratch<std::int32_t> source_ids(n_);
  Scratch<Range> records(n_);
  for (std::size_t i = 0; i < source_ids.size(); ++i) {
    source_ids[i] = source_ids_[i * per_row + window];
    records[i] = records_[i * per_row + window];
  }
  const Status status = batch_rows(feeds.data(), {b_.sources_.data(), source_ids.data(), n_}, records.data(),
                                   ends.data(), width, to, place);
  if (place.run >= 0) place.run = place.run * per_row_ + static_cast<std::int64_t>(window);
  need(status, place, name);
}

void BatchPlan::add_mask(int axes) {
  const std::size_t k = add(dim_name(axes, "mask"), BatchOutput::Kind::flags, shape_of(axes));
  add_job(k, BatchOutput::Part::mask, axes, [this, axes, k] {
    const Scratch<Segment> all = segments(nullptr, axes);
    pad_segments_mask(all.data(), per_row_, n_, axes, sizes_.data(), how(nullptr), at(k));
  });
}

void BatchPlan::add_levels(int axes) {
  const std::int64_t sequences = axes == 1 ? n_ : total(axes - 1);
  const std::size_t offsets = add(dim_name(axes, "offsets"), BatchOutput::Kind::int64, {sequences + 1});
  plain_jobs_.emplace_back([this, axes, offsets] {
    std::int64_t* to = ints_at(offsets);
    *to++ = 0;
    if (axes == 1) {
      copy_bytes(reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(row_ends_),
                 n_ * static_cast<std::int64_t>(sizeof *to));
    } else {
      level_ends(axes, to);
    }
  });
  if (axes > 1) return;
  if (b_.options_.cu_seqlens) {
    if (total(1) > INT32_MAX) {
      throw Error(Fault::overflow, "dim1/cu_seqlens",
                  std::to_string(total(1)) + " rows do not fit int32; take fewer rows, or cu_seqlens=False");
    }
    const std::size_t k = add(dim_name(1, "cu_seqlens"), BatchOutput::Kind::int32, {sequences + 1});
    plain_jobs_.emplace_back([this, k] {
      offsets_of({row_ends_, n_}, reinterpret_cast<std::int32_t*>(at(k)));
    });
  }
  BatchOutput longest;
  longest.name = dim_name(1, "max_length");
  longest.kind = BatchOutput::Kind::number;
  longest.number = sizes_[0];
  outputs_.push_back(std::move(longest));
  if (b_.options_.positions) {
    const std::size_t k = add(dim_name(1, "positions"), BatchOutput::Kind::int64, {total(1)});
    plain_jobs_.emplace_back([this, k] { positions_of({row_ends_, n_}, ints_at(k)); });
  }
}

void BatchPlan::add_extras() {
  const BatchOptions& o = b_.options_;
  if (o.lengths) {
    const std::size_t k = add(dim_name(1, "lengths"), BatchOutput::Kind::int64, {n_});
    plain_jobs_.emplace_back([this, k] { lengths_of({row_ends_, n_}, ints_at(k)); });
  }
  if (o.parts) {
    const std::size_t k = add(dim_name(1, "part"), BatchOutput::Kind::bytes, shape_of(1));
    add_job(k, BatchOutput::Part::parts, 1, [this, k] { write_parts(at(k)); });
  }
  if (o.windows) {
    const std::size_t begin = add("window/start", BatchOutput::Kind::int64, {n_});
    const std::size_t end = add("window/end", BatchOutput::Kind::int64, {n_});
    plain_jobs_.emplace_back([this, begin, end] {
      for (std::size_t k = 0; k < windows_.size(); ++k) {
        ints_at(begin)[k] = windows_[k].begin;
        ints_at(end)[k] = windows_[k].end;
      }
    });
  }
}

void BatchPlan::write_parts(std::byte* to) {
  if (b_.options_.ragged) {
    write_parts_rows(to);
    return;
  }
  Buffer rows(total(1));
  write_parts_rows(rows.data());
  pad_rows(rows.data(), 1, 1, nullptr, to);
}

void BatchPlan::write_parts_rows(std::byte* rows) {
  std::int64_t start = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    const auto s = static_cast<std::int32_t>(source_of(i));
    const int part = s == b_.prefix_ ? 1 : s == b_.suffix_ ? 3 : 2;
    const std::int64_t end = run_ends_[1][i];
    std::memset(rows + start, part, static_cast<std::size_t>(end - start));
    start = end;
  }
}

}  // namespace varlen
