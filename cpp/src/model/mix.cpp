#include "varlen/model/mix.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace varlen {

namespace {

constexpr std::int64_t kNoSource = -1;
// Sums of 2^31 weights are off by less.
constexpr double kShareRounding = 1e-6;

std::size_t mix_slot(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

class Mixer {
 public:
  Mixer(const MixSources& sources, const MixWeights& weights)
      : sources_(sources),
        pieces_(weights),
        weights_(weights.weights, weights.weights + weights.pieces * sources.count),
        is_active_(mix_slot(sources.count), true),
        counts_(mix_slot(sources.count), 0),
        amounts_(mix_slot(sources.count), 0.0),
        shares_(mix_slot(sources.count), 0.0) {
    for (std::int64_t i = 0; i < sources.count; ++i) {
      if (sources.goals != nullptr && sources.goals[i] > 0) ++goals_left_;
      if (sources.drops && left(i) == 0) is_active_[mix_slot(i)] = false;
    }
    share_out();
  }

  MixOrder run(const double* chances) {
    MixOrder order;
    order.draws.reserve(mix_slot(sources_.offsets[sources_.count]));
    while (enter_piece() && (sources_.goals == nullptr || goals_left_ > 0)) {
      const std::int64_t source = chances == nullptr ? next_in_turn() : next_by_chance(chances[draws_]);
      if (left(source) == 0) {
        order.wants = source;
        return order;
      }
      order.draws.push_back(sources_.offsets[source] + counts_[mix_slot(source)]);
      draw(source);
    }
    return order;
  }

 private:
  [[nodiscard]] std::int64_t left(std::int64_t i) const {
    return sources_.offsets[i + 1] - sources_.offsets[i] - counts_[mix_slot(i)];
  }

  [[nodiscard]] double weight(std::int64_t piece, std::int64_t i) const {
    return weights_[mix_slot(piece * sources_.count + i)];
  }

  [[nodiscard]] double next_size(std::int64_t i) const {
    if (sources_.sizes == nullptr || left(i) == 0) return 1.0;
    return static_cast<double>(sources_.sizes[sources_.offsets[i] + counts_[mix_slot(i)]]);
  }

  /// What source i should have had by now.
  [[nodiscard]] double share(std::int64_t i) const {
    return shares_[mix_slot(i)] + (total_ - piece_total_) * weight(piece_, i);
  }

  /// Weights that add up to 1 among the sources that are there; shares begin anew.
  void share_out() {
    active_ = std::count(is_active_.begin(), is_active_.end(), true);
    for (std::int64_t k = 0; k < pieces_.pieces; ++k) {
      double sum = 0;
      for (std::int64_t i = 0; i < sources_.count; ++i) {
        if (!is_active_[mix_slot(i)]) weights_[mix_slot(k * sources_.count + i)] = 0;
        sum += weight(k, i);
      }
      for (std::int64_t i = 0; sum > 0 && i < sources_.count; ++i) {
        weights_[mix_slot(k * sources_.count + i)] /= sum;
      }
    }
    std::fill(amounts_.begin(), amounts_.end(), 0.0);
    std::fill(shares_.begin(), shares_.end(), 0.0);
    total_ = piece_total_ = 0;
    read_piece();
  }

  /// Goes to the piece of this draw, and past those in which no source has a weight; false behind the last.
  bool enter_piece() {
    while (draws_ >= piece_end_ || !has_weight_) {
      if (piece_ + 1 == pieces_.pieces) return false;
      for (std::int64_t i = 0; i < sources_.count; ++i) shares_[mix_slot(i)] = share(i);
      piece_total_ = total_;
      ++piece_;
      read_piece();
    }
    return true;
  }

  void read_piece() {
    const bool is_last = piece_ + 1 == pieces_.pieces;
    piece_end_ = is_last ? std::numeric_limits<std::int64_t>::max() : pieces_.begins[piece_ + 1];
    has_weight_ = false;
    for (std::int64_t i = 0; i < sources_.count; ++i) has_weight_ = has_weight_ || weight(piece_, i) > 0;
  }

  [[nodiscard]] std::int64_t next_by_chance(double rest) const {
    std::int64_t last = kNoSource;
    for (std::int64_t i = 0; i < sources_.count; ++i) {
      if (weight(piece_, i) <= 0) continue;
      last = i;
      rest -= weight(piece_, i);
      if (rest < 0) return i;
    }
    return last;
  }

  /// How much is drawn until source i should have had `need` more.
  [[nodiscard]] double deadline(std::int64_t i, double need) const {
    double amount = 0;
    std::int64_t piece = piece_;
    if (sources_.sizes == nullptr) {  // else it is not known how much is drawn in a piece
      for (; piece + 1 < pieces_.pieces; ++piece) {
        const double room =
            static_cast<double>(pieces_.begins[piece + 1] - std::max(draws_, pieces_.begins[piece]));
        if (need <= weight(piece, i) * room) break;
        need -= weight(piece, i) * room;
        amount += room;
      }
    }
    return weight(piece, i) > 0 ? amount + need / weight(piece, i) : std::numeric_limits<double>::infinity();
  }

  [[nodiscard]] std::int64_t next_in_turn() const {
    const bool has_sizes = sources_.sizes != nullptr;
    const double part = active_ > 1 && !has_sizes ? 1.0 / static_cast<double>(2 * active_ - 2) : 0.0;
    std::int64_t best = kNoSource;
    std::int64_t fallback = kNoSource;
    double best_deadline = 0;
    double largest_debt = 0;
    for (std::int64_t i = 0; i < sources_.count; ++i) {
      if (weight(piece_, i) <= 0) continue;
      const double size = next_size(i);
      const double debt = share(i) - amounts_[mix_slot(i)];
      if (fallback == kNoSource || debt > largest_debt) {
        fallback = i;
        largest_debt = debt;
      }
      if (debt + weight(piece_, i) * size < part * size - kShareRounding) continue;
      const double late = deadline(i, size * (1 - part) - debt);
      if (best == kNoSource || late < best_deadline) {
        best = i;
        best_deadline = late;
      }
    }
    return best == kNoSource ? fallback : best;
  }

  void draw(std::int64_t i) {
    const double size = next_size(i);
    amounts_[mix_slot(i)] += size;
    total_ += size;
    ++draws_;
    const std::int64_t count = ++counts_[mix_slot(i)];
    if (sources_.goals != nullptr && count == sources_.goals[i]) --goals_left_;
    if (sources_.drops && left(i) == 0) {
      is_active_[mix_slot(i)] = false;
      share_out();
    }
  }

  const MixSources& sources_;
  const MixWeights& pieces_;
  std::vector<double> weights_;
  std::vector<bool> is_active_;
  std::vector<std::int64_t> counts_;
  std::vector<double> amounts_;  ///< what each source had since shares began
  std::vector<double> shares_;   ///< what each should have had when this piece began
  double total_ = 0;
  double piece_total_ = 0;
  std::int64_t draws_ = 0;
  std::int64_t piece_ = 0;
  std::int64_t piece_end_ = 0;
  bool has_weight_ = false;
  std::int64_t active_ = 0;
  std::int64_t goals_left_ = 0;
};

}  // namespace

MixOrder mix_order(const MixSources& sources, const MixWeights& weights, const double* chances) {
  return Mixer(sources, weights).run(chances);
}

}  // namespace varlen
