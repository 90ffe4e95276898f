// How the rows of a term nest: a level for each letter behind that of sequences.
#include <string>
#include <utility>

#include "varlen/model/einsum.hpp"
#include "varlen/model/error.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {

namespace {

/// The rows of the first letters in a sequence, added to a sum of such.
void add_rows(const std::vector<EinsumAxis>& letters, std::size_t first, std::int64_t sequence,
              std::int64_t& sum) {
  std::int64_t rows = 1;
  bool fits = true;
  for (std::size_t k = 0; k < first; ++k)
    fits = checked_mul(rows, letters[k].extent_at(sequence), rows) && fits;
  if (!fits || !checked_add(sum, rows, sum)) {
    throw Error(Fault::overflow, "equation",
                "the rows of " + std::to_string(first) + " letters leave 63 bits in sequence " +
                    std::to_string(sequence));
  }
}

/// Units of a level, by those of the level above.
struct Units {
  std::int64_t begin, end;

  [[nodiscard]] Units descend(const Offsets& level) const noexcept {
    return {level.start(begin), level.start(end)};
  }
};

}  // namespace

std::int64_t nested_rows(const std::vector<EinsumAxis>& letters, std::int64_t count) {
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < count; ++i) add_rows(letters, letters.size(), i, rows);
  return rows;
}

Level nested_level(const std::vector<EinsumAxis>& letters, std::int64_t count) {
  static_cast<void>(nested_rows(letters, count));
  const std::size_t outer_letter = letters.size() - 1;
  std::int64_t units = 0;
  for (std::int64_t i = 0; i < count; ++i) add_rows(letters, outer_letter, i, units);
  Buffer memory = buffer_of(units + 1, sizeof(std::int64_t));
  auto* end = memory.as<std::int64_t>();
  *end = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t unit_count = 0;
    add_rows(letters, outer_letter, i, unit_count);
    const std::int64_t length = letters[outer_letter].extent_at(i);
    for (std::int64_t unit = 0; unit < unit_count; ++unit, ++end) end[1] = end[0] + length;
  }
  return Level::trust(std::move(memory));
}

Level lengths_of_units(const std::vector<Offsets>& levels) {
  const std::int64_t count = levels.front().count;
  Buffer memory = buffer_of(count + 1, sizeof(std::int64_t));
  auto* const offsets = memory.as<std::int64_t>();
  offsets[0] = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Units units{i, i + 1};
    for (std::size_t k = 0; k + 1 < levels.size(); ++k) units = units.descend(levels[k]);
    offsets[i + 1] = offsets[i] + (units.begin < units.end ? levels.back().length(units.end - 1) : 0);
  }
  return Level::trust(std::move(memory));
}

std::optional<NestDifference> nest_difference(const std::vector<Offsets>& levels,
                                              const std::vector<EinsumAxis>& letters) {
  for (std::int64_t i = 0; i < levels.front().count; ++i) {
    Units units{i, i + 1};
    for (std::size_t k = 0; k < levels.size(); ++k) {
      const std::int64_t length = letters[k].extent_at(i);
      for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
        if (levels[k].length(unit) != length) return NestDifference{k, unit, i};
      }
      units = units.descend(levels[k]);
    }
  }
  return {};
}

}  // namespace varlen
