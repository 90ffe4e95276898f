// Sums, products and quotients of reduced words.
//
// A word is a list of runs, each so many times one term: a number, or a base in front of a tail. Terms are
// the free generators of a group, so that a word is reduced by putting neighbours together. (x + y) * z is x
// * z + y * z, a number in front of a word repeats it, and base * tail is no further to be broken up: that is
// all there is to the reduced form, and words that have other forms differ for some lengths.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "table.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::dims {
namespace {

using Runs = std::vector<Run>;

/// How many terms a word has when it is written out.
std::int64_t letters_of(const Runs& runs) {
  std::int64_t sum = 0;
  for (const Run& run : runs) {
    if (run.times == INT64_MIN || !checked_add(sum, std::abs(run.times), sum)) refuse_overflow("a factor");
  }
  return sum;
}

Runs reverse(const Runs& runs) {
  Runs out(runs.rbegin(), runs.rend());
  for (Run& run : out) {
    if (!checked_mul(run.times, -1, run.times)) refuse_overflow("a factor");
  }
  return out;
}

/// front + core - front: the core begins with nothing that it takes off at its end.
struct Conjugate {
  Runs front;
  Runs core;
};

Conjugate conjugate_of(const Run* runs, std::int64_t count) {
  Conjugate out;
  std::int64_t i = 0;
  std::int64_t j = count - 1;
  Runs core(runs, runs + count);
  const auto run_at = [&](std::int64_t k) -> Run& { return core[static_cast<std::size_t>(k)]; };
  while (i < j && run_at(i).like(run_at(j)) && (run_at(i).times < 0) != (run_at(j).times < 0)) {
    const std::int64_t sign = run_at(i).times < 0 ? -1 : 1;
    const std::int64_t off = std::min(std::abs(run_at(i).times), std::abs(run_at(j).times));
    out.front.push_back({run_at(i).base, run_at(i).tail, sign * off});
    run_at(i).times -= sign * off;
    run_at(j).times += sign * off;
    const bool is_over = run_at(i).times != 0 || run_at(j).times != 0;
    if (run_at(i).times == 0) ++i;
    if (run_at(j).times == 0) --j;
    if (is_over) break;
  }
  out.core.assign(core.begin() + i, core.begin() + j + 1);
  return out;
}

/// The first `letters` terms.
Runs front_of(const Runs& runs, std::int64_t letters) {
  Runs out;
  for (const Run& run : runs) {
    if (letters == 0) break;
    const std::int64_t take = std::min(letters, std::abs(run.times));
    out.push_back({run.base, run.tail, run.times < 0 ? -take : take});
    letters -= take;
  }
  return out;
}

void push_all(Word& word, const Runs& runs) {
  for (const Run& run : runs) word.push(run);
}

/// n times a word; nothing where it is too long to be written out.
std::optional<Runs> multiple_of(const Run* runs, std::int64_t count, std::int64_t n) {
  Conjugate parts = conjugate_of(runs, count);
  if (n < 0) {
    if (!checked_mul(n, -1, n)) refuse_overflow("a factor");
    parts.core = reverse(parts.core);
  }
  Word word;
  push_all(word, parts.front);
  if (parts.core.size() == 1) {
    Run run = parts.core[0];
    if (!checked_mul(run.times, n, run.times)) refuse_overflow("a factor");
    word.push(run);
  } else {
    for (std::int64_t k = 0; k < n && !word.is_long(); ++k) push_all(word, parts.core);
  }
  push_all(word, reverse(parts.front));
  if (word.is_long()) return std::nullopt;
  return word.runs();
}

}  // namespace

Base* lone_base(const Node* x) noexcept {
  if (x->count != 1) return nullptr;
  const Run& run = x->runs()[0];
  const bool is_lone = run.base != nullptr && run.times == 1 && run.tail->count == 1 &&
                       run.tail->runs()[0].base == nullptr && run.tail->runs()[0].times == 1;
  return is_lone ? run.base : nullptr;
}

bool is_integer(const Node* x, std::int64_t& n) noexcept {
  if (x->count > 1 || (x->count == 1 && x->runs()[0].base != nullptr)) return false;
  n = x->count == 0 ? 0 : x->runs()[0].times;
  return true;
}

