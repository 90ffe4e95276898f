// Batches of drawn joints against plain lists: rows, windows, sides, sizes, conversions; ragged and dense.
#include "varlen/model/batch_plan.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "joint_draw.hpp"
#include "varlen/model/error.hpp"

namespace {

using varlen::Batcher;
using varlen::BatchKey;
using varlen::BatchOptions;
using varlen::BatchOutput;
using varlen::BatchPlan;
using varlen::BatchRequest;
using varlen::BatchSource;
using varlen::Error;
using varlen::Fault;
using varlen::Side;
using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::DrawnJoint;
using varlen::test::Ints;
using varlen::test::Lists;
using varlen::test::lists_of;
using varlen::test::z;

/// A batch that was run, by name; every output in memory of its own that is as long as it is.
struct Ran {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  std::map<std::string, Bytes> bytes;

  Ran(const Batcher& batcher, const Ints& rows) {
    BatchRequest request;
    request.rows = rows.data();
    request.n = std::ssize(rows);
    BatchPlan plan(batcher, request);
    std::int64_t sum = 0;
    for (BatchOutput& output : plan.outputs()) {
      Bytes& memory = bytes[output.name] = Bytes(z(output.bytes), std::byte{0xA5});
      output.data = memory.data();
      shapes[output.name] = output.shape;
      sum += output.bytes;
    }
    CHECK_EQ(plan.bytes(), sum);
    plan.run();
  }
  template <class T>
  [[nodiscard]] std::vector<T> numbers(const std::string& name) const {
    const Bytes& from = bytes.at(name);
    std::vector<T> out(from.size() / sizeof(T));
    if (!from.empty()) std::memcpy(out.data(), from.data(), from.size());
    return out;
  }
};

struct Setting {
  std::vector<DrawnJoint> joints;
  std::vector<BatchSource> sources;
  std::vector<BatchKey> keys;
  Lists lists;  ///< all sources, one after another
  Ints rows;

  Setting(int depth, std::int32_t fill) {
    lists.lengths.resize(z(depth));
    for (std::int64_t s = draw(1, 3); s > 0; --s) {
      joints.emplace_back(depth, draw(1, 5), 4, draw(0, 1) == 0);
      const Lists one = lists_of(joints.back().joint);
      one.append_to(lists, 0, one.rows);
    }
    for (const DrawnJoint& sample : joints) sources.push_back({sample.joint, "part"});
    for (int d = 0; d <= depth; ++d) {
      keys.push_back({std::string("k") + std::to_string(d), d,
                      varlen::ElementValues::copy(varlen::element_of(varlen::Type::i32), {}, &fill, 1),
                      nullptr, nullptr});
    }
    for (std::int64_t k = draw(0, 6); k > 0; --k) rows.push_back(draw(-lists.rows, lists.rows - 1));
  }
};

/// The rows of a batch after its windows: the first or the last max_len of axis 1.
std::vector<Lists> rows_of(const Setting& setting, std::int64_t max_len, bool from_end) {
  std::vector<Lists> out;
  for (const std::int64_t row : setting.rows) {
    const Lists one = setting.lists.take({row});
    Lists inner;  // dim 1 as dim 0
    inner.rows = one.lengths[0][0];
    inner.lengths.assign(one.lengths.begin() + 1, one.lengths.end());
    for (const auto& [name, key] : one.keys) {
      if (key.first > 0) inner.keys[name] = {key.first - 1, key.second};
    }
    const std::int64_t keep = max_len < 0 ? inner.rows : std::min(max_len, inner.rows);
    Lists window;
    window.lengths.resize(inner.lengths.size());
    inner.append_to(window, from_end ? inner.rows - keep : 0, from_end ? inner.rows : keep);
    out.push_back(std::move(window));
  }
  return out;
}

/// Slots of one record at `axis` and below, written slot by slot.
void pad_lists(const Lists& record, const std::string& key, int dim, const std::vector<std::int64_t>& sizes,
               std::size_t axis, Side side, std::int32_t fill, std::vector<std::int32_t>& out) {
  const std::int64_t slots = sizes[axis];
  const std::int64_t gap = side == Side::left ? slots - record.rows : 0;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    const std::int64_t i = slot - gap;
    const bool exists = i >= 0 && i < record.rows;
    if (dim == 0) {
      out.push_back(exists ? record.keys.at(key).second[z(i)] : fill);
      continue;
    }
    Lists inner;
    inner.lengths.resize(record.lengths.size() - 1);
    if (exists) {
      const Lists one = record.take({i});
      Lists children;
      children.rows = one.lengths[0][0];
      children.lengths.assign(one.lengths.begin() + 1, one.lengths.end());
      for (const auto& [name, values] : one.keys) {
        if (values.first > 0) children.keys[name] = {values.first - 1, values.second};
      }
      inner = std::move(children);
    }
    pad_lists(inner, key, dim - 1, sizes, axis + 1, side, fill, out);
  }
}

}  // namespace

