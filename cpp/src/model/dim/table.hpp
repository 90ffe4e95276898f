// The one table of expressions. Words are reduced, kept once, counted, and forgotten when nobody holds them.
//
//   table.cpp    nodes, counting, forgetting, forks
//   algebra.cpp  sums, products, divisions
//   unite.cpp    expressions that are declared the same
//   expression.cpp   what is asked of one
//   lengths.cpp  numbers
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "varlen/model/dim.hpp"

namespace varlen::dims {

/// More terms than these are not written out.
inline constexpr std::int64_t kMostRuns = 256;
/// Deeper nesting of factors and quotients is refused: what walks over an expression walks the stack.
inline constexpr std::int32_t kMostHeight = 500;

/// times * base * tail. A number has neither base nor tail.
struct Run {
  Base* base = nullptr;
  Node* tail = nullptr;
  std::int64_t times = 0;

  [[nodiscard]] bool like(const Run& other) const noexcept {
    return base == other.base && tail == other.tail;
  }
  bool operator==(const Run&) const = default;
};

/// Facts that a node has of its parts.
struct Facts {
  bool is_static = true;
  bool has_batch = false;
  bool has_feature = false;
  std::int32_t height = 0;
  std::int64_t size = 0;  ///< of a static one; below 0 too
};

/// A reduced word. Runs stand behind it.
struct Node {
  std::atomic<std::int64_t> refs{0};
  /// What it is by now, and since which epoch: itself, until something in it was declared the same as
  /// something.
  std::atomic<Node*> canon{nullptr};
  std::atomic<std::uint64_t> epoch{0};
  std::atomic<std::int64_t> key{0};  ///< its hash, once somebody asked
  std::uint64_t hash = 0;
  Node* next = nullptr;
  std::int32_t count = 0;
  bool is_pending = false;
  Facts facts;

  [[nodiscard]] Run* runs() noexcept { return reinterpret_cast<Run*>(this + 1); }
  [[nodiscard]] const Run* runs() const noexcept { return reinterpret_cast<const Run*>(this + 1); }
  [[nodiscard]] const Run* begin() const noexcept { return runs(); }
  [[nodiscard]] const Run* end() const noexcept { return runs() + count; }
};

/// What stands in front of a tail: a name, or an expression that is kept whole.
struct Base {
  enum class Sort : std::uint8_t { name, quotient, sum, product, multiple };

  std::int64_t refs = 0;
  std::uint64_t hash = 0;
  Sort sort = Sort::name;
  bool is_pending = false;
  Facts facts;

  // A name.
  std::string name;
  DimKind kind = DimKind::unspecified;
  DimId id;
  std::uint64_t age = 0;  ///< later ones are greater
  std::shared_ptr<void> companion;

  // Else.
  Division how = Division::floor_right;
  std::int64_t times = 0;
  Node* of = nullptr;
  Node* by = nullptr;

  // Declared the same.
  Node* alias = nullptr;
  std::shared_ptr<const Bindings> lengths;  ///< those of `alias` at the time
  std::atomic<Node*> origin{nullptr};       ///< the quotient that a name was made for
  std::vector<Node*> keeps;
};

/// Runs in the making, neighbours that are alike put together.
class Word {
 public:
  Word() { runs_.reserve(8); }

  void push(Run run);
  void append(const Node* element) {
    for (const Run& run : *element) push(run);
  }
  [[nodiscard]] bool is_long() const noexcept { return is_long_; }
  [[nodiscard]] std::int64_t size() const noexcept { return static_cast<std::int64_t>(runs_.size()); }
  [[nodiscard]] const Run* data() const noexcept { return runs_.data(); }
  [[nodiscard]] const std::vector<Run>& runs() const noexcept { return runs_; }

 private:
  std::vector<Run> runs_;
  bool is_long_ = false;
};

/// Work on the table: it is locked, and nothing is freed before the end. Whatever a function of it gives back
/// lives until then; who keeps it takes a reference.
class Session {
 public:
  Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // Nodes.
  Node* intern(const Run* runs, std::int64_t count);
  Node* intern(const std::vector<Run>& runs) { return intern(runs.data(), std::ssize(runs)); }
  Node* zero() const;
  Node* one() const;
  Node* integer(std::int64_t n);
  Node* lone(Base* base);
  Base* name(const Generator& what);
  Node* opaque(Base::Sort sort, Node* of, Node* by, std::int64_t times = 0,
               Division how = Division::floor_right);
  void keep(Node* element) noexcept;
  void drop(Node* element);
  void keep(Base* base) noexcept;
  void drop(Base* base);

  // The algebra. Operands are canonical, and so are results.
  Node* sum(Node* x, Node* y);
  Node* negative(Node* x);
  Node* multiple(Node* x, std::int64_t n);
  Node* product(Node* x, Node* y);
  Node* divide(Division how, Node* x, Node* y);
  Node* canonical(Node* x);
  Node* canonical(Base* base);

  /// x without its factor y, or null.
  Node* without_right(Node* x, Node* y);
  Node* without_left(Node* x, Node* y);

  /// What is known of lengths when two are declared the same.
  struct Knowledge {
    std::vector<Base*> bound;
    std::shared_ptr<const Bindings> lengths;
  };
  void unite(Node* a, Node* b, const Knowledge& knowledge);

  /// The hash of a canonical element.
  std::int64_t key_of(const Node* x) const;

 private:
  using Memo = std::unordered_map<Node*, Node*>;

  Node* product(Node* x, Node* y, Memo* memo);
  Node* without_right(Node* x, Node* y, Memo& memo);
  Node* without_left(Node* x, Node* y, int depth);
  Node* root(Node* x, std::int64_t n);
  std::int64_t power_of(const std::vector<Run>& runs, Node* y);
  void sweep(std::vector<std::shared_ptr<const void>>& dead);

  void settle(Node* x, Node* result);
  bool isolate(Node* a, Node* b, const Knowledge& knowledge);
  bool freeze(Node* a, Node* b, const Knowledge& knowledge);
  bool holds(Node* a, Node* b);
  void stand_for(Base* base, Node* value, const Knowledge& knowledge);
  void forget(Base* base);
};

/// The name alone, or null.
Base* lone_base(const Node* x) noexcept;
/// n, where x is that number.
bool is_integer(const Node* x, std::int64_t& n) noexcept;
/// Whether a name or a quotient stands anywhere in x, inside of quotients too.
bool contains(const Node* x, const Base* base);

/// The number of the last declaration, and the next one.
std::uint64_t now() noexcept;
void begin_epoch() noexcept;
std::int64_t count_alive();
/// With the table locked.
std::vector<Node*> all_elements();
std::string text_of(const Node* x);
inline std::string in_quotes(const std::string& text) {
  std::string out(1, '\'');
  return out.append(text).append(1, '\'');
}
inline std::string in_quotes(const Dim& dim) {
  return in_quotes(dim.expression().text());
}
/// The names in x, each once, in the order in which they stand.
void names_of(const Node* x, std::vector<Base*>& names);

[[noreturn]] void refuse_overflow(const char* what);

}  // namespace varlen::dims
