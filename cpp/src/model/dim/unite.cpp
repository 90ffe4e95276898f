// Expressions that are declared the same.
//
// x = y is solved for a name that stands in it once: the name gets what it stands for, and what contains it
// is reduced again when it is next looked at. A name that is made of its own quotients, as f = f // 2 + f //
// 2 is, is solved for these: each gets a name of its own.
#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "table.hpp"

namespace varlen::dims {
namespace {

bool contains(const Node* x, const Base* base, std::unordered_set<const Node*>& visits) {
  if (!visits.insert(x).second) return false;
  for (const Run& run : *x) {
    if (run.base == nullptr) continue;
    if (run.base == base || contains(run.tail, base, visits)) return true;
    if (run.base->of != nullptr &&
        (contains(run.base->of, base, visits) || contains(run.base->by, base, visits))) {
      return true;
    }
  }
  return false;
}

bool contains_within(const Base* compound, const Base* base) {
  return compound->of != nullptr && (contains(compound->of, base) || contains(compound->by, base));
}

/// The quotients of x that base is in, outermost only; false where it stands outside of quotients too.
bool quotients_with(const Node* x, const Base* base, std::vector<Base*>& matches) {
  for (const Run& run : *x) {
    if (run.base == nullptr) continue;
    if (run.base == base || !quotients_with(run.tail, base, matches)) return false;
    const bool is_new = std::find(matches.begin(), matches.end(), run.base) == matches.end();
    if (is_new && contains_within(run.base, base)) matches.push_back(run.base);
  }
  return true;
}

Node* substitute(Session& session, Node* x, const std::vector<std::pair<Base*, Base*>>& others) {
  Node* result = session.zero();
  for (const Run& run : *x) {
    Node* term = session.one();
    if (run.base != nullptr) {
      Base* base = run.base;
      for (const auto& [from, to] : others) base = base == from ? to : base;
      term = session.product(session.lone(base), substitute(session, run.tail, others));
    }
    result = session.sum(result, session.multiple(term, run.times));
  }
  return result;
}

std::int64_t size_of(const Node* x) {
  return std::max<std::int64_t>(x->facts.size, 0);
}

/// Whether a name may stand for a value: sizes stay what they are.
bool takes(const Base* base, const Node* value, bool is_bound) {
  if (base->kind == DimKind::batch) return false;
  if (base->facts.is_static) return value->facts.is_static && size_of(value) == base->facts.size;
  return !is_bound || !value->facts.is_static;
}

}  // namespace

bool contains(const Node* x, const Base* base) {
  std::unordered_set<const Node*> visits;
  return contains(x, base, visits);
}

std::int64_t Session::key_of(const Node* x) const {
  const Base* base = lone_base(x);
  if (base != nullptr && base->kind == DimKind::batch) return 0x62617463;
  if (!x->facts.is_static) return 0x64796e61;
  const auto size = static_cast<std::uint64_t>(size_of(x));
  return static_cast<std::int64_t>((size + 1) * 0x9e3779b97f4a7c15U >> 2);
}

void Session::stand_for(Base* base, Node* value, const Knowledge& knowledge) {
  keep(value);
  keep(lone(base));  // a quotient is found again by what it is of, if nobody holds it now
  base->alias = value;
  base->lengths = knowledge.lengths;
  begin_epoch();
}

void Session::forget(Base* base) {
  drop(std::exchange(base->alias, nullptr));
  drop(lone(base));
  base->lengths = nullptr;  // who declares holds them
  begin_epoch();
}

/// Whether two expressions are one by now, everything that is alive can still be written, with divisors that
/// are not 0 and in 63 bits, and nothing that was ever hashed has another hash.
bool Session::holds(Node* a, Node* b) {
  try {
    if (canonical(a) != canonical(b)) return false;
    for (Node* x : all_elements()) {
      const Node* canon = canonical(x);
      const std::int64_t key = x->key.load(std::memory_order_relaxed);
      if (key != 0 && key != key_of(canon)) return false;
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

bool Session::isolate(Node* a, Node* b, const Knowledge& knowledge) {
  Node* rest = sum(canonical(a), negative(canonical(b)));
  struct Choice {
    std::array<std::uint64_t, 3> rank;
    const Run* run;
  };
  const auto is_bound = [&](const Base* base) {
    return std::find(knowledge.bound.begin(), knowledge.bound.end(), base) != knowledge.bound.end();
  };
  std::vector<Choice> choices;
  for (const Run& run : *rest) {
    const bool is_lone = run.base != nullptr && run.tail == one() && (run.times == 1 || run.times == -1);
    if (!is_lone) continue;
    const auto elsewhere = [&](const Run& other) {
      return &other != &run && other.base != nullptr &&
             (other.base == run.base || contains(other.tail, run.base) ||
              contains_within(other.base, run.base));
    };
    if (std::any_of(rest->begin(), rest->end(), elsewhere)) continue;
    const bool is_name = run.base->sort == Base::Sort::name;
    const bool is_known = run.base->facts.is_static || is_bound(run.base);
    choices.push_back({{is_name ? 0U : 1U, is_known ? 1U : 0U, ~run.base->age}, &run});
  }
  std::sort(choices.begin(), choices.end(), [](const Choice& x, const Choice& y) { return x.rank < y.rank; });
  for (const Choice& choice : choices) {
    Word prefix;
    Word suffix;
    for (const Run* run = rest->begin(); run != choice.run; ++run) prefix.push(*run);
    for (const Run* run = choice.run + 1; run != rest->end(); ++run) suffix.push(*run);
    // before + name + after is 0
    Node* value = sum(negative(intern(prefix.runs())), negative(intern(suffix.runs())));
    if (choice.run->times < 0) value = sum(intern(suffix.runs()), intern(prefix.runs()));
    if (!takes(choice.run->base, value, is_bound(choice.run->base))) continue;
    stand_for(choice.run->base, value, knowledge);
    if (holds(a, b)) {
      // A name is as good as who holds it; a quotient is found again by its parts, and so it stays.
      if (choice.run->base->sort == Base::Sort::name) drop(lone(choice.run->base));
      return true;
    }
    forget(choice.run->base);
  }
  return false;
}

bool Session::freeze(Node* a, Node* b, const Knowledge& knowledge) {
  Base* name = lone_base(canonical(a));
  Node* y = canonical(b);
  std::vector<Base*> quotients;
  if (name == nullptr || name->sort != Base::Sort::name || !quotients_with(y, name, quotients)) return false;
  std::vector<std::pair<Base*, Base*>> others;
  for (Base* quotient : quotients) {
    const DimKind kind = quotient->facts.has_feature ? DimKind::feature : DimKind::spatial;
    const std::int64_t size = quotient->facts.is_static ? quotient->facts.size : -1;
    others.emplace_back(quotient, this->name({text_of(lone(quotient)), kind, size, {}, nullptr}));
  }
  Node* value = substitute(*this, y, others);
  if (!takes(name, value, false)) return false;
  stand_for(name, value, knowledge);
  std::vector<Base*> standing{name};
  const auto parts_fit = [&] {
    try {
      for (const auto& [quotient, part] : others) {
        Base* base = lone_base(canonical(lone(quotient)));
        if (base == part) continue;
        if (base == nullptr || base->sort != Base::Sort::quotient) return false;
        stand_for(base, lone(part), knowledge);
        standing.push_back(base);
      }
      return std::all_of(others.begin(), others.end(), [&](const auto& other) {
        return canonical(lone(other.first)) == lone(other.second);
      });
    } catch (const Error&) {
      return false;
    }
  };
  if (!parts_fit() || !holds(a, b)) {
    for (Base* base : standing) forget(base);
    return false;
  }
  for (const auto& [quotient, part] : others) {
    part->origin = lone(quotient);
    keep(part->origin);
  }
  return true;
}

void Session::unite(Node* a, Node* b, const Knowledge& knowledge) {
  Node* x = canonical(a);
  Node* y = canonical(b);
  if (x == y) return;
  const std::string names = in_quotes(text_of(x)) + " and " + in_quotes(text_of(y));
  if (x->facts.is_static && y->facts.is_static && size_of(x) != size_of(y)) {
    throw LengthMismatch(names + " have sizes " + std::to_string(size_of(x)) + " and " +
                         std::to_string(size_of(y)));
  }
  if (x->count == 1 && y->count == 1 && x->runs()->base != nullptr && y->runs()->base != nullptr &&
      x->runs()->times == y->runs()->times) {
    const Run& p = *x->runs();
    const Run& q = *y->runs();
    if (p.tail == q.tail && (p.tail != one() || p.times != 1))
      return unite(lone(p.base), lone(q.base), knowledge);
    if (p.base == q.base && p.tail != one() && q.tail != one()) return unite(p.tail, q.tail, knowledge);
  }
  // A name that is made of itself is solved for its quotients, and for nothing else.
  const auto is_within = [](const Node* name, const Node* other) {
    const Base* base = lone_base(name);
    return base != nullptr && contains(other, base);
  };
  const bool is_circular = is_within(x, y) || is_within(y, x);
  if (is_circular ? freeze(x, y, knowledge) || freeze(y, x, knowledge) : isolate(x, y, knowledge)) return;
  throw Error(Fault::value,
              names +
                  " cannot be declared the same: no name in them can stand for the rest, without "
                  "standing for itself or getting another size than it has");
}

}  // namespace varlen::dims