TEST(batch_plan, pads_as_lists_are_padded) {
  for (int turn = 0; turn < 400; ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    const Setting setting(depth, 7);
    BatchOptions options;
    options.max_len = draw(-1, 4);
    options.side = draw(0, 1) == 0 ? Side::right : Side::left;
    options.draw = draw(0, 1) == 0 ? varlen::Draw::from_start : varlen::Draw::to_end;
    const bool from_end = options.draw == varlen::Draw::to_end;
    const Batcher batcher(setting.sources, setting.keys, options);
    CHECK_EQ(batcher.size(), setting.lists.rows);
    const Ran ran(batcher, setting.rows);
    const std::vector<Lists> records = rows_of(setting, options.max_len, from_end);
    CHECK(ran.numbers<std::int32_t>("k0") == setting.lists.take(setting.rows).keys.at("k0").second);
    std::int64_t longest = 0;
    for (const Lists& record : records) longest = std::max(longest, record.rows);
    for (int d = 1; d <= depth; ++d) {
      const std::string key = std::string("k") + std::to_string(d);
      const std::vector<std::int64_t> shape = ran.shapes.at(key);
      CHECK_EQ(shape[0], std::ssize(records));
      CHECK_EQ(shape[1], longest);
      const std::vector<std::int64_t> sizes(shape.begin() + 1, shape.end());
      std::vector<std::int32_t> want;
      std::vector<std::int32_t> mask;
      for (Lists record : records) {
        pad_lists(record, key, d - 1, sizes, 0, options.side, 7, want);
        for (auto& [name, values] : record.keys) std::fill(values.second.begin(), values.second.end(), 1);
        pad_lists(record, key, d - 1, sizes, 0, options.side, 0, mask);
      }
      CHECK(ran.numbers<std::int32_t>(key) == want);
      const auto flags = ran.numbers<std::uint8_t>(std::string("dim") + std::to_string(d) + "/mask");
      CHECK(std::equal(flags.begin(), flags.end(), mask.begin(), mask.end()));
    }
  }
}

TEST(batch_plan, lays_rows_end_to_end_with_their_offsets) {
  for (int turn = 0; turn < 300; ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    const Setting setting(depth, 0);
    BatchOptions options;
    options.ragged = true;
    options.lengths = true;
    options.positions = true;
    options.windows = true;
    options.max_len = draw(-1, 3);
    const Ran ran(Batcher(setting.sources, setting.keys, options), setting.rows);
    std::vector<std::vector<std::int64_t>> offsets(z(depth), {0});
    Ints positions;
    Ints lengths;
    std::map<std::string, std::vector<std::int32_t>> values;
    for (const Lists& record : rows_of(setting, options.max_len, false)) {
      lengths.push_back(record.rows);
      offsets[0].push_back(offsets[0].back() + record.rows);
      for (std::int64_t i = 0; i < record.rows; ++i) positions.push_back(i);
      for (std::size_t d = 0; d < record.lengths.size(); ++d) {
        for (const std::int64_t n : record.lengths[d]) offsets[d + 1].push_back(offsets[d + 1].back() + n);
      }
      for (const auto& [name, key] : record.keys)
        values[name].insert(values[name].end(), key.second.begin(), key.second.end());
    }
    for (int d = 1; d <= depth; ++d) {
      const std::string key = std::string("k") + std::to_string(d);
      CHECK(ran.numbers<std::int64_t>(std::string("dim") + std::to_string(d) + "/offsets") ==
            offsets[z(d - 1)]);
      CHECK(ran.numbers<std::int32_t>(key) == values[key]);
    }
    CHECK(ran.numbers<std::int64_t>("dim1/lengths") == lengths);
    CHECK(ran.numbers<std::int64_t>("dim1/positions") == positions);
    const auto narrow = ran.numbers<std::int32_t>("dim1/cu_seqlens");
    CHECK(std::equal(narrow.begin(), narrow.end(), offsets[0].begin(), offsets[0].end()));
    const auto begin = ran.numbers<std::int64_t>("window/start");
    const auto end = ran.numbers<std::int64_t>("window/end");
    for (std::size_t k = 0; k < lengths.size(); ++k) CHECK_EQ(end[k] - begin[k], lengths[k]);
  }
}

