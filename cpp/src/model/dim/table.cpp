#include "table.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <utility>

#include "varlen/support/overflow.hpp"

namespace varlen::dims {
namespace {

std::uint64_t mix(std::uint64_t x) noexcept {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93U;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93U;
  return x ^ (x >> 32);
}

std::uint64_t hash_pair(std::uint64_t a, std::uint64_t b) noexcept {
  return mix(a * 0x9e3779b97f4a7c15U + b);
}

std::uint64_t address(const void* p) noexcept {
  return mix(reinterpret_cast<std::uintptr_t>(p));
}

std::uint64_t random_token() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

struct Name {
  std::uint64_t high;
  std::uint64_t low;
  bool operator==(const Name&) const = default;
};
struct HashOfName {
  std::size_t operator()(const Name& name) const noexcept { return hash_pair(name.high, name.low); }
};

struct Compound {
  Base::Sort sort;
  Division how;
  std::int64_t times;
  Node* of;
  Node* by;
  bool operator==(const Compound&) const = default;
};
struct HashOfCompound {
  std::size_t operator()(const Compound& compound) const noexcept {
    const auto kind =
        static_cast<std::uint64_t>(compound.sort) * 8 + static_cast<std::uint64_t>(compound.how);
    return hash_pair(hash_pair(address(compound.of), address(compound.by)),
                     kind + 64 * static_cast<std::uint64_t>(compound.times));
  }
};

struct Table {
  std::mutex mutex;
  std::vector<Node*> buckets = std::vector<Node*>(1024, nullptr);
  std::int64_t count = 0;
  std::unordered_map<Name, Base*, HashOfName> names;
  std::unordered_map<Compound, Base*, HashOfCompound> compounds;
  std::vector<Node*> pending;
  std::vector<Base*> pending_bases;
  Node* zero = nullptr;
  Node* one = nullptr;
  std::uint64_t token = random_token();
  std::uint64_t age = 0;

  /// Made once and never destroyed: dims may live longer than anything else of a process.
  static Table& get() {
    static Table& table = *[] {
      auto* node = new Table;
      node->zero = node->find(nullptr, 0, mix(0));
      const Run unit{nullptr, nullptr, 1};
      node->one = node->find(&unit, 1, hash_of(&unit, 1));
      node->zero->refs = node->one->refs = 1;
#if !defined(_WIN32)
      // A child of a fork gives names that its parent does not give, and finds the table unlocked.
      pthread_atfork([] { get().mutex.lock(); }, [] { get().mutex.unlock(); },
                     [] {
                       get().token = random_token();
                       get().mutex.unlock();
                     });
#endif
      return node;
    }();
    return table;
  }

  static std::uint64_t hash_of(const Run* runs, std::int64_t count) noexcept {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t base = runs[i].base == nullptr ? 1 : runs[i].base->hash;
      const std::uint64_t tail = runs[i].tail == nullptr ? 2 : runs[i].tail->hash;
      hash = hash_pair(hash ^ static_cast<std::uint64_t>(runs[i].times), hash_pair(base, tail));
    }
    return hash;
  }

  Node*& bucket(std::uint64_t hash) noexcept {
    return buckets[hash & (buckets.size() - 1)];
  }

  /// Whether an element is known to be what it is by now.
  static bool is_settled_now(const Node* x) noexcept {
    return x == nullptr || (x->epoch.load(std::memory_order_relaxed) == now() &&
                            x->canon.load(std::memory_order_relaxed) == x);
  }

  Node* find(const Run* runs, std::int64_t n, std::uint64_t hash) {
    for (Node* e = bucket(hash); e != nullptr; e = e->next) {
      if (e->hash == hash && e->count == n && std::equal(e->begin(), e->end(), runs)) return e;
    }
    const Facts facts = facts_of(runs, n);
    const auto size = sizeof(Node) + static_cast<std::size_t>(n) * sizeof(Run);
    pending.reserve(pending.size() + 1);
    if (count >= std::ssize(buckets)) grow();
    auto* node = new (::operator new(size)) Node;
    node->hash = hash;
    node->count = static_cast<std::int32_t>(n);
    node->facts = facts;
    std::uninitialized_copy_n(runs, n, node->runs());
    bool is_settled = true;
    for (std::int64_t i = 0; i < n; ++i) {
      if (runs[i].base == nullptr) continue;
      Node* tail = runs[i].tail;
      ++runs[i].base->refs;
      tail->refs.fetch_add(1, std::memory_order_relaxed);
      is_settled = is_settled && runs[i].base->alias == nullptr && is_settled_now(tail) &&
                   is_settled_now(runs[i].base->of) && is_settled_now(runs[i].base->by);
    }
    node->canon.store(node, std::memory_order_relaxed);
    node->epoch.store(is_settled ? now() : 0, std::memory_order_release);
    node->next = std::exchange(bucket(hash), node);
    node->is_pending = true;
    pending.push_back(node);
    ++count;
    return node;
  }

