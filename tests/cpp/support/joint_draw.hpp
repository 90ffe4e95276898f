// Drawn joints, and the same as plain lists: what models are compared with.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/model/joint.hpp"

namespace varlen::test {

/// Lengths of every level, and the numbers of every key with its dim. Compared as a whole.
struct Lists {
  std::int64_t rows = 0;
  std::vector<Ints> lengths;
  std::map<std::string, std::pair<int, std::vector<std::int32_t>>> keys;

  bool operator==(const Lists&) const = default;
  [[nodiscard]] int depth() const { return static_cast<int>(lengths.size()); }

  /// Rows [begin, end) of dim 0, of every dim below, appended to `out`, which has the same keys.
  void append_to(Lists& out, std::int64_t begin, std::int64_t end) const {
    out.rows += end - begin;
    for (int d = 0; d <= depth(); ++d) {
      for (const auto& [name, key] : keys) {
        auto& to = out.keys[name];
        to.first = key.first;
        if (key.first == d)
          to.second.insert(to.second.end(), key.second.begin() + begin, key.second.begin() + end);
      }
      if (d == depth()) break;
      const Ints& level = lengths[z(d)];
      auto& to = out.lengths[z(d)];
      to.insert(to.end(), level.begin() + begin, level.begin() + end);
      std::int64_t from = 0;
      for (std::int64_t i = 0; i < begin; ++i) from += level[z(i)];
      std::int64_t stop = from;
      for (std::int64_t i = begin; i < end; ++i) stop += level[z(i)];
      begin = from;
      end = stop;
    }
  }
  [[nodiscard]] Lists take(const Ints& index) const {
    Lists out;
    out.lengths.resize(lengths.size());
    append_to(out, 0, 0);
    for (const std::int64_t i : index) append_to(out, i < 0 ? i + rows : i, (i < 0 ? i + rows : i) + 1);
    return out;
  }
};

inline Lists lists_of(const Joint& joint) {
  Lists out;
  out.rows = joint.size();
  for (int d = 1; d <= joint.depth(); ++d) {
    const Level level = joint.level(d);
    out.lengths.emplace_back(level.lengths(), level.lengths() + level.count());
    Ints ends(z(level.count()));
    joint.bounds(d, ends.data());
    CHECK(std::equal(ends.begin(), ends.end(), level.view().ends));
  }
  for (std::size_t c = 0; c < joint.data().columns.size(); ++c) {
    const auto values = joint.values(c);
    const auto* numbers = reinterpret_cast<const std::int32_t*>(values->rows().data);
    out.keys[joint.data().columns[c].name] = {joint.dim(c), {numbers, numbers + values->rows().count}};
  }
  return out;
}

/// A joint of so many levels with a key at each dim, "k0" to "kD". `with_levels`: its levels are Levels.
struct DrawnJoint {
  std::vector<std::shared_ptr<Ints>> ends;
  Joint joint;

  explicit DrawnJoint(int depth, std::int64_t rows, std::int64_t longest, bool with_levels)
      : DrawnJoint(draw_data(depth, rows, longest, with_levels)) {}

 private:
  struct Parts {
    std::vector<std::shared_ptr<Ints>> ends;
    std::shared_ptr<JointData> data;
  };
  explicit DrawnJoint(Parts parts) : ends(std::move(parts.ends)), joint(Joint::make(std::move(parts.data))) {}

  static Parts draw_data(int depth, std::int64_t rows, std::int64_t longest, bool with_levels) {
    Parts parts{{}, std::make_shared<JointData>()};
    std::int64_t count = rows;
    for (int d = 0; d <= depth; ++d) {
      std::vector<std::int32_t> numbers(z(count));
      for (auto& number : numbers) number = static_cast<std::int32_t>(draw(-99, 99));
      parts.data->add_column(std::string("k") + std::to_string(d), d,
                             ElementValues::copy(element_of(Type::i32), {}, numbers.data(), count));
      if (d == depth) break;
      auto& level = parts.ends.emplace_back(std::make_shared<Ints>(z(count)));
      std::int64_t sum = 0;
      for (auto& end : *level) end = sum += draw(0, 3) == 0 ? 0 : draw(0, longest);
      if (with_levels) {
        parts.data->add_level(Level::from_bounds(level->data(), count));
      } else {
        parts.data->add_bounds({level->data(), count}, level);
      }
      count = sum;
    }
    return parts;
  }
};

}  // namespace varlen::test
