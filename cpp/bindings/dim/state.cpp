// Dims as plain tuples, for pickles and for tables in files, and back.
//
//   state    (word, bindings, name or None, match_priority)
//   word     terms: n, or (times, factor, word)
//   factor   ("name", high, low, name, kind, size or -1, vocab), ("quotient", how, word, word),
//            ("sum", word, word), ("product", word, word) or ("multiple", n, word)
//   binding  (word of the name, (Dim, ...), Level)
#include <array>
#include <unordered_map>

#include "dim/dim.hpp"
#include "support/fastcall.hpp"

namespace varlen::bindings {

namespace {

constexpr std::array<const char*, 4> kHow{"floor_right", "floor_left", "ceil_right", "ceil_left"};
constexpr std::array<const char*, 4> kSorts{"quotient", "sum", "product", "multiple"};
// Deeper words than these the table of the core does not hold either.
constexpr int kMostDepth = 1000;

[[noreturn]] void refuse_state(const char* what) {
  raise_value(std::string("a table of dims: ") + what);
}

/// Parts that occur often become one tuple, which a pickle writes once.
class ToState {
 public:
  py::tuple word(const Expression& source) {
    const Expression x = source.normal_form();
    if (const auto entry = memo_.find(x.element()); entry != memo_.end()) return entry->second;
    py::list terms;
    for (const Term& term : x.terms()) {
      if (term.factor) {
        terms.append(py::make_tuple(term.times, factor(term.factor), word(term.tail)));
      } else {
        terms.append(py::int_(term.times));
      }
    }
    py::tuple state(terms);
    memo_.emplace(x.element(), state);
    expressions_.push_back(x);
    return state;
  }

 private:
  py::tuple factor(const Expression& x) {
    if (const auto entry = factors_.find(x.element()); entry != factors_.end()) return entry->second;
    expressions_.push_back(x);
    return factors_.emplace(x.element(), encode(x)).first->second;
  }

  py::tuple encode(const Expression& x) {
    if (x.is_generator()) {
      const Generator name = x.generator();
      return py::make_tuple("name", name.id.high, name.id.low, name.name, kind_name(name.kind), name.size,
                            object_of(name.companion));
    }
    const Opaque form = x.opaque();
    const char* sort = kSorts[static_cast<std::size_t>(form.sort)];
    switch (form.sort) {
      case Opaque::Sort::quotient:
        return py::make_tuple(sort, kHow[static_cast<std::size_t>(form.how)], word(form.of), word(form.by));
      case Opaque::Sort::multiple:
        return py::make_tuple(sort, form.times, word(form.of));
      default:
        return py::make_tuple(sort, word(form.of), word(form.by));
    }
  }

  std::unordered_map<const dims::Node*, py::tuple> memo_;
  std::unordered_map<const dims::Node*, py::tuple> factors_;
  std::vector<Expression> expressions_;
};

py::tuple tuple_of(py::handle object, std::size_t minimum) {
  if (!PyTuple_CheckExact(object.ptr()) || py::len(object) < minimum) refuse_state("expected another tuple");
  return py::reinterpret_borrow<py::tuple>(object);
}

template <class Names>
std::size_t index_among(py::handle name, const Names& names) {
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (PyUnicode_Check(name.ptr()) && PyUnicode_CompareWithASCIIString(name.ptr(), names[k]) == 0) return k;
  }
  refuse_state("a word in it is not known");
}

std::uint64_t half_of(py::handle object) {
  const std::uint64_t value = PyLong_Check(object.ptr()) ? PyLong_AsUnsignedLongLong(object.ptr()) : 0;
  if (!PyLong_Check(object.ptr()) || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse_state("an id is no number of 64 bits");
  }
  return value;
}

class FromState {
 public:
  Expression word(py::handle state, int depth = 0) {
    if (depth > kMostDepth) refuse_state("an expression is nested too deep");
    if (const auto entry = memo_.find(state.ptr()); entry != memo_.end()) return entry->second;
    Expression sum = Expression::integer(0);
    for (const py::handle term : tuple_of(state, 0)) {
      if (!PyTuple_CheckExact(term.ptr())) {
        sum = sum + Expression::integer(int_of(term.ptr(), "dims"));
        continue;
      }
      const py::tuple parts = tuple_of(term, 3);
      const Expression times = Expression::integer(int_of(parts[0].ptr(), "dims"));
      sum = sum + times * (factor(parts[1], depth + 1) * word(parts[2], depth + 1));
    }
    memo_.emplace(state.ptr(), sum);
    return sum;
  }

