// Einsum of two operands, or of one, over sequences that nobody pads.
//
// A term is the letters of an array, laid row-major in their order. One letter may count sequences; ragged
// letters have a length in each of them, and a term with ragged letters begins with the letter of sequences:
// its blocks, one a sequence, lie end to end. A plan says for two operands which letters are the rows,
// columns and steps of a product of matrices, and which are walked; matrices that BLAS cannot read as they
// lie are copied. The order of a sum depends on the sequence alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varlen/model/level.hpp"
#include "varlen/model/small_vector.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// An inner loop in the form of NumPy's: arguments, counts, steps in bytes, and what was registered with it.
struct Loop {
  using Run = void (*)(char** arguments, const std::intptr_t* counts, const std::intptr_t* steps, void* data);
  Run run = nullptr;
  void* data = nullptr;
};

/// What computes on elements of one dtype.
struct Arithmetic {
  Loop matmul;                     ///< (m, k), (k, n) -> (m, n)
  Loop multiply;                   ///< element by element
  std::int64_t size = 1;           ///< bytes of an element
  const std::byte* one = nullptr;  ///< the element 1
  // How many threads the library under matmul uses, read and set; null where nobody can say.
  int (*threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
};

struct EinsumAxis {
  char letter = 0;
  std::int64_t extent = 0;  ///< where it is the same for all sequences
  Offsets level;            ///< of a ragged letter; no ends for others
  bool is_ragged = false;

  [[nodiscard]] std::int64_t extent_at(std::int64_t sequence) const noexcept {
    return is_ragged ? level.length(sequence) : extent;
  }
};

// Letters behind that of sequences whose rows are one axis: how many rows there are, and how they nest.

/// The product of the extents in each of `count` sequences, added up. An Error where it leaves 63 bits.
[[nodiscard]] std::int64_t nested_rows(const std::vector<EinsumAxis>& letters, std::int64_t count);

/// The level of the last letter: a length for each row of the letters before it.
[[nodiscard]] Level nested_level(const std::vector<EinsumAxis>& letters, std::int64_t count);

/// How long the rows of the levels before the last one are in each sequence, by the last row of each; 0
/// where it has none. A level has as many sequences as the one before it has rows.
[[nodiscard]] Level lengths_of_units(const std::vector<Offsets>& levels);

struct NestDifference {
  std::size_t letter = 0;
  std::int64_t unit = 0;      ///< of the level of that letter
  std::int64_t sequence = 0;  ///< that the unit is in
};

/// The first unit of a nest, a level for each letter, that is not as long as its letter.
[[nodiscard]] std::optional<NestDifference> nest_difference(const std::vector<Offsets>& levels,
                                                            const std::vector<EinsumAxis>& letters);

/// Places of letters in a list of them.
using EinsumLetters = SmallVector<int, 8>;

class EinsumPlan {
 public:
  /// `sequence` is 0 where no letter is ragged. All letters of the terms are among `axes`, 60 at most; b is
  /// null for one operand. Letters of `out` that no operand has repeat what is there, of one operand alone.
  EinsumPlan(std::string_view a, const std::string_view* b, std::string_view out, char sequence,
             const std::vector<EinsumAxis>& axes);

  /// Elements of each array. An Error of Fault::overflow where they leave 63 bits.
  [[nodiscard]] std::int64_t size_of_a() const { return size_of(a_); }
  [[nodiscard]] std::int64_t size_of_b() const { return size_of(b_); }
  [[nodiscard]] std::int64_t size_of_out() const { return size_of(out_); }
  /// Products of two elements, in all.
  [[nodiscard]] std::int64_t work() const noexcept;
  /// How the products are made, for tests: "rows,steps@steps,columns->rows,columns", "*" behind what is
  /// copied; "multiply", "multiply and add" or "copy".
  [[nodiscard]] std::string text() const;

