#include "varlen/model/bins.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace varlen {

namespace {

constexpr std::int64_t kNoRoom = -1;
constexpr std::int64_t kMarkLimit = std::int64_t{1} << 20;

std::size_t as_index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// The room of every bin, and of the next ones, which are empty, as a tree of maxima: the first with room for
/// a sequence takes as many steps as the tree has floors.
class FirstFit {
 public:
  explicit FirstFit(std::int64_t size) : size_(size), tree_(2 * kLeaves, size) {}

  std::int64_t put(std::int64_t length) {
    if (tree_[1] < length) grow();
    std::size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      node += static_cast<std::size_t>(tree_[node] < length);
    }
    const std::size_t bin = node - leaves_;
    tree_[node] -= length;
    while (node > 1) {
      node /= 2;
      const std::int64_t largest = std::max(tree_[2 * node], tree_[2 * node + 1]);
      if (tree_[node] == largest) break;
      tree_[node] = largest;
    }
    return static_cast<std::int64_t>(bin);
  }

  void clear() { std::fill(tree_.begin(), tree_.end(), size_); }

 private:
  static constexpr std::size_t kLeaves = 64;

  void grow() {
    std::vector<std::int64_t> wider(4 * leaves_, size_);
    std::copy(tree_.begin() + static_cast<std::ptrdiff_t>(leaves_), tree_.end(),
              wider.begin() + static_cast<std::ptrdiff_t>(2 * leaves_));
    leaves_ *= 2;
    for (std::size_t node = leaves_ - 1; node > 0; --node) {
      wider[node] = std::max(wider[2 * node], wider[2 * node + 1]);
    }
    tree_ = std::move(wider);
  }

  std::int64_t size_;
  std::size_t leaves_ = kLeaves;
  std::vector<std::int64_t> tree_;
};

/// Numbers of a range, and the least of them that is not below another: a bit each, a bit for each word of
/// those, and so on.
class Marks {
 public:
  explicit Marks(std::int64_t count) {
    do {
      count = (count + 63) / 64;
      floors_.emplace_back(as_index(count), 0);
    } while (count > 1);
  }

  void mark(std::int64_t number) {
    for (std::vector<std::uint64_t>& floor : floors_) {
      floor[as_index(number / 64)] |= bit(number);
      number /= 64;
    }
  }

  void unmark(std::int64_t number) {
    for (std::vector<std::uint64_t>& floor : floors_) {
      std::uint64_t& word = floor[as_index(number / 64)];
      word &= ~bit(number);
      if (word != 0) return;
      number /= 64;
    }
  }

  /// kNoRoom where there is none.
  [[nodiscard]] std::int64_t from(std::int64_t number) const {
    for (std::size_t k = 0; k < floors_.size(); ++k) {
      if (as_index(number / 64) >= floors_[k].size()) return kNoRoom;
      const std::uint64_t rest = floors_[k][as_index(number / 64)] & (~std::uint64_t{0} << (number % 64));
      if (rest != 0) {
        number = number / 64 * 64 + std::countr_zero(rest);
        while (k-- > 0) number = number * 64 + std::countr_zero(floors_[k][as_index(number)]);
        return number;
      }
      number = number / 64 + 1;
    }
    return kNoRoom;
  }

 private:
  static std::uint64_t bit(std::int64_t number) { return std::uint64_t{1} << (number % 64); }

  std::vector<std::vector<std::uint64_t>> floors_;
};

/// The bin that was filled last for every room, and which rooms there are: marked, as sizes are small.
class MarkedRooms {
 public:
  explicit MarkedRooms(std::int64_t size) : marks_(size + 1), last_(as_index(size + 1), kNoRoom) {}

  [[nodiscard]] std::int64_t least_room(std::int64_t length) const { return marks_.from(length); }

  std::int64_t& last(std::int64_t room) {
    marks_.mark(room);
    return last_[as_index(room)];
  }

  void drop(std::int64_t room) { marks_.unmark(room); }

  void clear() {
    for (std::int64_t room = least_room(0); room != kNoRoom; room = least_room(room)) {
      drop(room);
      last_[as_index(room)] = kNoRoom;
    }
  }

 private:
  Marks marks_;
  std::vector<std::int64_t> last_;
};

/// The same in a tree, for sizes of any number.
class SortedRooms {
 public:
  explicit SortedRooms(std::int64_t /*size*/) {}