  static Facts facts_of(const Run* runs, std::int64_t n) {
    Facts facts;
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t size = runs[i].times;
      if (runs[i].base != nullptr) {
        const Facts& base = runs[i].base->facts;
        const Facts& tail = runs[i].tail->facts;
        facts.is_static = facts.is_static && base.is_static && tail.is_static;
        facts.has_batch = facts.has_batch || base.has_batch || tail.has_batch;
        facts.has_feature = facts.has_feature || base.has_feature || tail.has_feature;
        facts.height = std::max(facts.height, base.height + tail.height + 1);
        if (facts.is_static && (!checked_mul(size, base.size, size) || !checked_mul(size, tail.size, size))) {
          refuse_overflow("the size");
        }
      }
      if (facts.is_static && !checked_add(facts.size, size, facts.size)) refuse_overflow("the size");
    }
    check_height(facts.height);
    return facts;
  }

  static void check_height(std::int32_t height) {
    if (height <= kMostHeight) return;
    throw Error(Fault::value, "the expression is nested more than " + std::to_string(kMostHeight) + " deep");
  }

  void grow() {
    std::vector<Node*> wider(buckets.size() * 2, nullptr);
    for (Node* e : buckets) {
      while (e != nullptr) {
        Node* next = e->next;
        e->next = std::exchange(wider[e->hash & (wider.size() - 1)], e);
        e = next;
      }
    }
    buckets.swap(wider);
  }

  void unlink(Node* element) noexcept {
    Node** link = &bucket(element->hash);
    while (*link != element) link = &(*link)->next;
    *link = element->next;
    --count;
  }
};

std::atomic<std::uint64_t> epoch{1};

std::int64_t positive(std::int64_t n) noexcept {
  return std::max<std::int64_t>(n, 0);
}

}  // namespace

std::uint64_t now() noexcept {
  return epoch.load(std::memory_order_acquire);
}

void begin_epoch() noexcept {
  epoch.fetch_add(1, std::memory_order_acq_rel);
}

std::int64_t count_alive() {
  const std::scoped_lock lock(Table::get().mutex);
  return Table::get().count;
}

std::vector<Node*> all_elements() {
  std::vector<Node*> all;
  for (Node* e : Table::get().buckets) {
    for (; e != nullptr; e = e->next) all.push_back(e);
  }
  return all;
}

void refuse_overflow(const char* what) {
  throw Error(Fault::overflow, std::string(what) + " of the expression does not fit 63 bits");
}

void Word::push(Run run) {
  if (run.times == 0 || is_long_) return;
  if (!runs_.empty() && runs_.back().like(run)) {
    std::int64_t& times = runs_.back().times;
    if (!checked_add(times, run.times, times)) refuse_overflow("a factor");
    if (times == 0) runs_.pop_back();
    return;
  }
  if (size() == kMostRuns) {
    is_long_ = true;
    return;
  }
  runs_.push_back(run);
}

Session::Session() {
  Table::get().mutex.lock();
}

// NOLINTNEXTLINE(bugprone-exception-escape): there is no way on without the memory of a few pointers
Session::~Session() {
  std::vector<std::shared_ptr<const void>> dead;
  sweep(dead);
  Table::get().mutex.unlock();
}  // what the dead held goes here, with the table unlocked: it may end in a language that asks for a dim

void Session::sweep(std::vector<std::shared_ptr<const void>>& dead) {
  Table& table = Table::get();
  while (!table.pending.empty() || !table.pending_bases.empty()) {
    if (!table.pending.empty()) {
      Node* element = table.pending.back();
      table.pending.pop_back();
      element->is_pending = false;
      if (element->refs.load(std::memory_order_acquire) > 0) continue;
      table.unlink(element);
      Node* canon = element->canon.load(std::memory_order_relaxed);
      if (canon != element) drop(canon);
      for (const Run& run : *element) {
        if (run.base == nullptr) continue;
        drop(run.base);
        drop(run.tail);
      }
      element->~Node();
      ::operator delete(element);
      continue;
    }
    Base* base = table.pending_bases.back();
    table.pending_bases.pop_back();
    base->is_pending = false;
    if (base->refs > 0) continue;
    if (base->sort == Base::Sort::name) {
      table.names.erase({base->id.high, base->id.low});
      if (base->companion) dead.push_back(std::move(base->companion));
    } else {
      table.compounds.erase({base->sort, base->how, base->times, base->of, base->by});
    }
    if (base->lengths) dead.push_back(std::move(base->lengths));
    for (Node* child : {base->of, base->by, base->alias, base->origin.load()}) {
      if (child != nullptr) drop(child);
    }
    for (Node* child : base->keeps) drop(child);
    delete base;
  }
}

