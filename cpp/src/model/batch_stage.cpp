// What a batch takes to a device: the rows of its keys as they lie in the sources, ends of levels, and little
// else.
#include <algorithm>
#include <cstring>

#include "varlen/copy.hpp"
#include "varlen/model/batch_plan.hpp"

namespace varlen {
namespace {

// Of every array in the block: what a warp reads at once begins with it.
constexpr std::int64_t kAlignment = 128;

}  // namespace

std::int64_t BatchPlan::stage(std::int64_t bytes, std::function<void(std::byte*)> write) {
  const std::int64_t place = (stage_.bytes + kAlignment - 1) / kAlignment * kAlignment;
  stage_.bytes = place + bytes;
  if (write != nullptr) writers_.emplace_back(place, std::move(write));
  return place;
}

void BatchPlan::add_stage() {
  stage_.n = n_;
  stage_.side = b_.options_.side;
  stage_.cut = b_.options_.cut;
  stage_.places.assign(outputs_.size(), -1);
  staged_keys_.assign(b_.keys_.size(), -1);
  const bool is_ragged = b_.options_.ragged;
  if (!is_ragged) stage_levels();
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    const BatchOutput& output = outputs_[k];
    if (output.kind == BatchOutput::Kind::number) continue;
    const bool is_plain = output.part == BatchOutput::Part::plain;
    if (is_ragged || is_plain) stage_.places[k] = stage(output.bytes, nullptr);
    if (is_ragged) continue;
    StagedArray array;
    array.output = static_cast<std::int64_t>(k);
    array.depth = output.axes;
    array.count = output.axes == 0 ? n_ : total(output.axes);
    switch (output.part) {
      case BatchOutput::Part::values:
        stage_values(static_cast<std::size_t>(output.key), array);
        break;
      case BatchOutput::Part::not_nan:
        stage_not_nan(static_cast<std::size_t>(output.key), array);
        break;
      case BatchOutput::Part::mask:
        array.kind = StagedKind::mask;
        break;
      case BatchOutput::Part::parts:
        array.width = 1;
        array.rows = stage(array.count, [this](std::byte* rows) { write_parts_rows(rows); });
        break;
      case BatchOutput::Part::plain:
        array.width = output.bytes / std::max<std::int64_t>(n_, 1);
        array.rows = stage_.places[k];
        break;
    }
    stage_.arrays.push_back(array);
  }
}

void BatchPlan::stage_levels() {
  for (int axis = 1; axis <= b_.axes_; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    StagedAxis axis_stage;
    axis_stage.count = axis == 1 ? n_ : total(axis - 1);
    axis_stage.slots = sizes_[a - 1];
    axis_stage.keep = keeps_[a - 1];
    const std::int64_t bytes = axis_stage.count * static_cast<std::int64_t>(sizeof(std::int64_t));
    axis_stage.ends = stage(bytes, [this, axis, bytes](std::byte* ends) {
      if (axis == 1) {
        copy_bytes(ends, reinterpret_cast<const std::byte*>(row_ends_), bytes);
      } else {
        level_ends(axis, reinterpret_cast<std::int64_t*>(ends));
      }
    });
    stage_.axes.push_back(axis_stage);
  }
}

std::int64_t BatchPlan::stage_key(std::size_t key) {
  std::int64_t& place = staged_keys_[key];
  if (place >= 0) return place;
  const Feeds& feeds = b_.feeds_[key];
  const std::int64_t width = feeds.values[feeds.one].rows.width;
  const std::int64_t count = feeds.axes == 0 ? n_ : total(feeds.axes);
  place = stage(count * width, [this, key, width](std::byte* rows) {
    const Feeds& key_feeds = b_.feeds_[key];
    std::vector<Feed> as_they_are = key_feeds.values;
    for (Feed& feed : as_they_are) feed.convert = {};
    if (key_feeds.axes == 0) {
      outer(as_they_are, key, width, rows);
    } else {
      end_to_end(as_they_are, key, width, nullptr, rows);
    }
  });
  return place;
}

void BatchPlan::stage_values(std::size_t key, StagedArray& array) {
  const Feeds& feeds = b_.feeds_[key];
  const Feed& one = feeds.values[feeds.one];
  if (feeds.is_uniform && !is_above(key)) {
    array.rows = stage_key(key);
    array.width = one.rows.width;
    if (one.convert.run != nullptr) {
      array.kind = StagedKind::cast;
      array.from = feeds.from[feeds.one];
      array.to = *feeds.type;
      array.replaces_nan = one.convert.nan != nullptr;
      if (array.replaces_nan) {
        std::memcpy(&array.nan, one.convert.nan, static_cast<std::size_t>(one.convert.to));
      }
    }
  } else {
    array.width = feeds.width;
    array.rows = stage(array.count * feeds.width, [this, key](std::byte* rows) {
      const Feeds& key_feeds = b_.feeds_[key];
      if (key_feeds.axes == 0) {
        outer(key_feeds.values, key, key_feeds.width, rows);
      } else {
        end_to_end(key_feeds.values, key, key_feeds.width, key_feeds.gap_row, rows);
      }
    });
  }
  if (feeds.pattern == nullptr || feeds.width == 0) return;
  array.fill_bytes = feeds.width;
  if (kFillAtHand % feeds.width == 0) {
    std::copy_n(feeds.pattern, feeds.width, array.fill.begin());
  } else {
    const std::byte* const from = feeds.pattern;
    const std::int64_t width = feeds.width;
    array.fill_row = stage(width, [from, width](std::byte* row) { copy_bytes(row, from, width); });
  }
}

void BatchPlan::stage_not_nan(std::size_t key, StagedArray& array) {
  const Feeds& feeds = b_.feeds_[key];
  if (feeds.is_uniform && !is_above(key)) {
    array.kind = StagedKind::not_nan;
    array.rows = stage_key(key);
    array.width = feeds.values[feeds.one].rows.width;
    array.from = feeds.from[feeds.one];
  } else {
    array.width = feeds.width / b_.keys_[key].fill->element_bytes();
    array.rows =
        stage(array.count * array.width, [this, key](std::byte* rows) { write_not_nan_rows(key, rows); });
  }
}

void BatchPlan::write_stage(std::byte* block) {
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (stage_.places[k] >= 0) outputs_[k].data = block + stage_.places[k];
  }
  if (b_.options_.ragged) {
    run();
    return;
  }
  for (const auto& job : plain_jobs_) job();
  for (const auto& [place, write] : writers_) write(block + place);
}

}  // namespace varlen
