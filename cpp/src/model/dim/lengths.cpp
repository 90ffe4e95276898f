// Numbers of dims: what names are bound to, and what follows for the rest.
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "positions.hpp"
#include "table.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen {

using dims::Base;
using dims::Node;
using dims::Run;
using dims::Session;

namespace {

using Numbers = std::vector<std::int64_t>;

std::size_t z(std::int64_t n) {
  return static_cast<std::size_t>(n);
}

const std::int64_t* numbers_of(const DimValues& values, Level& keep) {
  if (values.lengths == nullptr) return values.numbers.data();
  keep = values.lengths->level();
  return keep.lengths();
}

std::int64_t count_of(const DimValues& values) {
  return values.lengths == nullptr ? std::ssize(values.numbers) : values.lengths->count();
}

/// The positions of the dims that lengths are over.
ShapeRef over_shape(const std::vector<Dim>& over) {
  std::vector<Axis> axes;
  axes.reserve(over.size());
  for (const Dim& dim : over) axes.push_back({dim});
  return Shape::of(axes, "over");
}

bool is_rectangle(const Shape& shape) {
  return shape.ragged() == 0;
}

std::vector<std::int64_t> extents_of(const Shape& shape) {
  std::vector<std::int64_t> extents;
  extents.reserve(shape.rank());
  for (std::size_t k = 0; k < shape.rank(); ++k) extents.push_back(shape.extent(k));
  return extents;
}

/// Where in `to`, which has some of the dims of `from`, each position is. Nothing where they are the same.
std::optional<Scratch<std::int64_t>> places_in(const Shape& from, const Shape& to) {
  const auto is_same = [](const Axis& x, const Axis& y) { return x.dim.expression() == y.dim.expression(); };
  if (std::equal(from.axes().begin(), from.axes().end(), to.axes().begin(), to.axes().end(), is_same))
    return {};
  std::vector<std::size_t> indices;
  for (const Axis& axis : to.axes()) indices.push_back(from.find(axis));
  return dims::places_of(from.steps(), to.steps(), indices);
}

/// Numbers for each position, or one for all.
struct Value {
  bool is_one = true;
  std::int64_t one = 0;
  Numbers all;

  [[nodiscard]] std::int64_t entry(std::int64_t i) const { return is_one ? one : all[z(i)]; }
};

/// Works an expression out, for all positions at once.
class Evaluation {
 public:
  Evaluation(std::int64_t count, const std::unordered_map<const Base*, Value>& names)
      : count_(count), names_(names) {}

  const Value& of(const Node* x) {
    if (const auto hit = memo_.find(x); hit != memo_.end()) return hit->second;
    Value sum;
    for (const Run& run : *x) {
      Value term{true, run.times, {}};
      if (run.base != nullptr) {
        term = combine(term, of(run.base), checked_mul);
        term = combine(term, of(run.tail), checked_mul);
      }
      sum = combine(sum, term, checked_add);
    }
    return memo_.emplace(x, std::move(sum)).first->second;
  }

  Value of(const Base* base) {
    if (const auto name = names_.find(base); name != names_.end()) return name->second;
    if (base->sort == Base::Sort::name) {
      if (base->facts.is_static) return {true, base->facts.size, {}};
      return of(base->origin.load()->runs()->base);
    }
    if (base->sort == Base::Sort::sum) return combine(of(base->of), of(base->by), checked_add);
    if (base->sort == Base::Sort::product) return combine(of(base->of), of(base->by), checked_mul);
    if (base->sort == Base::Sort::multiple)
      return combine(of(base->of), {true, base->times, {}}, checked_mul);
    const bool is_ceil = base->how == Division::ceil_right || base->how == Division::ceil_left;
    const Value dividend = of(base->of);
    return combine(dividend, of(base->by), [&](std::int64_t a, std::int64_t b, std::int64_t& out) {
      a = std::max<std::int64_t>(a, 0);
      if (b <= 0) {
        throw Error(Fault::value, "divisor",
                    dims::in_quotes(dims::text_of(base->by)) + " has length " +
                        std::to_string(std::max<std::int64_t>(b, 0)) + " in row " + std::to_string(row_));
      }
      out = a / b + (is_ceil && a % b != 0 ? 1 : 0);
      return true;
    });
  }