Node* Session::zero() const {
  return Table::get().zero;
}
Node* Session::one() const {
  return Table::get().one;
}

void Session::keep(Node* element) noexcept {
  element->refs.fetch_add(1, std::memory_order_relaxed);
}

void Session::drop(Node* element) {
  if (element->refs.fetch_sub(1, std::memory_order_acq_rel) > 1 || element->is_pending) return;
  element->is_pending = true;
  Table::get().pending.push_back(element);
}

void Session::keep(Base* base) noexcept {
  ++base->refs;
}

void Session::drop(Base* base) {
  if (--base->refs > 0 || base->is_pending) return;
  base->is_pending = true;
  Table::get().pending_bases.push_back(base);
}

Node* Session::intern(const Run* runs, std::int64_t count) {
  return Table::get().find(runs, count, Table::hash_of(runs, count));
}

Node* Session::integer(std::int64_t n) {
  const Run run{nullptr, nullptr, n};
  return n == 0 ? zero() : n == 1 ? one() : intern(&run, 1);
}

Node* Session::lone(Base* base) {
  const Run run{base, one(), 1};
  return intern(&run, 1);
}

Base* Session::name(const Generator& what) {
  Table& table = Table::get();
  DimId id = what.id;
  if (what.kind == DimKind::batch) {
    id = {0, 1};
  } else if (id == DimId{}) {
    id = {table.token, table.age + 2};
  }
  const auto [link, is_new] = table.names.try_emplace({id.high, id.low}, nullptr);
  if (!is_new) {
    const Base& entry = *link->second;
    const std::int64_t size = entry.facts.is_static ? entry.facts.size : -1;
    if (size != what.size || entry.kind != what.kind) {
      throw Error(Fault::value, "the dim " + in_quotes(entry.name) + " is known with another size or kind");
    }
    return link->second;
  }
  try {
    table.pending_bases.reserve(table.pending_bases.size() + 1);
    auto node = std::make_unique<Base>();
    node->name = what.name;
    node->kind = what.kind;
    node->id = id;
    node->age = ++table.age;
    node->companion = what.companion;
    node->hash = hash_pair(id.high, id.low);
    node->facts = {what.size >= 0, what.kind == DimKind::batch, what.kind == DimKind::feature, 0,
                   positive(what.size)};
    node->is_pending = true;
    link->second = node.release();
  } catch (...) {
    table.names.erase(link);
    throw;
  }
  table.pending_bases.push_back(link->second);
  return link->second;
}

Node* Session::opaque(Base::Sort sort, Node* of, Node* by, std::int64_t times, Division how) {
  Table& table = Table::get();
  const Compound compound{sort, how, times, of, by};
  const auto match = table.compounds.find(compound);
  if (match != table.compounds.end()) return lone(match->second);
  const Facts& x = of->facts;
  const Facts& y = by->facts;
  Facts facts{x.is_static && y.is_static, x.has_batch || y.has_batch, x.has_feature || y.has_feature,
              std::max(x.height, y.height) + 1, 0};
  Table::check_height(facts.height);
  if (facts.is_static) {
    bool fits = true;
    if (sort == Base::Sort::quotient) {
      const std::int64_t a = positive(x.size);
      const std::int64_t b = positive(y.size);
      if (b == 0) throw Error(Fault::value, "divisor", in_quotes(text_of(by)) + " has size 0");
      const bool is_ceil = how == Division::ceil_right || how == Division::ceil_left;
      facts.size = a / b + (is_ceil && a % b != 0 ? 1 : 0);
    } else if (sort == Base::Sort::sum) {
      fits = checked_add(x.size, y.size, facts.size);
    } else {
      fits = checked_mul(x.size, sort == Base::Sort::multiple ? times : y.size, facts.size);
    }
    if (!fits) refuse_overflow("the size");
  }
  table.pending_bases.reserve(table.pending_bases.size() + 1);
  auto node = std::make_unique<Base>();
  node->sort = sort;
  node->how = how;
  node->times = times;
  node->of = of;
  node->by = by;
  node->age = ++table.age;
  node->hash = hash_pair(HashOfCompound{}(compound), of->hash ^ by->hash);
  node->facts = facts;
  node->is_pending = true;
  table.compounds.emplace(compound, node.get());
  keep(of);
  keep(by);
  Base* base = node.release();
  table.pending_bases.push_back(base);
  return lone(base);
}

}  // namespace varlen::dims
