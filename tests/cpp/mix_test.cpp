// The order of a mix against its law: no source is further from its share than the best order allows.
#include "varlen/model/mix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"

namespace {

using varlen::MixOrder;
using varlen::test::Ints;
using varlen::test::z;

Ints offsets_of(const Ints& counts) {
  Ints offsets{0};
  for (const std::int64_t count : counts) offsets.push_back(offsets.back() + count);
  return offsets;
}

/// The furthest that a source is from its share, over all draws.
double distance(const Ints& draws, const Ints& offsets, const std::vector<std::vector<double>>& weights,
                const Ints& begins) {
  std::vector<double> off(weights[0].size(), 0.0);
  double largest = 0;
  std::size_t piece = 0;
  for (std::size_t n = 0; n < draws.size(); ++n) {
    while (piece + 1 < weights.size() && static_cast<std::int64_t>(n) >= begins[piece + 1]) ++piece;
    double sum = 0;
    for (const double weight : weights[piece]) sum += weight;
    for (std::size_t i = 0; i < off.size(); ++i) {
      const bool is_own = offsets[i] <= draws[n] && draws[n] < offsets[i + 1];
      off[i] += weights[piece][i] / sum - (is_own ? 1.0 : 0.0);
      largest = std::max(largest, std::abs(off[i]));
    }
  }
  return largest;
}

}  // namespace

TEST(mix, no_source_is_far_from_its_share) {
  std::uint64_t state = 7;
  const auto number = [&state] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>((state >> 33) % 1000 + 1);
  };
  for (const std::int64_t count : {2, 3, 4, 9}) {
    for (const std::int64_t pieces : {1, 2, 40}) {
      std::vector<std::vector<double>> weights(z(pieces), std::vector<double>(z(count)));
      std::vector<double> flat;
      Ints begins;
      for (std::int64_t k = 0; k < pieces; ++k) {
        begins.push_back(k * 7);
        for (double& weight : weights[z(k)]) flat.push_back(weight = number());
      }
      const Ints offsets = offsets_of(Ints(z(count), 3000));
      const MixOrder order = varlen::mix_order({count, offsets.data(), nullptr, nullptr, false},
                                               {pieces, begins.data(), flat.data()}, nullptr);
      CHECK(order.wants >= 0);
      const double bound = 1.0 - 1.0 / static_cast<double>(2 * count - 2);
      CHECK(distance(order.draws, offsets, weights, begins) <= bound + 1e-5);
    }
  }
}

TEST(mix, sources_leave_and_goals_end_it) {
  const Ints offsets = offsets_of({3, 1, 0, 5});
  const std::vector<double> weights{1, 1, 1, 1};
  const Ints begins{0};
  const varlen::MixWeights even{1, begins.data(), weights.data()};
  const MixOrder all = varlen::mix_order({4, offsets.data(), nullptr, nullptr, true}, even, nullptr);
  Ints once_each = all.draws;
  std::sort(once_each.begin(), once_each.end());
  CHECK(once_each == (Ints{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(all.wants == -1);
  const MixOrder first = varlen::mix_order({4, offsets.data(), nullptr, nullptr, false}, even, nullptr);
  CHECK(first.wants == 2);
  const Ints goals{1, 1, 0, 1};
  const std::vector<double> one_without{1, 1, 0, 1};
  const MixOrder once = varlen::mix_order({4, offsets.data(), nullptr, goals.data(), false},
                                          {1, begins.data(), one_without.data()}, nullptr);
  CHECK(once.draws.size() == 3);
}