 private:
  template <class Op>
  Value combine(const Value& a, const Value& b, Op op) {
    Value out;
    out.is_one = a.is_one && b.is_one;
    row_ = 0;
    if (out.is_one) {
      check(op(a.one, b.one, out.one));
      return out;
    }
    out.all.resize(z(count_));
    for (std::int64_t i = 0; i < count_; ++i) {
      row_ = i;
      check(op(a.entry(i), b.entry(i), out.all[z(i)]));
    }
    return out;
  }

  void check(bool fits) const {
    if (!fits)
      throw Error(Fault::overflow,
                  Record{{}, "the length in row " + std::to_string(row_) + " does not fit 63 bits", row_});
  }

  std::int64_t count_;
  const std::unordered_map<const Base*, Value>& names_;
  std::unordered_map<const Node*, Value> memo_;
  std::int64_t row_ = 0;
};

const Base* base_of(const Expression& name) {
  return dims::lone_base(name.element());
}

/// The binding of a name, or null.
std::shared_ptr<const Binding> binding_of(const std::shared_ptr<const Bindings>& bindings, const Base* base) {
  if (bindings == nullptr) return nullptr;
  for (const auto& binding : *bindings) {
    if (base_of(binding->name) == base) return binding;
  }
  for (const auto& binding : *bindings) {
    if (dims::lone_base(binding->name.normal_form().element()) == base) return binding;
  }
  return nullptr;
}

void check_same(const Binding& a, const Binding& b) {
  if (&a == &b || a.lengths == b.lengths) return;
  const std::string name = dims::in_quotes(a.name.text());
  const auto same_dim = [](const Dim& x, const Dim& y) { return x.expression() == y.expression(); };
  if (!std::equal(a.over.begin(), a.over.end(), b.over.begin(), b.over.end(), same_dim)) {
    throw LengthMismatch("the lengths of " + name + " are over other dims in one than in the other");
  }
  const Level x = a.lengths->level();
  const Level y = b.lengths->level();
  if (x.is(y)) return;
  if (x.count() != y.count()) {
    throw LengthMismatch("the lengths of " + name + " have " + std::to_string(x.count()) +
                         " rows in one and " + std::to_string(y.count()) + " in the other");
  }
  for (std::int64_t i = 0; i < x.count(); ++i) {
    if (x.view().length(i) == y.view().length(i)) continue;
    const std::string row = a.over.empty() ? std::string() : std::string("row ") + std::to_string(i) + " of ";
    throw LengthMismatch(row + name + " has length " + std::to_string(x.view().length(i)) + " in one and " +
                         std::to_string(y.view().length(i)) + " in the other");
  }
  for (std::size_t k = 0; k < a.over.size(); ++k) check_same_lengths(a.over[k], b.over[k]);
}

using BindingsRef = std::shared_ptr<const Bindings>;

/// Those of both. Where a name has two bindings they have to be the same, or the first is taken.
BindingsRef merge(const BindingsRef& a, const BindingsRef& b, bool is_checked = true) {
  if (a == b || b == nullptr || b->empty()) return a;
  if (a == nullptr || a->empty()) return b;
  Bindings all;
  bool is_first = true;
  auto x = a->begin();
  auto y = b->begin();
  while (x != a->end() || y != b->end()) {
    const Node* const left = x == a->end() ? nullptr : (*x)->name.element();
    const Node* const right = y == b->end() ? nullptr : (*y)->name.element();
    if (left != nullptr && left == right) {
      if (is_checked) check_same(**x, **y);
      all.push_back(*x++);
      ++y;
    } else if (right == nullptr || (left != nullptr && std::less<>{}(left, right))) {
      all.push_back(*x++);
    } else {
      all.push_back(*y++);
      is_first = false;
    }
  }
  return is_first ? a : std::make_shared<const Bindings>(std::move(all));
}

BindingsRef just(std::shared_ptr<const Binding> binding) {
  return std::make_shared<const Bindings>(Bindings{std::move(binding)});
}

/// The names in x that nothing is known of in place of their lengths.
const Base* unknown_in(const Node* x, const BindingsRef& bindings) {
  std::vector<Base*> names;
  dims::names_of(x, names);
  for (const Base* base : names) {
    if (base->facts.is_static || binding_of(bindings, base) != nullptr) continue;
    if (base->origin == nullptr || unknown_in(base->origin, bindings) != nullptr) return base;
  }
  return nullptr;
}

/// What binds an expression as a whole, whatever its names are bound to; or null.
const Binding* whole_binding(const Node* x, const BindingsRef& bindings) {
  if (bindings == nullptr) return nullptr;
  for (const auto& binding : *bindings) {
    if (binding->name.element() == x || binding->name.normal_form().element() == x) return binding.get();
  }
  return nullptr;
}

DimValues bound_values(const Binding& binding) {
  const ShapeRef positions = over_shape(binding.over);
  return {binding.over, extents_of(*positions), is_rectangle(*positions), binding.lengths, {}};
}

/// The names that numbers are needed of.
void needed_by(const Node* x, const BindingsRef& bindings, std::vector<const Base*>& bases) {
  std::vector<Base*> names;
  dims::names_of(x, names);
  for (const Base* base : names) {
    if (base->facts.is_static || std::find(bases.begin(), bases.end(), base) != bases.end()) continue;
    if (binding_of(bindings, base) != nullptr) {
      bases.push_back(base);
    } else if (base->origin != nullptr) {
      needed_by(base->origin, bindings, bases);
    }
  }
}

}  // namespace