Node* Session::sum(Node* x, Node* y) {
  if (x->count == 0) return y;
  if (y->count == 0) return x;
  Word word;
  word.append(x);
  word.append(y);
  return word.is_long() ? opaque(Base::Sort::sum, x, y) : intern(word.runs());
}

Node* Session::negative(Node* x) {
  return multiple(x, -1);
}

Node* Session::multiple(Node* x, std::int64_t n) {
  if (n == 1 || x->count == 0) return x;
  if (n == 0) return zero();
  if (x->count == 1) {
    Run run = x->runs()[0];
    if (!checked_mul(run.times, n, run.times)) refuse_overflow("a factor");
    return intern(&run, 1);
  }
  const std::optional<Runs> runs = multiple_of(x->runs(), x->count, n);
  return runs ? intern(*runs) : opaque(Base::Sort::multiple, x, one(), n);
}

Node* Session::product(Node* x, Node* y) {
  if (x->facts.height < 4) return product(x, y, nullptr);
  Memo memo;  // parts that occur often are worked out once
  return product(x, y, &memo);
}

Node* Session::product(Node* x, Node* y, Memo* memo) {
  if (x->count == 0 || y->count == 0) return zero();
  if (y == one()) return x;
  if (x == one()) return y;
  std::int64_t n = 0;
  if (is_integer(x, n)) return multiple(y, n);
  if (memo != nullptr) {
    if (const auto hit = memo->find(x); hit != memo->end()) return hit->second;
  }
  Word word;
  for (const Run& run : *x) {
    if (run.base != nullptr) {
      word.push({run.base, product(run.tail, y, memo), run.times});
    } else {
      word.append(multiple(y, run.times));
    }
  }
  Node* result = word.is_long() ? opaque(Base::Sort::product, x, y) : intern(word.runs());
  if (memo != nullptr) memo->emplace(x, result);
  return result;
}

/// n where the runs are n times y; 0 where they are no multiple of it.
std::int64_t Session::power_of(const Runs& runs, Node* y) {
  const Conjugate total = conjugate_of(runs.data(), std::ssize(runs));
  const Conjugate part = conjugate_of(y->runs(), y->count);
  const std::int64_t letters = letters_of(total.core);
  const std::int64_t part_size = letters_of(part.core);
  if (part_size == 0 || letters % part_size != 0) return 0;
  for (const std::int64_t n : {letters / part_size, -(letters / part_size)}) {
    if (part.core.size() > 1 && n > 2 * kMostRuns) continue;
    if (multiple_of(y->runs(), y->count, n) == runs) return n;
  }
  return 0;
}

Node* Session::without_right(Node* x, Node* y) {
  Memo memo;
  return without_right(x, y, memo);
}

/// In z * y each base of z has its tail times y behind it, deeper than anything in y: such runs show where
/// numbers of z stood, which repeat y.
Node* Session::without_right(Node* x, Node* y, Memo& memo) {
  if (y == one() || x->count == 0) return x;
  if (x == y) return one();
  if (const auto hit = memo.find(x); hit != memo.end()) return hit->second;
  Word word;
  Runs middle;
  bool is_whole = true;
  const auto close = [&] {
    if (middle.empty()) return;
    const std::int64_t n = power_of(middle, y);
    is_whole = is_whole && n != 0;
    word.push({nullptr, nullptr, n});
    middle.clear();
  };
  for (const Run& run : *x) {
    Node* tail = run.base == nullptr ? nullptr : without_right(run.tail, y, memo);
    if (tail == nullptr) {
      middle.push_back(run);
    } else {
      close();
      word.push({run.base, tail, run.times});
    }
  }
  close();
  Node* node = is_whole ? intern(word.runs()) : nullptr;
  if (node != nullptr && product(node, y) != x) node = nullptr;
  memo.emplace(x, node);
  return node;
}

/// The word of which x is n times as much, or null. There is one at most.
Node* Session::root(Node* x, std::int64_t n) {
  if (n < 0) {
    x = negative(x);
    if (!checked_mul(n, -1, n)) return nullptr;
  }
  const Conjugate parts = conjugate_of(x->runs(), x->count);
  const std::int64_t letters = letters_of(parts.core);
  if (letters % n != 0) return nullptr;
  Word word;
  push_all(word, parts.front);
  push_all(word, front_of(parts.core, letters / n));
  push_all(word, reverse(parts.front));
  if (word.is_long()) return nullptr;
  Node* node = intern(word.runs());
  if (node->count > 1 && letters / n > 0 && n > 2 * kMostRuns) return nullptr;
  return multiple(node, n) == x ? node : nullptr;
}

