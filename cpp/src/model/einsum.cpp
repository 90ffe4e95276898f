#include "varlen/model/einsum.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "varlen/model/error.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {

namespace {

bool holds(const EinsumLetters& letters, int letter) {
  return std::find(letters.begin(), letters.end(), letter) != letters.end();
}

/// Where a list lies in another, its letters one behind the other; below 0: it does not.
std::ptrdiff_t place_in(const EinsumLetters& letters, const EinsumLetters& list) {
  const auto position = std::search(letters.begin(), letters.end(), list.begin(), list.end());
  return position == letters.end() && !list.empty() ? -1 : position - letters.begin();
}

std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!checked_mul(a, b, product)) throw Error(Fault::overflow, "equation", "the result leaves 63 bits");
  return product;
}

EinsumLetters remove_letter(const EinsumLetters& letters, int letter) {
  EinsumLetters rest;
  for (const int item : letters) {
    if (item != letter) rest.push_back(item);
  }
  return rest;
}

}  // namespace

EinsumPlan::EinsumPlan(std::string_view a, const std::string_view* b, std::string_view out, char sequence,
                       const std::vector<EinsumAxis>& axes) {
  if (axes.size() > 60) throw Error(Fault::value, "equation", "expected at most 60 letters");
  letters_.reserve(axes.size() + 1);
  const auto term_of = [&](std::string_view text) {
    Term term;
    for (const char letter : text) {
      const auto position =
          std::find_if(axes.begin(), axes.end(), [&](const EinsumAxis& x) { return x.letter == letter; });
      if (position == axes.end())
        throw Error(Fault::value, "equation", "nothing says how long " + std::string(1, letter) + " is");
      if (position->is_ragged) term.is_ragged = true;
      term.letters.push_back(static_cast<int>(position - axes.begin()));
    }
    return term;
  };
  for (const EinsumAxis& axis : axes) {
    Letter letter{std::string(1, axis.letter), axis.extent, axis.is_ragged, {}};
    if (axis.is_ragged) {
      letter.extents.resize(static_cast<std::size_t>(axis.level.count));
      for (std::int64_t i = 0; i < axis.level.count; ++i) {
        letter.extents[static_cast<std::size_t>(i)] = axis.level.length(i);
      }
    }
    if (sequence != 0 && axis.letter == sequence) {
      sequence_ = static_cast<int>(letters_.size());
      count_ = axis.extent;
    }
    letters_.push_back(std::move(letter));
  }
  a_ = term_of(a);
  out_ = term_of(out);
  if (b != nullptr) {
    b_ = term_of(*b);
  } else {
    for (const int letter : a_.letters) {
      if (!holds(out_.letters, letter)) b_.letters.push_back(letter);
    }
    with_ones_ = !b_.letters.empty();
    copy_ = !with_ones_;
  }
  for (const int letter : out_.letters) {
    const bool repeats = !holds(a_.letters, letter) && !holds(b_.letters, letter);
    if (repeats && (b != nullptr || with_ones_)) {
      throw Error(Fault::value, "equation",
                  "no operand has " + letters_[static_cast<std::size_t>(letter)].name);
    }
  }
  fold_sequences();
  if (with_ones_ && sequence_ >= 0) b_.letters = remove_letter(b_.letters, sequence_);
  fold_neighbours();
  for (Term* term : {&a_, &b_, &out_}) lay(*term);
  if (sequence_ >= 0 && !out_.has_sequence) {
    adds_sequences_ = true;
    out_.step = product(out_.letters, 0);
  }
  choose();
}

/// Sequences that all terms have in the same way are one long axis.
void EinsumPlan::fold_sequences() {
  const Term* first = nullptr;
  for (const Term* term : {&a_, &b_, &out_}) {
    if (first == nullptr && term->is_ragged) first = term;
  }
  const auto be_one = [&] {
    for (Letter& letter : letters_) letter.is_ragged = false;
    sequence_ = -1;
    count_ = 1;
  };
  if (sequence_ < 0 || first == nullptr) return be_one();
  std::size_t length = 0;
  for (std::size_t k = 0; k < first->letters.size(); ++k) {
    if (letters_[static_cast<std::size_t>(first->letters[k])].is_ragged) length = k + 1;
  }
  const Letters prefix(first->letters.begin(), first->letters.begin() + length);
  for (const Term* term : {&a_, &b_, &out_}) {
    const auto in_prefix = [&](int letter) { return holds(prefix, letter); };
    const std::ptrdiff_t hits = std::count_if(term->letters.begin(), term->letters.end(), in_prefix);
    if (hits != 0 && (static_cast<std::size_t>(hits) != length || place_in(term->letters, prefix) != 0)) {
      return;
    }
  }
  Letter block_letter;
  block_letter.extent = 0;
  for (std::int64_t i = 0; i < count_; ++i) {
    std::int64_t block = 1;
    for (std::size_t k = 1; k < length; ++k) {
      block = times(block, letters_[static_cast<std::size_t>(prefix[k])].extent_at(i));
    }
    if (!checked_add(block_letter.extent, block, block_letter.extent))
      times(std::numeric_limits<std::int64_t>::max(), 2);
  }
  for (const int letter : prefix) block_letter.name += letters_[static_cast<std::size_t>(letter)].name;
  const int place = static_cast<int>(letters_.size());
  letters_.push_back(std::move(block_letter));
  for (Term* term : {&a_, &b_, &out_}) {
    if (place_in(term->letters, prefix) != 0) continue;
    Letters fusion{place};
    fusion.append(term->letters.begin() + length, term->letters.end());
    term->letters = fusion;
  }
  be_one();
}