void Expression::unite(const Expression& a, const Expression& b, const BindingsRef& lengths) {
  std::shared_ptr<const Bindings> previous;  // goes with the table unlocked
  Session session;
  Session::Knowledge knowledge{{}, lengths};
  if (lengths != nullptr) {
    for (const auto& binding : *lengths) knowledge.bound.push_back(dims::lone_base(binding->name.element()));
  }
  session.unite(a.element_, b.element_, knowledge);
  for (const Expression& side : {std::cref(a), std::cref(b)}) {
    Base* base = dims::lone_base(side.element_);
    if (base == nullptr || base->alias == nullptr || lengths == nullptr) continue;
    if (base->lengths != lengths) {
      previous = std::exchange(base->lengths, lengths);
      dims::begin_epoch();  // what was worked out of the former ones is out of date
    }
    break;
  }
}

void check_same_lengths(const Dim& a, const Dim& b) {
  if (!a.is_defined() || !b.is_defined()) return;
  if (a.expression().element() == b.expression().element() && a.bindings() == b.bindings()) return;
  const DimValues x = a.values();
  const DimValues y = b.values();
  if (x.lengths != nullptr && x.lengths == y.lengths) return;
  const auto same_dim = [](const Dim& p, const Dim& q) { return p.expression() == q.expression(); };
  const bool is_one = a.expression() == b.expression();
  const std::string pair = is_one ? dims::in_quotes(a) : dims::in_quotes(a) + " and " + dims::in_quotes(b);
  const std::string sides = is_one ? " in one and the other" : "";
  if (!std::equal(x.over.begin(), x.over.end(), y.over.begin(), y.over.end(), same_dim)) {
    throw LengthMismatch(is_one ? "the lengths of " + pair + " are over other dims in one than in the other"
                                : pair + " have lengths over other dims");
  }
  Level keep_x;
  Level keep_y;
  const std::int64_t* from = numbers_of(x, keep_x);
  const std::int64_t* to = numbers_of(y, keep_y);
  if (count_of(x) != count_of(y)) {
    throw LengthMismatch(pair + (is_one ? " has" : " have") + " lengths for " + std::to_string(count_of(x)) +
                         " and for " + std::to_string(count_of(y)) + " rows" + sides);
  }
  for (std::int64_t i = 0; i < count_of(x); ++i) {
    if (from[i] == to[i]) continue;
    if (is_one) {
      const std::string row = x.over.empty() ? "" : "row " + std::to_string(i) + " of ";
      throw LengthMismatch(row + pair + " has length " + std::to_string(from[i]) + " in one and " +
                           std::to_string(to[i]) + " in the other");
    }
    std::string text = pair;
    text.append(" have lengths ")
        .append(std::to_string(from[i]))
        .append(" and ")
        .append(std::to_string(to[i]));
    if (!x.over.empty()) text.append(" in row ").append(std::to_string(i));
    throw LengthMismatch(text);
  }
}

