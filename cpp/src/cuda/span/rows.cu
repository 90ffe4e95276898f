#include "support/move.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/span_rows.hpp"

namespace varlen::cuda {

namespace {

/// Rows by their numbers, each of them counted from its place or from 0.
struct TakeMap {
  View<const std::int64_t> rows;
  std::int64_t count;  ///< rows that there are
  bool from_place;

  [[nodiscard]] VARLEN_DEVICE NoScope scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(NoScope, std::int64_t k) const {
    const std::int64_t from = from_place ? k : 0;
    const std::int64_t row = rows[k];
    return row >= 0 && row < count - from ? row + from : -1;
  }
};

/// The rows that others were put in front of, in order.
struct Targets {
  View<const std::int64_t> rows;

  /// How many of entries [low, high) a test lets pass; those that it does come first.
  template <class Test>
  [[nodiscard]] VARLEN_DEVICE std::int64_t count_if(std::int64_t low, std::int64_t high, Test test) const {
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (test(rows[middle], middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  /// How many were put in up to and with row `row` of all rows.
  [[nodiscard]] VARLEN_DEVICE std::int64_t up_to(std::int64_t row, const Candidates& candidates) const {
    return count_if(candidates.first, candidates.last,
                    [row](std::int64_t targets, std::int64_t k) { return targets <= row - k; });
  }
  /// How many were put in before row `row` of those that were there.
  [[nodiscard]] VARLEN_DEVICE std::int64_t ahead_of(std::int64_t row, const Candidates& candidates) const {
    return count_if(candidates.first, candidates.last,
                    [row](std::int64_t targets, std::int64_t) { return targets <= row; });
  }
};

struct InsertMap {
  Targets targets;
  const std::byte* values;
  const std::byte* new_rows;
  std::int64_t count;  ///< rows of values
  std::int64_t width;

  [[nodiscard]] VARLEN_DEVICE Candidates scope(std::int64_t first, std::int64_t last) const {
    const std::int64_t low = targets.up_to(first, {0, targets.rows.count});
    return {low, targets.up_to(last, {low, targets.rows.count})};
  }
  [[nodiscard]] VARLEN_DEVICE const std::byte* source(const Candidates& candidates, std::int64_t row) const {
    const std::int64_t k = targets.up_to(row, candidates);
    if (k > 0 && targets.rows[k - 1] == row - (k - 1)) {
      return new_rows != nullptr ? new_rows + (k - 1) * width : nullptr;
    }
    const std::int64_t from = row - k;
    return from >= 0 && from < count ? values + from * width : nullptr;
  }
};

/// The rows that were there before others were put in.
struct RestMap {
  Targets targets;
  std::int64_t count;

  [[nodiscard]] VARLEN_DEVICE Candidates scope(std::int64_t first, std::int64_t last) const {
    const std::int64_t low = targets.ahead_of(first, {0, targets.rows.count});
    return {low, targets.ahead_of(last, {low, targets.rows.count})};
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Candidates& candidates, std::int64_t row) const {
    const std::int64_t from = row + targets.ahead_of(row, candidates);
    return from < count ? from : -1;
  }
};

}  // namespace

Error take_rows(Stream stream, Rows values, const std::int64_t* rows, std::int64_t n,
                std::byte* out) noexcept {
  return move_rows(stream, TakeMap{{rows, n}, values.count, false}, values, n, {}, out);
}

Error insert_rows(Stream stream, Rows values, const std::int64_t* targets, std::int64_t n,
                  const std::byte* new_rows, std::byte* out) noexcept {
  const InsertMap map{{{targets, n}}, values.data, new_rows, values.count, values.width};
  const auto bits =
      reinterpret_cast<std::uintptr_t>(values.data) | reinterpret_cast<std::uintptr_t>(new_rows);
  return collect_rows(stream, map, values.width, bits, values.count + n, out);
}

Error remove_rows(Stream stream, Rows all, const std::int64_t* targets, std::int64_t n, std::byte* rest,
                  std::byte* removals) noexcept {
  const Error error = move_rows(stream, RestMap{{{targets, n}}, all.count}, all, all.count - n, {}, rest);
  return error != 0 ? error : move_rows(stream, TakeMap{{targets, n}, all.count, true}, all, n, {}, removals);
}

}  // namespace varlen::cuda