void EinsumPlan::fold_neighbours() {
  const auto share_term = [&](int x, int y) {
    for (const Term* term : {&a_, &b_, &out_}) {
      const bool has_x = holds(term->letters, x);
      const bool has_y = holds(term->letters, y);
      if ((has_x || has_y) && place_in(term->letters, {x, y}) < 0) return false;
    }
    return x != sequence_ && y != sequence_;
  };
  for (const Term* term : {&out_, &a_, &b_}) {
    for (std::size_t k = 0; k + 1 < term->letters.size();) {
      const int x = term->letters[k];
      const int y = term->letters[k + 1];
      if (!share_term(x, y)) {
        ++k;
        continue;
      }
      Letter& left = letters_[static_cast<std::size_t>(x)];
      const Letter& right = letters_[static_cast<std::size_t>(y)];
      if (!left.is_ragged && !right.is_ragged) {
        left.extent = times(left.extent, right.extent);
      } else {
        std::vector<std::int64_t> extents(static_cast<std::size_t>(count_));
        for (std::int64_t i = 0; i < count_; ++i) {
          extents[static_cast<std::size_t>(i)] = times(left.extent_at(i), right.extent_at(i));
        }
        left.extents = std::move(extents);
        left.is_ragged = true;
      }
      left.name += right.name;
      for (Term* item : {&a_, &b_, &out_}) item->letters = remove_letter(item->letters, y);
    }
  }
}

void EinsumPlan::lay(Term& term) {
  term.has_sequence = sequence_ >= 0 && holds(term.letters, sequence_);
  term.is_ragged = false;
  for (const int letter : term.letters) {
    if (letters_[static_cast<std::size_t>(letter)].is_ragged) term.is_ragged = true;
  }
  if (!term.has_sequence) return;
  const auto position = std::find(term.letters.begin(), term.letters.end(), sequence_);
  if (!term.is_ragged) {
    term.step = product(Letters(position + 1, term.letters.end()), 0);
    return;
  }
  if (position != term.letters.begin()) {
    throw Error(Fault::value, "equation", "a term with ragged letters begins with that of sequences");
  }
  const Letters block(position + 1, term.letters.end());
  term.bases.resize(static_cast<std::size_t>(count_) + 1);
  std::int64_t base = 0;
  for (std::int64_t i = 0; i < count_; ++i) {
    term.bases[static_cast<std::size_t>(i)] = base;
    std::int64_t size = 1;
    for (const int letter : block)
      size = times(size, letters_[static_cast<std::size_t>(letter)].extent_at(i));
    if (!checked_add(base, size, base)) times(std::numeric_limits<std::int64_t>::max(), 2);
  }
  term.bases[static_cast<std::size_t>(count_)] = base;
}

std::int64_t EinsumPlan::size_of(const Term& term) const {
  if (!term.bases.empty()) return term.bases.back();
  std::int64_t size = 1;
  for (const int letter : term.letters) {
    const Letter& item = letters_[static_cast<std::size_t>(letter)];
    size = times(size, letter == sequence_ ? count_ : item.extent);
  }
  return size;
}

std::int64_t EinsumPlan::product(const Letters& letters, std::int64_t i) const noexcept {
  std::int64_t result = 1;
  for (const int letter : letters) result *= letters_[static_cast<std::size_t>(letter)].extent_at(i);
  return result;
}

/// The largest product that a sequence has.
std::int64_t EinsumPlan::largest_size(const Letters& letters) const noexcept {
  std::int64_t result = 0;
  for (std::int64_t i = 0; i < count_; ++i) result = std::max(result, product(letters, i));
  return result;
}

double EinsumPlan::mean(int letter) const noexcept {
  const Letter& item = letters_[static_cast<std::size_t>(letter)];
  if (!item.is_ragged) return static_cast<double>(item.extent);
  const double sum =
      static_cast<double>(std::accumulate(item.extents.begin(), item.extents.end(), std::int64_t{0}));
  return sum / std::max(1.0, static_cast<double>(count_));
}

/// Whether BLAS reads a matrix of these rows and columns as it lies: each a run of letters, one of them the
/// last of the term. A vector may have any step.
bool EinsumPlan::is_direct(const Term& term, const Letters& rows, const Letters& columns) const {
  if (place_in(term.letters, rows) < 0 || place_in(term.letters, columns) < 0) return false;
  if (rows.empty() || columns.empty()) return true;
  return rows.back() == term.letters.back() || columns.back() == term.letters.back();
}