Dim Dim::bound(const Expression& name, std::vector<Dim> over, std::shared_ptr<const Lengths> lengths,
               const std::vector<std::int64_t>& extents) {
  for (std::size_t k = 0; k < extents.size() && k < over.size(); ++k) {
    if (!over[k].is_defined()) over[k] = scalar(over[k].expression(), extents[k]);
  }
  for (Dim& dim : over) {
    if (dim.is_defined()) continue;
    // Others may be over it, and say how many there are.
    for (const Dim& other : over) {
      if (!other.is_defined()) continue;
      for (const Dim& parent : other.values().over) {
        if (parent.expression() == dim.expression()) dim = parent;
      }
      if (dim.is_defined()) break;
    }
  }
  const ShapeRef positions = over_shape(over);
  const std::int64_t count = positions->count(positions->rank());
  if (!extents.empty() && is_rectangle(*positions) && extents_of(*positions) != extents) {
    const auto text = [](const std::vector<std::int64_t>& numbers) {
      std::string out("(");
      for (const std::int64_t n : numbers) out.append(out.size() == 1 ? "" : ", ").append(std::to_string(n));
      return out.append(1, ')');
    };
    throw LengthMismatch("lengths", "expected the shape " + text(extents_of(*positions)) +
                                        " of the dims that they are over, " + "got " + text(extents));
  }
  if (lengths->count() != count) {
    throw LengthMismatch("lengths", "expected " + std::to_string(count) + ", one for each position of " +
                                        "the dims that they are over, got " +
                                        std::to_string(lengths->count()));
  }
  const auto binding = std::make_shared<const Binding>(Binding{name, std::move(over), std::move(lengths)});
  return Dim(name, just(binding));
}

Dim Dim::scalar(const Expression& name, std::int64_t length) {
  if (length < 0) {
    const std::string text = "expected at least 0, got " + std::to_string(length);
    throw Error(Fault::value, Record{.argument = "lengths", .reason = text, .number = length});
  }
  return Dim(name, just(std::make_shared<const Binding>(Binding{
                       name, {}, std::make_shared<dims::OwnLengths>(Level::from_lengths(&length, 1))})));
}

/// Its own bindings, and for names that were declared the same as something what that was bound to then.
std::shared_ptr<const Bindings> Dim::all_bindings() const {
  const Node* element = expression_.element();
  if (expression_.normal_form().element() == element) return bindings_;
  std::vector<Base*> names;
  dims::names_of(element, names);
  std::vector<BindingsRef> rest;
  {
    const Session session;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (names[k]->lengths != nullptr) rest.push_back(names[k]->lengths);
      if (names[k]->alias != nullptr) dims::names_of(names[k]->alias, names);
    }
  }
  BindingsRef all = bindings_;
  for (const BindingsRef& lengths : rest) all = merge(all, lengths, false);
  return all;
}

Dim Dim::operator+(const Dim& other) const {
  return Dim(expression_ + other.expression_, merge(all_bindings(), other.all_bindings()));
}
Dim Dim::operator-(const Dim& other) const {
  return Dim(expression_ - other.expression_, merge(all_bindings(), other.all_bindings()));
}
Dim Dim::operator*(const Dim& other) const {
  return Dim(expression_ * other.expression_, merge(all_bindings(), other.all_bindings()));
}
Dim Dim::operator-() const {
  return Dim(-expression_, all_bindings());
}
Dim Dim::divide(Division how, const Dim& divisor) const {
  return Dim(expression_.divide(how, divisor.expression_), merge(all_bindings(), divisor.all_bindings()));
}

