// Drawn sources of a batch, whole or damaged, and rows picked from them.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/batch.hpp"

namespace varlen::test {

using Ranges = std::vector<Range>;

/// Sources of one depth, with what their views look at. Levels may be damaged, memory is exact.
struct Sources {
  int depth;
  std::deque<Nest> nests;
  std::deque<Ints> counts;
  std::vector<Source> all;
  Ints starts{0};

  Sources(int deep, std::int64_t longest, std::int64_t most_rows) : depth(deep) {
    for (std::int64_t s = draw(1, 3); s > 0; --s) {
      const auto& nest = nests.emplace_back(draw_nest(draw(0, most_rows), depth, longest, 1));
      Ints& rows = counts.emplace_back();
      for (const Offsets& level : nest.levels) rows.push_back(level.count);
      rows.push_back(nest.values.count);
      Source source;
      source.nest = {nest.levels.data(), rows.data(), depth};
      source.records = {0, rows[0]};
      all.push_back(source);
      starts.push_back(starts.back() + rows[0]);
    }
  }
  void damage() {
    for (auto& nest : nests) {
      for (Ints& ends : nest.ends) {
        for (auto& end : ends) {
          if (draw(0, 3) == 0)
            end = draw(0, 4) == 0 ? (draw(0, 1) == 0 ? INT64_MIN : INT64_MAX) : draw(-3, 40);
        }
      }
    }
    for (Source& source : all) source.trust = false;
  }
  [[nodiscard]] std::int64_t total() const { return starts.back(); }
};

/// n rows of the sources, each a run of its own.
struct Sample {
  Ints rows;
  std::vector<std::int32_t> of;
  Ranges records;

  Sample(const Sources& sources, std::int64_t n) : of(z(n)), records(z(n)) {
    for (std::int64_t k = 0; k < n; ++k) rows.push_back(draw(-sources.total(), sources.total() - 1));
    CHECK(varlen::batch_records(sources.all.data(), static_cast<std::int64_t>(sources.all.size()),
                                sources.starts.data(), rows.data(), n, 1, of.data(), records.data())
              .ok());
  }
  [[nodiscard]] Runs runs(const Sources& sources) const {
    return {sources.all.data(), of.data(), static_cast<std::int64_t>(of.size())};
  }
};

}  // namespace varlen::test