Node* Session::without_left(Node* x, Node* y) {
  return without_left(x, y, 0);
}

/// In y * z a base of y has its tail times z behind it, as often as in y: that shows z.
Node* Session::without_left(Node* x, Node* y, int depth) {
  if (y == one() || x->count == 0) return x;
  if (x == y) return one();
  std::int64_t n = 0;
  if (is_integer(y, n)) return root(x, n);
  const Run* first = std::find_if(y->begin(), y->end(), [](const Run& run) { return run.base != nullptr; });
  const bool is_first = first == y->begin();
  const bool is_last = first + 1 == y->end();
  for (const Run& run : *x) {
    if (is_first && &run != x->begin()) break;
    if (is_last && &run + 1 != x->end()) continue;
    if (run.base != first->base || run.times != first->times) continue;
    Node* z = without_left(run.tail, first->tail, depth + 1);
    if (z != nullptr && product(y, z) == x) return z;
  }
  return nullptr;
}

Node* Session::divide(Division how, Node* x, Node* y) {
  if (y->count == 0) throw Error(Fault::value, "divisor", "expected more than 0 positions, got 0");
  const bool is_right = how == Division::floor_right || how == Division::ceil_right;
  const bool is_ceil = how == Division::ceil_right || how == Division::ceil_left;
  std::int64_t n = 0;
  std::int64_t m = 0;
  const bool is_number = is_integer(y, m);
  if (is_number && m < 0) {
    throw Error(Fault::value, "divisor", "expected at least 1, got " + std::to_string(m));
  }
  if (Node* exact = is_right ? without_right(x, y) : without_left(x, y); exact != nullptr) return exact;
  if (is_number && is_integer(x, n)) {
    const std::int64_t total = std::max<std::int64_t>(n, 0);
    return integer(total / m + (is_ceil && total % m != 0 ? 1 : 0));
  }
  const Base* base = lone_base(x);
  if (base != nullptr && base->sort == Base::Sort::quotient && base->how == how) {
    return divide(how, base->of, is_right ? product(y, base->by) : product(base->by, y));
  }
  return opaque(Base::Sort::quotient, x, y, 0, how);
}

/// From here on x is known to be this.
void Session::settle(Node* x, Node* result) {
  if (result != x) keep(result);
  Node* previous = x->canon.exchange(result, std::memory_order_relaxed);
  if (previous != x) drop(previous);
  x->epoch.store(now(), std::memory_order_release);
}

Node* Session::canonical(Base* base) {
  Node* own = lone(base);
  if (own->epoch.load(std::memory_order_acquire) == now()) return own->canon.load(std::memory_order_relaxed);
  Node* result = own;
  if (base->alias != nullptr) {
    result = canonical(base->alias);
  } else if (base->sort != Base::Sort::name) {
    Node* left = canonical(base->of);
    Node* right = canonical(base->by);
    if (left != base->of || right != base->by) {
      result = base->sort == Base::Sort::quotient  ? divide(base->how, left, right)
               : base->sort == Base::Sort::sum     ? sum(left, right)
               : base->sort == Base::Sort::product ? product(left, right)
                                                   : multiple(left, base->times);
    }
  }
  // What was built just now may itself have been declared the same as something.
  if (result != own) result = canonical(result);
  settle(own, result);
  return result;
}

Node* Session::canonical(Node* x) {
  if (x->epoch.load(std::memory_order_acquire) == now()) return x->canon.load(std::memory_order_relaxed);
  if (Base* base = lone_base(x); base != nullptr) return canonical(base);
  Node* result = zero();
  bool is_same = true;
  for (const Run& run : *x) {
    if (run.base == nullptr) continue;
    Node* base = canonical(run.base);
    is_same = is_same && lone_base(base) == run.base && canonical(run.tail) == run.tail;
  }
  if (is_same) {
    result = x;
  } else {
    for (const Run& run : *x) {
      Node* term = run.base == nullptr ? one() : product(canonical(run.base), canonical(run.tail));
      result = sum(result, multiple(term, run.times));
    }
    if (result != x) result = canonical(result);
  }
  settle(x, result);
  return result;
}

}  // namespace varlen::dims
