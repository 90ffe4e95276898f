// Dim, the object: the name of an axis, an exact algebra of such names, and the lengths that one may be bound
// to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varlen/model/error.hpp"
#include "varlen/model/level.hpp"

namespace varlen {

enum class DimKind : std::uint8_t { unspecified, spatial, feature, batch };
enum class Division : std::uint8_t { floor_right, floor_left, ceil_right, ceil_left };

/// 128 bits that no other generator of any process has.
struct DimId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const DimId&) const = default;
};

/// Two lengths that have to be one; the text names the row.
class LengthMismatch : public Error {
 public:
  explicit LengthMismatch(std::string reason) : Error(Fault::value, std::move(reason)) {}
  LengthMismatch(std::string_view argument, std::string reason)
      : Error(Fault::value, argument, std::move(reason)) {}
};

namespace dims {
struct Base;
struct Node;
}  // namespace dims

struct Binding;
struct Generator;
struct Term;
struct Opaque;

/// What an axis is, without its lengths: a word of labelled positions. A sum lays words end to end, a product
/// puts the right word in the place of each position of the left one, a negative takes positions off. Words
/// are reduced as far as they go and kept once, so two expressions are equal where they are the same object:
/// where their positions have the same labels whatever the lengths are.
///
///     const auto p = varlen::Expression::generator({.name = "p"});
///     const auto one = varlen::Expression::integer(1);
///     (p + one) - one == p                              // true
///     p + p == varlen::Expression::integer(2) * p       // true
///     p + one == one + p                                // false
///
/// Immutable; any thread may hold and ask it. What nobody holds is forgotten, but for expressions that were
/// declared the same as another by way of a quotient: those stay.
class Expression {
 public:
  Expression() noexcept = default;  ///< none
  Expression(const Expression& other) noexcept;
  Expression(Expression&& other) noexcept : element_(other.element_) { other.element_ = nullptr; }
  Expression& operator=(Expression other) noexcept {
    std::swap(element_, other.element_);
    return *this;
  }
  ~Expression();

  static Expression integer(std::int64_t n);
  /// A new name; one whose id is alive is that one. An Error where it is alive with another size or kind.
  static Expression generator(const Generator& what);
  /// All dims of the batch are this one.
  static const Expression& batch();

  // An Error of Fault::overflow where a factor or a static size leaves 63 bits.
  [[nodiscard]] Expression operator+(const Expression& other) const;
  [[nodiscard]] Expression operator-(const Expression& other) const;
  [[nodiscard]] Expression operator*(const Expression& other) const;
  [[nodiscard]] Expression operator-() const;
  /// Undoes a product by `divisor`; where there is none, a name of its own for the quotient.
  [[nodiscard]] Expression divide(Division how, const Expression& divisor) const;

  /// Pointers are compared, no lock is taken.
  [[nodiscard]] bool operator==(const Expression& other) const noexcept;
  /// Equal for equal expressions, and the same for ever, whatever is declared later: it says whether this is
  /// the batch, the size of a static one, and nothing of others.
  [[nodiscard]] std::int64_t hash() const;

  /// Makes two expressions equal, and with them all that is built on them or was. What has no lengths yet
  /// stands for what has some of `lengths`, and is bound as that is. An Error, and nothing changed, where no
  /// name can stand for the rest.
  static void unite(const Expression& a, const Expression& b,
                    const std::shared_ptr<const std::vector<std::shared_ptr<const Binding>>>& lengths = {});

  explicit operator bool() const noexcept { return element_ != nullptr; }
  /// The same expression as it is after all that was declared.
  [[nodiscard]] Expression normal_form() const;
  [[nodiscard]] bool is_static() const;
  /// Of a static one: at least 0.
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] DimKind kind() const;
  [[nodiscard]] bool is_generator() const;
  [[nodiscard]] bool is_batch() const { return *this == batch(); }
  /// As people write it: "2*time+1".
  [[nodiscard]] std::string text() const;

  // Of the reduced expression.
  [[nodiscard]] std::vector<Term> terms() const;
  /// Of a single term of one factor that is a name.
  [[nodiscard]] Generator generator() const;
  /// Of a single term of one factor that is none.
  [[nodiscard]] Opaque opaque() const;
  /// The names in it, each once, in the order in which they stand.
  [[nodiscard]] std::vector<Expression> generators() const;

  [[nodiscard]] const dims::Node* element() const noexcept { return element_; }
  /// How many are alive, for tests.
  static std::int64_t alive();
  /// Grows with every declaration.
  static std::uint64_t epoch() noexcept;

 private:
  friend class Dim;
  explicit Expression(dims::Node* element) noexcept;

  dims::Node* element_ = nullptr;
};