void Dim::declare_same_as(const Dim& other) const {
  // What was taken over by a declaration gives way to the next one.
  const auto is_given = [](const Dim& dim) {
    return dim.expression_.is_static() ||
           unknown_in(dim.expression_.normal_form().element(), dim.bindings_) == nullptr ||
           unknown_in(dim.expression_.element(), dim.bindings_) == nullptr;
  };
  const bool is_mine = is_given(*this);
  const bool is_others = is_given(other);
  if (is_mine && is_others) check_same_lengths(*this, other);
  const BindingsRef mine = all_bindings();
  const BindingsRef others = other.all_bindings();
  const bool is_mine_first = is_mine && !is_others;
  Expression::unite(expression_, other.expression_,
                    is_mine_first ? merge(mine, others, false) : merge(others, mine, false));
}

Dim Dim::part(const Expression& expression) const {
  return Dim(expression, all_bindings());
}

Dim Dim::merge_with(const Dim& other) const {
  return Dim(expression_, merge(bindings_, other.bindings_));
}

bool Dim::is_defined() const {
  if (expression_.is_static()) return true;
  const BindingsRef bindings = all_bindings();
  if (whole_binding(expression_.normal_form().element(), bindings) != nullptr) return true;
  if (unknown_in(expression_.normal_form().element(), bindings) == nullptr) return true;
  return unknown_in(expression_.element(), bindings) == nullptr;
}

DimValues Dim::values() const {
  const BindingsRef bindings = all_bindings();
  const Expression normal = expression_.normal_form();
  const Node* element = normal.element();
  if (const Binding* match = whole_binding(element, bindings); match != nullptr) return bound_values(*match);
  if (const Base* unknown = unknown_in(element, bindings); unknown != nullptr) {
    // A name that was declared the same as what has no lengths keeps its own.
    if (unknown_in(expression_.element(), bindings) != nullptr) {
      throw Error(Fault::value, dims::in_quotes(*this) + " has no lengths: bind " +
                                    dims::in_quotes(unknown->name) + " to some");
    }
    element = expression_.element();
  }
  DimValues result;
  std::vector<const Base*> names;
  needed_by(element, bindings, names);
  std::vector<std::shared_ptr<const Binding>> bases;
  for (const Base* base : names) {
    bases.push_back(binding_of(bindings, base));
    for (const Dim& dim : bases.back()->over) {
      const auto has_name = [&](const Dim& candidate) { return candidate.expression() == dim.expression(); };
      const auto entry = std::find_if(result.over.begin(), result.over.end(), has_name);
      if (entry == result.over.end()) {
        result.over.push_back(dim);
      } else {
        check_same_lengths(*entry, dim);
      }
    }
  }
  const ShapeRef positions = over_shape(result.over);
  const std::int64_t count = positions->count(positions->rank());
  std::unordered_map<const Base*, Value> numbers;
  for (std::size_t k = 0; k < names.size(); ++k) {
    const Level level = bases[k]->lengths->level();
    Value value;
    value.is_one = bases[k]->over.empty();
    if (value.is_one) {
      value.one = level.view().length(0);
    } else {
      const auto places = places_in(*positions, *over_shape(bases[k]->over));
      value.all.resize(z(count));
      for (std::int64_t i = 0; i < count; ++i) {
        value.all[z(i)] = level.view().length(places ? (*places)[z(i)] : i);
      }
    }
    numbers.emplace(names[k], std::move(value));
  }
  const Value value = Evaluation(count, numbers).of(element);
  result.extents = extents_of(*positions);
  result.is_rectangle = is_rectangle(*positions);
  result.numbers.resize(z(count));
  for (std::int64_t i = 0; i < count; ++i) {
    result.numbers[z(i)] = std::max<std::int64_t>(value.entry(i), 0);
  }
  return result;
}

}  // namespace varlen
