// What finds chosen rows is here as well: a unit of its own would add 10 kB to a module for all GPUs.
#include "support/number.hpp"
#include "support/selection.hpp"
#include "support/write_each.hpp"
#include "varlen/cuda/erase.hpp"
#include "varlen/cuda/span_rows.hpp"

namespace varlen::cuda {

namespace {

/// Which rows equal no token, as a byte.
struct Stays {
  AnyNumber<std::int64_t> values;
  AnyNumber<std::int64_t> tokens;

  [[nodiscard]] VARLEN_DEVICE NoScope scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::uint8_t value(NoScope, std::int64_t row) const {
    const auto value = static_cast<std::uint64_t>(values(row));
    std::int64_t low = 0;
    std::int64_t high = tokens.count;
    VARLEN_ROLLED while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      const auto token = static_cast<std::uint64_t>(tokens(middle));
      if (token == value) return 0;
      if (token < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return 1;
  }
};

struct Counts {
  Selection selection;

  [[nodiscard]] VARLEN_DEVICE NoScope scope(std::int64_t, std::int64_t) const { return {}; }
  [[nodiscard]] VARLEN_DEVICE std::int64_t value(NoScope, std::int64_t i) const {
    const std::int64_t end = selection.level.end(i);
    return end > selection.level.start(i) ? selection.numbers[end - 1] : 0;
  }
};

struct RowsOf : InSequences {  // of the result
  Selection selection;

  [[nodiscard]] VARLEN_DEVICE std::int64_t value(const Candidates& candidates, std::int64_t k) const {
    const std::int64_t i = sequence(candidates, k);
    const std::int64_t number = k - level.start(i) + 1;
    std::int64_t low = selection.level.start(i);
    std::int64_t high = selection.level.end(i);
    VARLEN_ROLLED while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (selection.numbers[middle] < number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

struct Spaces : InSequences {  // of the result
  Ends sequences;
  View<const std::int64_t> rows;

  [[nodiscard]] VARLEN_DEVICE std::int64_t value(const Candidates& candidates, std::int64_t k) const {
    const std::int64_t i = sequence(candidates, k);
    return (k + 1 < level.end(i) ? rows[k + 1] : sequences.end(i)) - rows[k];
  }
};

/// The parts of a scratch: numbers, which stay, and room for marks and what scans them, then for rows.
struct Parts {
  std::int64_t numbers;
  std::int64_t marks;
  std::int64_t bytes;
};

Parts parts_of(std::int64_t total, std::int64_t longest) noexcept {
  const std::int64_t numbers = part_of(total * std::int64_t{sizeof(std::int64_t)});
  const std::int64_t marks = part_of(total);
  const std::int64_t scans = part_of(scan_scratch(number_job({}, longest, 1, nullptr), total));
  return {numbers, marks, numbers + std::max(marks + scans, numbers)};
}

}  // namespace

Error count_selection(Stream stream, const Selection& selection, std::int64_t* lengths) noexcept {
  return write_each_alone(stream, Counts{selection}, selection.level.ends.count, lengths);
}

Error rows_of_selection(Stream stream, const Selection& selection, Offsets result, std::int64_t count,
                        std::int64_t* rows) noexcept {
  return write_each_alone(stream, RowsOf{{ends_of(result)}, selection}, count, rows);
}

Error spaces_of_selection(Stream stream, const Selection& selection, Offsets result, std::int64_t count,
                          const std::int64_t* rows, std::int64_t* spaces) noexcept {
  return write_each_alone(stream, Spaces{{ends_of(result)}, selection.level, {rows, count}}, count, spaces);
}

std::int64_t erase_scratch(std::int64_t total, std::int64_t longest) noexcept {
  return parts_of(total, longest).bytes;
}

Error erase_find(Stream stream, Type type, Rows values, Offsets level, std::int64_t longest,
                 const std::byte* tokens, std::int64_t n, std::byte* scratch,
                 std::int64_t* lengths) noexcept {
  const Parts parts = parts_of(values.count, longest);
  std::byte* const marks = scratch + parts.numbers;
  const Stays stays{{type, values.data, values.count}, {type, tokens, n}};
  Error error = write_each_alone(stream, stays, values.count, reinterpret_cast<std::uint8_t*>(marks));
  if (error != 0) return error;
  error = scan(stream, number_job(level, longest, 1, marks), values.count, marks + parts.marks, scratch);
  if (error != 0) return error;
  const auto* const numbers = reinterpret_cast<const std::int64_t*>(scratch);
  return count_selection(stream, selection_of(level, numbers, values.count), lengths);
}

Error erase_take(Stream stream, Rows values, Offsets level, std::byte* scratch, Offsets left,
                 std::int64_t rows_kept, std::byte* out) noexcept {
  const Selection selection =
      selection_of(level, reinterpret_cast<const std::int64_t*>(scratch), values.count);
  auto* const rows = reinterpret_cast<std::int64_t*>(scratch) + part_of(values.count * 8) / 8;
  const Error error = rows_of_selection(stream, selection, left, rows_kept, rows);
  return error != 0 ? error : take_rows(stream, values, rows, rows_kept, out);
}

}  // namespace varlen::cuda