 private:
  Expression factor(py::handle state, int depth) {
    const py::tuple parts = tuple_of(state, 1);
    if (PyUnicode_Check(parts[0].ptr()) && PyUnicode_CompareWithASCIIString(parts[0].ptr(), "name") == 0) {
      (void)tuple_of(state, 7);
      if (!PyUnicode_Check(parts[3].ptr())) refuse_state("a name is no string");
      const DimId id{half_of(parts[1]), half_of(parts[2])};
      if (id == DimId{}) refuse_state("an id is 0");
      const DimKind kind = kind_of(parts[4]);
      if (kind == DimKind::batch) return Expression::batch();
      return Expression::generator({py::cast<std::string>(parts[3]), kind, int_of(parts[5].ptr(), "dims"), id,
                                    companion_of(py::object(parts[6]))});
    }
    const auto sort = static_cast<Opaque::Sort>(index_among(parts[0], kSorts));
    (void)tuple_of(state, sort == Opaque::Sort::quotient ? 4 : 3);
    switch (sort) {
      case Opaque::Sort::quotient: {
        const auto how = static_cast<Division>(index_among(parts[1], kHow));
        return word(parts[2], depth + 1).divide(how, word(parts[3], depth + 1));
      }
      case Opaque::Sort::sum:
        return word(parts[1], depth + 1) + word(parts[2], depth + 1);
      case Opaque::Sort::product:
        return word(parts[1], depth + 1) * word(parts[2], depth + 1);
      default:
        return Expression::integer(int_of(parts[1].ptr(), "dims")) * word(parts[2], depth + 1);
    }
  }

  std::unordered_map<PyObject*, Expression> memo_;
};

}  // namespace

py::tuple state_of(DimObject& self) {
  ToState to;
  py::list bindings;
  const auto entry = self.dim.part(self.dim.expression()).bindings();
  if (entry != nullptr) {
    for (const auto& binding : *entry) {
      py::list domain;
      for (const varlen::Dim& dim : binding->over) domain.append(new_dim(dim));
      const auto* source = dynamic_cast<const LengthsOfLevel*>(binding->lengths.get());
      const LevelRef level = source != nullptr ? source->object() : LevelRef(binding->lengths->level());
      bindings.append(py::make_tuple(to.word(binding->name), py::tuple(domain), level));
    }
  }
  py::object name = self.name ? self.name : py::object(py::none());
  return py::make_tuple(to.word(self.dim.expression()), py::tuple(bindings), name, self.match_priority);
}

py::object restore_dim(const py::tuple& state) {
  (void)tuple_of(state, 4);
  FromState from;
  const Expression expression = from.word(state[0]);
  varlen::Dim dim(expression);
  for (const py::handle item : tuple_of(state[1], 0)) {
    const py::tuple parts = tuple_of(item, 3);
    const Expression name = from.word(parts[0]);
    if (!name.is_generator()) continue;  // declared the same as something since
    std::vector<varlen::Dim> domain;
    for (const py::handle other : tuple_of(parts[1], 0)) domain.push_back(dim_of(other, "over").dim);
    LevelRef::expect(parts[2], "lengths");
    auto lengths = std::make_shared<LengthsOfLevel>(py::reinterpret_borrow<LevelRef>(parts[2]));
    dim = dim.merge_with(varlen::Dim::bound(name, std::move(domain), std::move(lengths)));
  }
  py::object name = state[2];
  if (!name.is_none() && !PyUnicode_Check(name.ptr())) refuse_state("a name is no string");
  if (name.is_none()) name = py::object();
  return new_dim(std::move(dim), std::move(name), int_of(state[3].ptr(), "match_priority"));
}

}  // namespace varlen::bindings