TEST(batch_plan, converts_and_refuses_what_does_not_fit) {
  const DrawnJoint sample(1, 6, 4, true);
  const float fill = -0.5F;
  const auto row = varlen::ElementValues::copy(varlen::element_of(varlen::Type::f32), {}, &fill, 1);
  const Ints rows{0, 1, 2, 3, 4, 5};
  const Ran ran(Batcher({{sample.joint, ""}}, {{"k1", 1, row, nullptr, nullptr}}, {}), rows);
  const Ran plain(Batcher({{sample.joint, ""}}, {varlen::key_of(sample.joint, "k1")}, {}), rows);
  const auto floats = ran.numbers<float>("k1");
  const auto ints = plain.numbers<std::int32_t>("k1");
  const auto mask = ran.numbers<std::uint8_t>("dim1/mask");
  CHECK_EQ(floats.size(), ints.size());
  for (std::size_t i = 0; i < floats.size(); ++i)
    CHECK(floats[i] == (mask[i] != 0 ? static_cast<float>(ints[i]) : -0.5F));

  const auto fault = [&](BatchKey key, BatchOptions options, const Ints& indices) {
    try {
      (void)Ran(Batcher({{sample.joint, "a.nrt"}}, {std::move(key)}, std::move(options)), indices);
    } catch (const Error& error) {
      return error.fault();
    }
    return Fault::system;
  };
  const std::uint8_t byte = 0;
  const auto narrow = varlen::ElementValues::copy(varlen::element_of(varlen::Type::u8), {}, &byte, 1);
  const bool negative = std::any_of(ints.begin(), ints.end(), [](std::int32_t x) { return x < 0; });
  CHECK(negative);
  CHECK(fault({"k1", 1, narrow, nullptr, nullptr}, {}, rows) == Fault::value);
  CHECK(fault({"none", 1, row, nullptr, nullptr}, {}, rows) == Fault::value);
  CHECK(fault({"k1", 0, row, nullptr, nullptr}, {}, rows) == Fault::value);
  CHECK(fault({"k1", 1, row, nullptr, nullptr}, {}, {6}) == Fault::index);
  BatchOptions small;
  small.max_bytes = 8;
  CHECK(fault({"k1", 1, row, nullptr, nullptr}, small, rows) == Fault::value);
  BatchOptions tight;
  tight.pad_to = {0};
  CHECK(fault({"k1", 1, row, nullptr, nullptr}, tight, rows) == Fault::value);
}

TEST(batch_plan, joins_a_prefix_and_a_suffix) {
  const Setting setting(1, 0);
  const DrawnJoint edge(1, 1, 2, true);
  const Lists edge_lists = lists_of(edge.joint);
  BatchOptions options;
  options.ragged = true;
  options.parts = true;
  const Ran ran(Batcher(setting.sources, {setting.keys[1]}, options, edge.joint, edge.joint), setting.rows);
  std::vector<std::int32_t> want;
  std::vector<std::uint8_t> parts;
  for (const Lists& record : rows_of(setting, -1, false)) {
    const auto& middle = record.keys.at("k1").second;
    const auto& side = edge_lists.keys.at("k1").second;
    for (const auto* part : {&side, &middle, &side}) want.insert(want.end(), part->begin(), part->end());
    parts.insert(parts.end(), side.size(), 1);
    parts.insert(parts.end(), middle.size(), 2);
    parts.insert(parts.end(), side.size(), 3);
  }
  CHECK(ran.numbers<std::int32_t>("k1") == want);
  CHECK(ran.numbers<std::uint8_t>("dim1/part") == parts);
}

TEST(batch_plan, lengths_are_those_before_windows) {
  for (int turn = 0; turn < 100; ++turn) {
    const Setting setting(2, 0);
    const Batcher batcher(setting.sources, setting.keys, {});
    Ints all(z(batcher.size()));
    batcher.lengths(nullptr, batcher.size(), all.data());
    CHECK(all == setting.lists.lengths[0]);
    Ints first_lengths(setting.rows.size());
    batcher.lengths(setting.rows.data(), std::ssize(first_lengths), first_lengths.data());
    CHECK(first_lengths == setting.lists.take(setting.rows).lengths[0]);
  }
}