/// What a name is made of.
struct Generator {
  std::string name;
  DimKind kind = DimKind::unspecified;
  std::int64_t size = -1;  ///< below 0: not static
  DimId id = {};           ///< 0: a new one
  /// What a language's binding keeps beside it; GCC asks for the initializer.
  std::shared_ptr<void> companion = {};  // NOLINT(readability-redundant-member-init)
};

/// times * factor * tail; `factor` is no expression where the term is a number.
struct Term {
  std::int64_t times = 0;
  Expression factor;
  Expression tail;
};

/// A quotient that divides nothing out, or what would have too many terms if it were written out.
struct Opaque {
  enum class Sort : std::uint8_t { quotient, sum, product, multiple };
  Sort sort = Sort::quotient;
  Division how = Division::floor_right;
  std::int64_t times = 0;  ///< of a multiple
  Expression of;
  Expression by;
};

/// The numbers of one name: one for each position of the dims that they are over.
class Lengths {
 public:
  Lengths() = default;
  Lengths(const Lengths&) = delete;
  Lengths& operator=(const Lengths&) = delete;
  virtual ~Lengths() = default;
  [[nodiscard]] virtual std::int64_t count() const = 0;
  /// May wait for a device.
  [[nodiscard]] virtual Level level() const = 0;
};

/// Sorted by the name that is bound.
using Bindings = std::vector<std::shared_ptr<const Binding>>;

struct DimValues;

/// An expression and what its names are bound to. Equality is that of the expressions.
class Dim {
 public:
  Dim() = default;
  explicit Dim(Expression expression, std::shared_ptr<const Bindings> bindings = nullptr)
      : expression_(std::move(expression)), bindings_(std::move(bindings)) {}

  /// A name bound to lengths over these dims. An Error where there are not as many as `over` has positions.
  /// What has no lengths among `over` is bound to `extents`, where that is given.
  static Dim bound(const Expression& name, std::vector<Dim> over, std::shared_ptr<const Lengths> lengths,
                   const std::vector<std::int64_t>& extents = {});
  /// A name bound to one number.
  static Dim scalar(const Expression& name, std::int64_t length);

  [[nodiscard]] const Expression& expression() const noexcept { return expression_; }
  [[nodiscard]] const std::shared_ptr<const Bindings>& bindings() const noexcept { return bindings_; }

  // A LengthMismatch where one name is bound to two different lengths.
  [[nodiscard]] Dim operator+(const Dim& other) const;
  [[nodiscard]] Dim operator-(const Dim& other) const;
  [[nodiscard]] Dim operator*(const Dim& other) const;
  [[nodiscard]] Dim operator-() const;
  [[nodiscard]] Dim divide(Division how, const Dim& divisor) const;
  void declare_same_as(const Dim& other) const;

  [[nodiscard]] bool is_defined() const;
  /// The lengths: worked out in the reduced expression, and cut off at 0 once, at the end. An Error names a
  /// name that has none.
  [[nodiscard]] DimValues values() const;
  /// A part of it, with what is known here.
  [[nodiscard]] Dim part(const Expression& expression) const;
  /// The same expression, where the names of `other` are bound as they are there.
  [[nodiscard]] Dim merge_with(const Dim& other) const;

 private:
  [[nodiscard]] std::shared_ptr<const Bindings> all_bindings() const;

  Expression expression_;
  std::shared_ptr<const Bindings> bindings_;
};

struct Binding {
  Expression name;
  std::vector<Dim> over;
  std::shared_ptr<const Lengths> lengths;
};

struct DimValues {
  std::vector<Dim> over;
  std::vector<std::int64_t> extents;       ///< of `over`, where they are a rectangle
  bool is_rectangle = true;                ///< else one number after the other
  std::shared_ptr<const Lengths> lengths;  ///< those that a name was bound to, or null
  std::vector<std::int64_t> numbers;       ///< where `lengths` is null
};

/// LengthMismatch where two dims that are over the same have other lengths; what has none fits all.
void check_same_lengths(const Dim& a, const Dim& b);

}  // namespace varlen