/// About how many nanoseconds a sequence takes; measured on a core of 100 GFLOP/s.
double EinsumPlan::cost_of(const Letters& rows, const Letters& columns, const Letters& steps) const {
  const auto product_of = [&](const Letters& letters) {
    double result = 1;
    for (const int letter : letters) result *= mean(letter);
    return result;
  };
  const double m = product_of(rows);
  const double n = product_of(columns);
  const double k = product_of(steps);
  double calls = 1;
  for (std::size_t letter = 0; letter < letters_.size(); ++letter) {
    const int item = static_cast<int>(letter);
    if (item == sequence_ || holds(rows, item) || holds(columns, item) || holds(steps, item)) continue;
    if (holds(out_.letters, item)) calls *= mean(item);
  }
  double one = 100 + m * n * k / 50 * (1 + 8 / (m + 1) + 8 / (n + 1));
  if (!is_direct(a_, rows, steps)) one += 100 + m * k;
  if (!with_ones_ && !is_direct(b_, steps, columns)) one += 100 + k * n;
  if (!is_direct(out_, rows, columns)) one += 100 + m * n;
  return calls * one;
}

void EinsumPlan::choose() {
  Letters row_letters, column_letters, steps_of_b;
  for (const int letter : out_.letters) {
    if (letter == sequence_) continue;
    const bool in_a = holds(a_.letters, letter);
    const bool in_b = holds(b_.letters, letter);
    if (in_a && !in_b) row_letters.push_back(letter);
    if (in_b && !in_a) column_letters.push_back(letter);
  }
  for (const int letter : a_.letters) {
    if (letter == sequence_ || holds(out_.letters, letter)) continue;
    if (!holds(b_.letters, letter)) {
      throw Error(Fault::value, "equation",
                  letters_[static_cast<std::size_t>(letter)].name + " is in one operand alone");
    }
    steps_.push_back(letter);
  }
  for (const int letter : b_.letters) {
    if (letter == sequence_ || holds(out_.letters, letter)) continue;
    if (!holds(a_.letters, letter)) {
      throw Error(Fault::value, "equation",
                  letters_[static_cast<std::size_t>(letter)].name + " is in one operand alone");
    }
    steps_of_b.push_back(letter);
  }
  walk_letters_ = remove_letter(out_.letters, sequence_);
  if (steps_.empty() && !with_ones_) {
    way_ = copy_ ? Way::copy : Way::multiply;
    return;
  }
  const bool adds_rows = !a_.letters.empty() && !holds(steps_, a_.letters.back());
  if (row_letters.empty() && column_letters.empty() && !with_ones_ && !walk_letters_.empty() && adds_rows) {
    way_ = Way::multiply_and_add;
    return;
  }
  way_ = Way::gemm;
  const auto choices = [&](const Letters& letters, const Term& term) {
    std::vector<Letters> lists;
    lists.reserve(letters.size() + 2);
    for (const int letter : letters) lists.push_back({letter});
    if (letters.size() != 1) lists.push_back(letters);
    if (letters.size() > 1) {
      Letters order;
      for (const int letter : term.letters) {
        if (holds(letters, letter)) order.push_back(letter);
      }
      lists.push_back(order);
    }
    return lists;
  };
  double best_cost = std::numeric_limits<double>::infinity();
  Letters best_steps;
  const std::vector<Letters> all_columns = choices(column_letters, b_);
  for (const Letters& rows : choices(row_letters, a_)) {
    for (const Letters& columns : all_columns) {
      for (const Letters* steps : {&steps_, &steps_of_b}) {
        const double cost = cost_of(rows, columns, *steps);
        if (cost >= best_cost) continue;
        best_cost = cost;
        rows_ = rows;
        columns_ = columns;
        best_steps = *steps;
      }
    }
  }
  steps_ = best_steps;
  for (const int letter : rows_) walk_letters_ = remove_letter(walk_letters_, letter);
  for (const int letter : columns_) walk_letters_ = remove_letter(walk_letters_, letter);
  copies_a_ = !is_direct(a_, rows_, steps_);
  copies_b_ = !with_ones_ && !is_direct(b_, steps_, columns_);
  copies_out_ = !is_direct(out_, rows_, columns_);
}

std::int64_t EinsumPlan::work() const noexcept {
  const Letters letters = remove_letter(out_.letters, sequence_);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count_; ++i) {
    sum += product(letters, i) * product(steps_, i);
  }
  return sum;
}

std::string EinsumPlan::text() const {
  const auto names = [&](const Letters& letters) {
    std::string text;
    for (const int letter : letters) text += letters_[static_cast<std::size_t>(letter)].name;
    return text;
  };
  if (way_ == Way::copy) return "copy";
  if (way_ == Way::multiply) return "multiply";
  if (way_ == Way::multiply_and_add) return "multiply and add";
  const auto star = [](bool copies) { return copies ? "*" : ""; };
  return names(rows_) + "," + names(steps_) + star(copies_a_) + "@" + names(steps_) + "," + names(columns_) +
         star(copies_b_) + "->" + names(rows_) + "," + names(columns_) + star(copies_out_);
}

}  // namespace varlen
