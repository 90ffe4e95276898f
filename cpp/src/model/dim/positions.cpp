#include "positions.hpp"

#include <algorithm>
#include <numeric>

namespace varlen::dims {

namespace {

using Step = Shape::Step;

/// Goes through positions in their order, and writes a place for each.
class Walk {
 public:
  Walk(const std::vector<Step>& from, const std::vector<Step>& to, const std::vector<std::size_t>& axes,
       std::int64_t* out)
      : from_(from), to_(to), axes_(axes), counters_(from.size(), 0), out_(out) {
    const auto last = std::find(axes.begin(), axes.end(), from.size() - 1);
    inner_ = static_cast<std::size_t>(last - axes.begin());
  }

  void go(std::size_t k, std::int64_t row) {
    const std::int64_t n = from_[k].length(row);
    if (k + 1 == from_.size()) {
      write(n);
      return;
    }
    const std::int64_t start = from_[k].first(row);
    for (std::int64_t c = 0; c < n; ++c) {
      counters_[k] = c;
      go(k + 1, start + c);
    }
  }

 private:
  [[nodiscard]] std::int64_t fold(std::int64_t place, std::size_t first, std::size_t end) const noexcept {
    for (std::size_t q = first; q < end; ++q) place = to_[q].first(place) + counters_[axes_[q]];
    return place;
  }

  /// n positions of the innermost dim.
  void write(std::int64_t n) {
    if (n == 0) return;
    const std::int64_t base = fold(0, 0, inner_);
    if (inner_ == to_.size()) {
      out_ = std::fill_n(out_, n, base);
      return;
    }
    const std::int64_t first = to_[inner_].first(base);
    if (inner_ + 1 == to_.size()) {
      std::iota(out_, out_ + n, first);
    } else {
      for (std::int64_t c = 0; c < n; ++c) out_[c] = fold(first + c, inner_ + 1, to_.size());
    }
    out_ += n;
  }

  const std::vector<Step>& from_;
  const std::vector<Step>& to_;
  const std::vector<std::size_t>& axes_;
  std::vector<std::int64_t> counters_;
  std::size_t inner_ = 0;  ///< which of `to_` the innermost dim is
  std::int64_t* out_;
};

}  // namespace

Scratch<std::int64_t> places_of(const std::vector<Step>& from, const std::vector<Step>& to,
                                const std::vector<std::size_t>& axes) {
  std::int64_t count = 1;
  for (const Step& step : from) count = step.first(count);
  Scratch<std::int64_t> places(count);
  if (from.empty()) {
    places[0] = 0;
  } else {
    Walk(from, to, axes, places.data()).go(0, 0);
  }
  return places;
}

}  // namespace varlen::dims