  /// May throw std::bad_alloc, before `out` is written whole. `out` shares no memory with a and b.
  void run(const Arithmetic& arithmetic, const std::byte* a, const std::byte* b, std::byte* out) const;

 private:
  enum class Way : std::uint8_t { gemm, multiply, multiply_and_add, copy };
  using Letters = EinsumLetters;  ///< places in letters_

  /// A letter of the plan: neighbours that are neighbours everywhere are one.
  struct Letter {
    std::string name;
    std::int64_t extent = 1;
    bool is_ragged = false;
    std::vector<std::int64_t> extents;  ///< one a sequence, of a ragged one
    [[nodiscard]] std::int64_t extent_at(std::int64_t i) const noexcept {
      return is_ragged ? extents[static_cast<std::size_t>(i)] : extent;
    }
  };

  struct Term {
    Letters letters;
    bool has_sequence = false;
    bool is_ragged = false;
    std::int64_t step = 0;            ///< elements from sequence to sequence, where it is one number
    std::vector<std::int64_t> bases;  ///< where each sequence begins, where it is not
    [[nodiscard]] std::int64_t base(std::int64_t i) const noexcept {
      return bases.empty() ? i * step : bases[static_cast<std::size_t>(i)];
    }
  };

  /// What one thread does at a time: some sequences, or a part of one.
  struct Piece {
    std::int64_t first = 0, last = 0;   ///< sequences
    std::int64_t begin = 0, end = -1;   ///< places that are walked; below 0: all
    std::int64_t top = 0, bottom = -1;  ///< rows; below 0: all
  };
  struct Views;
  struct Scratch;

  void fold_sequences();
  void fold_neighbours();
  void lay(Term& term);
  void choose();
  [[nodiscard]] bool is_direct(const Term& term, const Letters& rows, const Letters& columns) const;
  [[nodiscard]] double cost_of(const Letters& rows, const Letters& columns, const Letters& steps) const;
  [[nodiscard]] double mean(int letter) const noexcept;
  [[nodiscard]] std::int64_t size_of(const Term& term) const;
  [[nodiscard]] std::int64_t product(const Letters& letters, std::int64_t i) const noexcept;
  [[nodiscard]] std::int64_t largest_size(const Letters& letters) const noexcept;
  void strides_of(const Term& term, std::int64_t i, std::int64_t* strides) const noexcept;
  [[nodiscard]] Views views_of(std::int64_t i) const noexcept;
  [[nodiscard]] std::int64_t walks_of(std::int64_t i) const noexcept;
  [[nodiscard]] std::vector<Piece> pieces() const;
  void run_sequence(const Arithmetic& how, const Piece& piece, std::int64_t i, std::int64_t repeats,
                    const std::byte* a, const std::byte* b, std::byte* out, Scratch& scratch) const;
  void products(const Arithmetic& how, const Piece& piece, const Views& views, std::int64_t repeats,
                const std::byte* a, const std::byte* b, std::byte* out, Scratch& scratch) const;
  void multiply(const Arithmetic& how, const Piece& piece, const Views& views, const Letters& order,
                const std::int64_t* to, const std::byte* a, const std::byte* b, std::byte* out) const;
  void copy(const Piece& piece, const Views& views, std::int64_t size, const std::byte* a,
            std::byte* out) const;
  [[nodiscard]] bool are_alike(std::int64_t i, std::int64_t j) const noexcept;

  std::vector<Letter> letters_;
  Term a_, b_, out_;
  int sequence_ = -1;            ///< the letter that counts sequences
  std::int64_t count_ = 1;       ///< of them
  bool copy_ = false;            ///< one operand, whose elements are moved
  bool with_ones_ = false;       ///< b is made here: ones, which add up what they meet
  bool adds_sequences_ = false;  ///< out has a block for each sequence, which are added up at last
  Way way_ = Way::gemm;
  Letters rows_, columns_, steps_, walk_letters_;
  bool copies_a_ = false, copies_b_ = false, copies_out_ = false;
};

}  // namespace varlen
