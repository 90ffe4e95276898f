// What is asked of one expression.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "table.hpp"

namespace varlen {

using dims::Base;
using dims::Node;
using dims::Run;
using dims::Session;

Expression::Expression(Node* element) noexcept : element_(element) {
  element->refs.fetch_add(1, std::memory_order_relaxed);
}

Expression::Expression(const Expression& other) noexcept : element_(other.element_) {
  if (element_ != nullptr) element_->refs.fetch_add(1, std::memory_order_relaxed);
}

// Want of memory ends the process.
Expression::~Expression() {  // NOLINT(bugprone-exception-escape)
  if (element_ == nullptr) return;
  std::int64_t refs = element_->refs.load(std::memory_order_relaxed);
  while (refs > 1) {
    if (element_->refs.compare_exchange_weak(refs, refs - 1, std::memory_order_release)) return;
  }
  Session session;
  session.drop(element_);
}

// A session ends after what it returns is held.

Expression Expression::integer(std::int64_t n) {
  Session session;
  return Expression(session.integer(n));
}

Expression Expression::generator(const Generator& what) {
  Session session;
  return Expression(session.canonical(session.lone(session.name(what))));
}

const Expression& Expression::batch() {
  static const auto* const batch = new Expression(generator({.name = "batch", .kind = DimKind::batch}));
  return *batch;
}

Expression Expression::operator+(const Expression& other) const {
  Session session;
  return Expression(
      session.canonical(session.sum(session.canonical(element_), session.canonical(other.element_))));
}

Expression Expression::operator-(const Expression& other) const {
  Session session;
  Node* negation = session.negative(session.canonical(other.element_));
  return Expression(session.canonical(session.sum(session.canonical(element_), negation)));
}

Expression Expression::operator*(const Expression& other) const {
  Session session;
  Node* product = session.product(session.canonical(element_), session.canonical(other.element_));
  return Expression(session.canonical(product));
}

Expression Expression::operator-() const {
  Session session;
  return Expression(session.canonical(session.negative(session.canonical(element_))));
}

Expression Expression::divide(Division how, const Expression& divisor) const {
  Session session;
  Node* quotient = session.divide(how, session.canonical(element_), session.canonical(divisor.element_));
  return Expression(session.canonical(quotient));
}

// Want of memory ends the process.
bool Expression::operator==(  // NOLINT(bugprone-exception-escape)
    const Expression& other) const noexcept {
  if (element_ == other.element_) return true;
  if (element_ == nullptr || other.element_ == nullptr) return false;
  const std::uint64_t epoch = dims::now();
  const auto is_settled = [&](const Node* x) { return x->epoch.load(std::memory_order_acquire) == epoch; };
  if (is_settled(element_) && is_settled(other.element_)) {
    return element_->canon.load(std::memory_order_relaxed) ==
           other.element_->canon.load(std::memory_order_relaxed);
  }
  Session session;
  return session.canonical(element_) == session.canonical(other.element_);
}

std::int64_t Expression::hash() const {
  if (const std::int64_t memo_key = element_->key.load(std::memory_order_relaxed); memo_key != 0)
    return memo_key;
  Session session;
  const std::int64_t key = session.key_of(session.canonical(element_));
  element_->key.store(key, std::memory_order_relaxed);
  return key;
}

std::int64_t Expression::alive() {
  return dims::count_alive();
}

std::uint64_t Expression::epoch() noexcept {
  return dims::now();
}

Expression Expression::normal_form() const {
  if (element_->epoch.load(std::memory_order_acquire) == dims::now() && element_->canon == element_)
    return *this;
  Session session;
  return Expression(session.canonical(element_));
}

bool Expression::is_static() const {
  return normal_form().element_->facts.is_static;
}

std::int64_t Expression::size() const {
  return std::max<std::int64_t>(normal_form().element_->facts.size, 0);
}

DimKind Expression::kind() const {
  const Expression x = normal_form();
  const Base* base = dims::lone_base(x.element_);
  if (base != nullptr && base->sort == Base::Sort::name) return base->kind;
  if (x.element_->facts.has_batch) return DimKind::spatial;
  return x.element_->facts.has_feature ? DimKind::feature : DimKind::spatial;
}

bool Expression::is_generator() const {
  const Expression x = normal_form();
  const Base* base = dims::lone_base(x.element_);
  return base != nullptr && base->sort == Base::Sort::name;
}

std::string Expression::text() const {
  return dims::text_of(normal_form().element_);
}

std::vector<Term> Expression::terms() const {
  const Expression x = normal_form();
  std::vector<Term> terms;
  terms.reserve(static_cast<std::size_t>(x.element_->count));
  Session session;
  for (const Run& run : *x.element_) {
    if (run.base == nullptr) {
      terms.push_back({run.times, Expression(), Expression()});
    } else {
      terms.push_back({run.times, Expression(session.lone(run.base)), Expression(run.tail)});
    }
  }
  return terms;
}

Generator Expression::generator() const {
  const Expression x = normal_form();
  const Base* base = dims::lone_base(x.element_);
  if (base == nullptr || base->sort != Base::Sort::name)
    throw Error(Fault::value, dims::in_quotes(text()) + " is no name");
  return {base->name, base->kind, base->facts.is_static ? base->facts.size : -1, base->id, base->companion};
}

Opaque Expression::opaque() const {
  const Expression x = normal_form();
  const Base* base = dims::lone_base(x.element_);
  if (base == nullptr || base->sort == Base::Sort::name)
    throw Error(Fault::value, dims::in_quotes(text()) + " is no quotient");
  const auto sort = static_cast<Opaque::Sort>(static_cast<int>(base->sort) - 1);
  return {sort, base->how, base->times, Expression(base->of), Expression(base->by)};
}

std::vector<Expression> Expression::generators() const {
  const Expression x = normal_form();
  std::vector<Base*> names;
  dims::names_of(x.element_, names);
  std::vector<Expression> result;
  result.reserve(names.size());
  Session session;
  for (Base* base : names) result.push_back(Expression(session.lone(base)));
  return result;
}

namespace dims {
namespace {

void names_of(const Node* x, std::vector<Base*>& names, std::unordered_set<const Node*>& visits) {
  if (!visits.insert(x).second) return;
  for (const Run& run : *x) {
    if (run.base == nullptr) continue;
    if (run.base->sort == Base::Sort::name) {
      if (std::find(names.begin(), names.end(), run.base) == names.end()) names.push_back(run.base);
    } else {
      names_of(run.base->of, names, visits);
      names_of(run.base->by, names, visits);
    }
    names_of(run.tail, names, visits);
  }
}

// Longer texts than this end in dots.
constexpr std::size_t kMostText = 1000;

void write(const Node* x, std::string& out);

bool is_single(const Node* x) {
  return x->count == 1 && x->runs()->times > 0 && (x->runs()->times == 1 || x->runs()->base == nullptr);
}

void write_factor(const Node* x, std::string& out) {
  const bool is_sum = !is_single(x);
  if (is_sum) out += '(';
  write(x, out);
  if (is_sum) out += ')';
}

void write_base(const Base* base, std::string& out) {
  if (base->sort == Base::Sort::name) {
    out += base->name.empty() ? "?" : base->name;
    return;
  }
  if (base->sort != Base::Sort::quotient) {
    out += '(';
    if (base->sort == Base::Sort::multiple) {
      out += std::to_string(base->times) + "*";
      write_factor(base->of, out);
    } else {
      const bool is_product = base->sort == Base::Sort::product;
      is_product ? write_factor(base->of, out) : write(base->of, out);
      out += is_product ? "*" : "+";
      write_factor(base->by, out);
    }
    out += ')';
    return;
  }
  if (base->how == Division::floor_right) {
    write_factor(base->of, out);
    out += "//";
    const Run* run = base->by->runs();
    const bool is_plain = is_single(base->by) && (run->base == nullptr || lone_base(base->by) != nullptr);
    if (!is_plain) out += '(';
    write(base->by, out);
    if (!is_plain) out += ')';
    return;
  }
  out += base->how == Division::ceil_right  ? "ceildiv_right("
         : base->how == Division::ceil_left ? "ceildiv_left("
                                            : "div_left(";
  write(base->of, out);
  out += ',';
  write(base->by, out);
  out += ')';
}

void write(const Node* x, std::string& out) {
  if (x->count == 0) out += '0';
  for (const Run& run : *x) {
    if (out.size() > kMostText) {
      out += "...";
      return;
    }
    if (&run != x->begin() && run.times > 0) out += '+';
    if (run.base == nullptr) {
      out += std::to_string(run.times);
      continue;
    }
    if (run.times == -1) out += '-';
    if (run.times != 1 && run.times != -1) out += std::to_string(run.times) + "*";
    const bool is_quotient = run.base->sort == Base::Sort::quotient && run.base->how == Division::floor_right;
    const bool is_inside = is_quotient && (run.times != 1 || lone_base(x) == nullptr);
    if (is_inside && (run.tail->count != 1 || run.tail->runs()->base != nullptr ||
                      run.tail->runs()->times != 1 || run.times != 1)) {
      out += '(';
      write_base(run.base, out);
      out += ')';
    } else {
      write_base(run.base, out);
    }
    const bool has_tail =
        run.tail->count != 1 || run.tail->runs()->base != nullptr || run.tail->runs()->times != 1;
    if (has_tail) {
      out += '*';
      write_factor(run.tail, out);
    }
  }
}

}  // namespace

void names_of(const Node* x, std::vector<Base*>& names) {
  std::unordered_set<const Node*> visits;
  names_of(x, names, visits);
}

std::string text_of(const Node* x) {
  std::string text;
  write(x, text);
  return text;
}

}  // namespace dims
}  // namespace varlen