  [[nodiscard]] std::int64_t least_room(std::int64_t length) const {
    const auto match = last_.lower_bound(length);
    return match == last_.end() ? kNoRoom : match->first;
  }

  std::int64_t& last(std::int64_t room) { return last_.try_emplace(room, kNoRoom).first->second; }
  void drop(std::int64_t room) { last_.erase(room); }
  void clear() { last_.clear(); }

 private:
  std::map<std::int64_t, std::int64_t> last_;
};

/// Bins by their room: those of one room are a list, the one that was filled last at its head.
template <class Rooms>
class BestFit {
 public:
  explicit BestFit(std::int64_t size) : size_(size), rooms_(size) {}

  std::int64_t put(std::int64_t length) {
    std::int64_t room = rooms_.least_room(length);
    std::int64_t bin = static_cast<std::int64_t>(previous_.size());
    if (room == kNoRoom) {
      room = size_;
      previous_.push_back(kNoRoom);
    } else {
      std::int64_t& head = rooms_.last(room);
      bin = head;
      head = previous_[as_index(bin)];
      if (head == kNoRoom) rooms_.drop(room);
    }
    std::int64_t& head = rooms_.last(room - length);
    previous_[as_index(bin)] = head;
    head = bin;
    return bin;
  }

  void clear() {
    rooms_.clear();
    previous_.clear();
  }

 private:
  std::int64_t size_;
  Rooms rooms_;
  std::vector<std::int64_t> previous_;  ///< of each bin, the one of the same room that was filled before it
};

/// The rows of a window, the longest first.
class Order {
 public:
  void arrange(const std::int64_t* lengths, std::int64_t begin, std::int64_t end) {
    rows_.resize(as_index(end - begin));
    const std::int64_t longest = *std::max_element(lengths + begin, lengths + end);
    if (longest > 4 * (end - begin) + 1024) {
      std::iota(rows_.begin(), rows_.end(), begin);
      std::stable_sort(rows_.begin(), rows_.end(),
                       [lengths](std::int64_t a, std::int64_t b) { return lengths[a] > lengths[b]; });
      return;
    }
    places_.assign(as_index(longest + 1), 0);
    for (std::int64_t i = begin; i < end; ++i) ++places_[as_index(longest - lengths[i])];
    std::exclusive_scan(places_.begin(), places_.end(), places_.begin(), std::int64_t{0});
    for (std::int64_t i = begin; i < end; ++i) rows_[as_index(places_[as_index(longest - lengths[i])]++)] = i;
  }

  [[nodiscard]] const std::vector<std::int64_t>& rows() const { return rows_; }

 private:
  std::vector<std::int64_t> rows_;
  std::vector<std::int64_t> places_;
};

template <class Way>
Bins fill(Way way, const std::int64_t* lengths, std::int64_t n, std::int64_t window) {
  Bins bins{std::vector<std::int64_t>(as_index(n)), {0}};
  std::vector<std::int64_t> bin_of;
  std::vector<std::int64_t> places;
  Order order;
  for (std::int64_t begin = 0; begin < n;) {
    const std::int64_t end = window < n - begin ? begin + window : n;
    order.arrange(lengths, begin, end);
    way.clear();
    bin_of.clear();
    places.clear();
    for (const std::int64_t row : order.rows()) {
      const std::int64_t bin = way.put(lengths[row]);
      bin_of.push_back(bin);
      if (as_index(bin) == places.size()) places.push_back(0);
      ++places[as_index(bin)];
    }
    std::int64_t cursor = begin;
    for (std::int64_t& place : places) {
      const std::int64_t count = place;
      place = cursor;
      cursor += count;
      bins.offsets.push_back(cursor);
    }
    for (std::size_t k = 0; k < bin_of.size(); ++k) {
      bins.rows[as_index(places[as_index(bin_of[k])]++)] = order.rows()[k];
    }
    begin = end;
  }
  return bins;
}

}  // namespace

Bins fill_bins(const std::int64_t* lengths, std::int64_t n, std::int64_t size, std::int64_t window, Fit fit) {
  if (fit == Fit::first) return fill(FirstFit(size), lengths, n, window);
  if (size < kMarkLimit) return fill(BestFit<MarkedRooms>(size), lengths, n, window);
  return fill(BestFit<SortedRooms>(size), lengths, n, window);
}

}  // namespace varlen
