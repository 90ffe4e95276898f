// The work of a plan: products of matrices by a loop that was handed in, and what is copied for them.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include "support/strides.hpp"
#include "varlen/model/einsum.hpp"
#include "varlen/pool.hpp"

namespace varlen {

namespace {

constexpr std::size_t kLetters = 64;

// Products of elements in a piece, about 0.1 ms of one core. It says nothing of threads, so that the same
// pieces, and the same numbers, come of any count of them.
constexpr std::int64_t kPiece = 4 << 20;
// The same for elements that are moved.
constexpr std::int64_t kMoveBytes = 512 << 10;
// Rows of a piece of one large matrix: the other matrix is packed again for each piece, 2 % of its time.
constexpr std::int64_t kRows = 768;
// The largest product that OpenBLAS, and those that descend from it, compute on the caller alone.
constexpr std::int64_t kSoloWork = std::int64_t{64} * 64 * 64;

/// One thread in the library under matmul while pieces run on threads of ours, which it would stand in the
/// way of. Calls that overlap share it; the last one puts back what was there. Products of others meanwhile
/// run on their own thread, with the same results.
class OneThread {
 public:
  explicit OneThread(const Arithmetic& how) : how_(how.set_threads == nullptr ? nullptr : &how) {
    if (how_ == nullptr) return;
    Calls& calls = all();
    const std::lock_guard<std::mutex> lock(calls.mutex);
    if (calls.count++ == 0) {
      if (!std::exchange(calls.is_owed, false)) calls.thread_count = how_->threads();
      if (calls.thread_count != 1) how_->set_threads(1);
    }
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() {
    if (how_ == nullptr) return;
    Calls& calls = all();
    const std::lock_guard<std::mutex> lock(calls.mutex);
    if (--calls.count == 0 && calls.thread_count != 1) how_->set_threads(calls.thread_count);
  }

 private:
  /// Those that run, and what was there before the first of them.
  struct Calls {
    std::mutex mutex;
    int count = 0;
    int thread_count = 1;
    bool is_owed = false;  ///< the child of a fork amid calls: the next one puts back what was there

    void end_in_child() {
      is_owed = std::exchange(count, 0) != 0 || is_owed;
      mutex.unlock();
    }
  };
  static Calls& all() {
    static Calls* const calls = [] {
#if !defined(_WIN32)
      pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); }, [] { all().end_in_child(); });
#endif
      return new Calls;  // outlives every thread
    }();
    return *calls;
  }

  const Arithmetic* how_;
};

char* writable(const std::byte* data) {
  return const_cast<char*>(reinterpret_cast<const char*>(data));  // loops take what they read so
}

std::byte* grow(std::vector<std::byte>& memory, std::int64_t bytes) {
  if (memory.size() < static_cast<std::size_t>(bytes)) memory.resize(static_cast<std::size_t>(bytes));
  return memory.data();
}

}  // namespace

struct EinsumPlan::Views {
  std::array<std::int64_t, kLetters> extent{}, a{}, b{}, out{};
};

struct EinsumPlan::Scratch {
  std::vector<std::byte> a, b, out, ones;

  const std::byte* fill_ones(const Arithmetic& how, std::int64_t count) {
    const std::size_t size = static_cast<std::size_t>(how.size);
    const std::size_t start = ones.size() / size;
    if (start < static_cast<std::size_t>(count)) ones.resize(static_cast<std::size_t>(count) * size);
    for (std::size_t k = start; k < ones.size() / size; ++k) std::memcpy(&ones[k * size], how.one, size);
    return ones.data();
  }
};

void EinsumPlan::strides_of(const Term& term, std::int64_t i, std::int64_t* strides) const noexcept {
  std::int64_t stride = 1;
  for (std::size_t k = term.letters.size(); k-- > 0;) {
    const auto letter = static_cast<std::size_t>(term.letters[k]);
    strides[letter] = stride;
    stride *= term.letters[k] == sequence_ ? count_ : letters_[letter].extent_at(i);
  }
}

EinsumPlan::Views EinsumPlan::views_of(std::int64_t i) const noexcept {
  Views views;
  for (std::size_t k = 0; k < letters_.size(); ++k) {
    views.extent[k] = static_cast<int>(k) == sequence_ ? 1 : letters_[k].extent_at(i);
  }
  strides_of(a_, i, views.a.data());
  strides_of(b_, i, views.b.data());
  strides_of(out_, i, views.out.data());
  return views;
}

bool EinsumPlan::are_alike(std::int64_t i, std::int64_t j) const noexcept {
  return std::all_of(letters_.begin(), letters_.end(),
                     [&](const Letter& letter) { return letter.extent_at(i) == letter.extent_at(j); });
}

/// What a piece may begin at: places that are walked, rows of elements, or blocks of them.
std::int64_t EinsumPlan::walks_of(std::int64_t i) const noexcept {
  if (way_ == Way::gemm || walk_letters_.empty()) return product(walk_letters_, i);
  if (way_ == Way::copy) return letters_[static_cast<std::size_t>(walk_letters_[0])].extent_at(i);
  return product(Letters(walk_letters_.begin(), walk_letters_.end() - 1), i);
}

std::vector<EinsumPlan::Piece> EinsumPlan::pieces() const {
  std::vector<Piece> result;
  Letters letters;
  for (const int letter : out_.letters) {
    if (letter != sequence_) letters.push_back(letter);
  }
  // Rows that are copied can be cut where they are one letter.
  const bool cuts_rows = rows_.size() == 1 || (rows_.size() > 1 && !copies_a_ && !copies_out_);
  const bool moves = way_ == Way::copy || way_ == Way::multiply;
  const std::int64_t goal = moves ? kMoveBytes : kPiece;
  Piece slice;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count_; ++i) {
    const std::int64_t work = product(letters, i) * product(steps_, i);
    if (work <= 2 * goal || way_ == Way::multiply_and_add) {
      slice.last = i + 1;
      sum += std::max<std::int64_t>(work, 1);
      if (sum < goal) continue;
      result.push_back(slice);
      slice = Piece{i + 1, i + 1};
      sum = 0;
      continue;
    }
    if (slice.first < slice.last) result.push_back(slice);
    slice = Piece{i + 1, i + 1};
    sum = 0;
    const std::int64_t walks = walks_of(i);
    const std::int64_t rows = cuts_rows ? product(rows_, i) : 1;
    if (walks > 1) {
      const std::int64_t step = std::max<std::int64_t>(1, goal / std::max<std::int64_t>(work / walks, 1));
      for (std::int64_t position = 0; position < walks; position += step) {
        result.push_back({i, i + 1, position, std::min(position + step, walks)});
      }
    } else {
      for (std::int64_t position = 0; position < rows; position += kRows) {
        result.push_back({i, i + 1, 0, -1, position, std::min(position + kRows, rows)});
      }
    }
  }
  if (slice.first < slice.last) result.push_back(slice);
  return result;
}

void EinsumPlan::run(const Arithmetic& how, const std::byte* a, const std::byte* b, std::byte* out) const {
  const std::int64_t block = adds_sequences_ ? out_.step : 0;
  std::vector<std::byte> blocks;
  std::byte* const to = adds_sequences_ ? grow(blocks, count_ * block * how.size) : out;
  const std::vector<Piece> parts = pieces();
  const double largest = static_cast<double>(largest_size(rows_)) *
                         static_cast<double>(largest_size(columns_)) *
                         static_cast<double>(largest_size(steps_));
  const bool has_large = way_ == Way::gemm && largest > static_cast<double>(kSoloWork);
  // What threads by itself is called by one thread.
  const bool is_parallel = !has_large || how.set_threads != nullptr;
  std::atomic<bool> lacks_memory{false};
  const auto body = [&](std::int64_t part) noexcept {
    try {
      Scratch scratch;
      const Piece& piece = parts[static_cast<std::size_t>(part)];
      for (std::int64_t i = piece.first; i < piece.last;) {
        std::int64_t repeats = 1;
        while (i + repeats < piece.last && walk_letters_.empty() && are_alike(i, i + repeats)) ++repeats;
        run_sequence(how, piece, i, repeats, a, b, to, scratch);
        i += repeats;
      }
    } catch (const std::bad_alloc&) {
      lacks_memory = true;
    }
  };
  if (is_parallel) {
    std::optional<OneThread> one;
    if (has_large) one.emplace(how);
    parallel(static_cast<std::int64_t>(parts.size()), body);
  } else {
    for (std::size_t part = 0; part < parts.size(); ++part) body(static_cast<std::int64_t>(part));
  }
  if (lacks_memory) throw std::bad_alloc();
  if (!adds_sequences_) return;
  if (count_ == 0) {
    std::memset(out, 0, static_cast<std::size_t>(block * how.size));
    return;
  }
  Scratch scratch;
  const auto size = static_cast<std::intptr_t>(how.size);
  char* arguments[] = {writable(scratch.fill_ones(how, count_)), writable(to), writable(out)};
  const std::intptr_t counts[] = {1, 1, count_, block};
  const std::intptr_t steps[] = {0, 0, 0, count_ * size, size, block * size, size, block * size, size};
  if (block > 0) how.matmul.run(arguments, counts, steps, how.matmul.data);
}

void EinsumPlan::run_sequence(const Arithmetic& how, const Piece& piece, std::int64_t i, std::int64_t repeats,
                              const std::byte* a, const std::byte* b, std::byte* out,
                              Scratch& scratch) const {
  const Views views = views_of(i);
  const auto place = [&](const Term& term, const std::byte* data, std::int64_t k) {
    return data == nullptr ? nullptr : data + term.base(i + k) * how.size;
  };
  if (way_ == Way::gemm && !copies_a_ && !copies_b_ && !copies_out_) {
    products(how, piece, views, repeats, place(a_, a, 0), place(b_, b, 0), out + out_.base(i) * how.size,
             scratch);
    return;
  }
  for (std::int64_t k = 0; k < repeats; ++k) {
    const std::byte* const at_a = place(a_, a, k);
    const std::byte* const at_b = place(b_, b, k);
    std::byte* const at_out = out + out_.base(i + k) * how.size;
    if (way_ == Way::gemm) {
      products(how, piece, views, 1, at_a, at_b, at_out, scratch);
    } else if (way_ == Way::copy) {
      copy(piece, views, how.size, at_a, at_out);
    } else if (way_ == Way::multiply) {
      multiply(how, piece, views, walk_letters_, views.out.data(), at_a, at_b, at_out);
    } else {
      Letters order = steps_;
      order.append(walk_letters_.begin(), walk_letters_.end());
      std::array<std::int64_t, kLetters> to_strides{};
      std::int64_t stride = 1;
      for (std::size_t position = order.size(); position-- > 0;) {
        to_strides[static_cast<std::size_t>(order[position])] = stride;
        stride *= views.extent[static_cast<std::size_t>(order[position])];
      }
      const std::int64_t columns = product(walk_letters_, i);
      const std::int64_t steps_here = product(steps_, i);
      if (columns == 0) continue;
      std::byte* const terms = grow(scratch.a, stride * how.size);
      multiply(how, Piece{}, views, order, to_strides.data(), at_a, at_b, terms);
      std::byte* const sums = grow(scratch.out, columns * how.size);
      const auto size = static_cast<std::intptr_t>(how.size);
      char* arguments[] = {writable(scratch.fill_ones(how, steps_here)), writable(terms), writable(sums)};
      const std::intptr_t counts[] = {1, 1, steps_here, columns};
      const std::intptr_t steps[] = {0,   0, 0, steps_here * size, size, columns * size, size, columns * size,
                                     size};
      how.matmul.run(arguments, counts, steps, how.matmul.data);
      std::array<StridedAxis, kLetters> axes;
      std::size_t count = 0;
      for (const int letter : walk_letters_) {
        const auto l = static_cast<std::size_t>(letter);
        axes[count++] = {views.extent[l], to_strides[l], views.out[l]};
      }
      copy_strided(axes.data(), count, how.size, sums, at_out);
    }
  }
}

void EinsumPlan::copy(const Piece& piece, const Views& views, std::int64_t size, const std::byte* a,
                      std::byte* out) const {
  std::array<StridedAxis, kLetters> axes;
  std::size_t count = 0;
  for (const int letter : walk_letters_) {
    const auto l = static_cast<std::size_t>(letter);
    axes[count++] = {views.extent[l], views.a[l], views.out[l]};
  }
  if (piece.end >= 0) {
    a += piece.begin * axes[0].from * size;
    out += piece.begin * axes[0].to * size;
    axes[0].extent = piece.end - piece.begin;
  }
  copy_strided(axes.data(), count, size, a, out);
}

void EinsumPlan::multiply(const Arithmetic& how, const Piece& piece, const Views& views, const Letters& order,
                          const std::int64_t* to, const std::byte* a, const std::byte* b,
                          std::byte* out) const {
  const std::size_t count = order.size();
  std::int64_t walks = 1;
  for (const int letter : order) {
    if (views.extent[static_cast<std::size_t>(letter)] == 0) return;
  }
  for (std::size_t k = 0; k + 1 < count; ++k) walks *= views.extent[static_cast<std::size_t>(order[k])];
  const std::size_t last = count == 0 ? kLetters - 1 : static_cast<std::size_t>(order[count - 1]);
  const auto size = static_cast<std::intptr_t>(how.size);
  const std::intptr_t counts[] = {count == 0 ? 1 : views.extent[last]};
  const std::intptr_t steps[] = {views.a[last] * size, views.b[last] * size,
                                 count == 0 ? 0 : to[last] * size};
  std::array<std::int64_t, kLetters> position{};
  std::int64_t at_a = 0, at_b = 0, at_out = 0, rest = piece.begin;
  for (std::size_t k = count < 2 ? 0 : count - 1; k-- > 0 && rest > 0;) {
    const auto l = static_cast<std::size_t>(order[k]);
    position[k] = rest % views.extent[l];
    rest /= views.extent[l];
    at_a += position[k] * views.a[l];
    at_b += position[k] * views.b[l];
    at_out += position[k] * to[l];
  }
  const std::int64_t end = piece.end < 0 ? walks : piece.end;
  for (std::int64_t walk = piece.begin; walk < end; ++walk) {
    char* arguments[] = {writable(a + at_a * size), writable(b + at_b * size), writable(out + at_out * size)};
    how.multiply.run(arguments, counts, steps, how.multiply.data);
    for (std::size_t k = count < 2 ? 0 : count - 1; k-- > 0;) {
      const auto l = static_cast<std::size_t>(order[k]);
      at_a += views.a[l];
      at_b += views.b[l];
      at_out += to[l];
      if (++position[k] < views.extent[l]) break;
      position[k] = 0;
      at_a -= views.a[l] * views.extent[l];
      at_b -= views.b[l] * views.extent[l];
      at_out -= to[l] * views.extent[l];
    }
  }
}

void EinsumPlan::products(const Arithmetic& how, const Piece& piece, const Views& views, std::int64_t repeats,
                          const std::byte* a, const std::byte* b, std::byte* out, Scratch& scratch) const {
  const auto size = static_cast<std::intptr_t>(how.size);
  const auto extent_of = [&](const Letters& letters) {
    std::int64_t extent = 1;
    for (const int letter : letters) extent *= views.extent[static_cast<std::size_t>(letter)];
    return extent;
  };
  // The step from one row (or column) to the next; that of a matrix with one is beyond the matrix.
  const auto step_of = [&](const Letters& letters, const auto& strides, std::int64_t other) {
    return letters.empty() ? other : strides[static_cast<std::size_t>(letters.back())];
  };
  const std::int64_t m = extent_of(rows_);
  const std::int64_t n = extent_of(columns_);
  const std::int64_t k = extent_of(steps_);
  const std::int64_t top = piece.top;
  const std::int64_t height = (piece.bottom < 0 ? m : piece.bottom) - top;
  const std::int64_t walks = extent_of(walk_letters_);
  if (m == 0 || n == 0 || walks == 0) return;
  std::int64_t am = 0, ak = 0, bk = 0, bn = 0, out_m = 0, out_n = 0;
  if (copies_a_) {
    am = std::max<std::int64_t>(k, 1), ak = 1;
  } else {
    ak = step_of(steps_, views.a, 1);
    am = step_of(rows_, views.a, std::max<std::int64_t>(k, 1) * ak);
  }
  if (copies_b_ || with_ones_) {
    bk = n, bn = 1;
  } else {
    bk = step_of(steps_, views.b, n);
    bn = step_of(columns_, views.b, std::max<std::int64_t>(k, 1) * bk);
  }
  if (copies_out_) {
    out_m = n, out_n = 1;
  } else if (columns_.empty()) {
    out_m = step_of(rows_, views.out, 1), out_n = 1;
  } else {
    out_n = step_of(columns_, views.out, 1);
    out_m = step_of(rows_, views.out, n * out_n);
  }
  std::byte* const packed_a = copies_a_ ? grow(scratch.a, height * k * size) : nullptr;
  std::byte* const packed_b = copies_b_ ? grow(scratch.b, k * n * size) : nullptr;
  std::byte* const packed_out = copies_out_ ? grow(scratch.out, height * n * size) : nullptr;
  const std::byte* const ones = with_ones_ ? scratch.fill_ones(how, k) : nullptr;
  const auto axes_of = [&](const Letters& first, const Letters& second, const auto& strides, bool to,
                           std::array<StridedAxis, kLetters>& axes) {
    std::size_t count = 0;
    std::int64_t step = 1;
    for (const Letters* letters : {&second, &first}) {
      for (std::size_t position = letters->size(); position-- > 0;) {
        const auto l = static_cast<std::size_t>((*letters)[position]);
        axes[count++] = to ? StridedAxis{views.extent[l], step, strides[l]}
                           : StridedAxis{views.extent[l], strides[l], step};
        step *= views.extent[l];
      }
    }
    return count;
  };
  const bool copies = copies_a_ || copies_b_ || copies_out_;
  // The last letter that is walked, or neighbours of one shape, are left to the loop.
  const std::size_t outer = walk_letters_.empty() || copies ? walk_letters_.size() : walk_letters_.size() - 1;
  std::intptr_t counts[] = {repeats, height, k, n};
  std::intptr_t steps[] = {0, 0, 0, am * size, ak * size, bk * size, bn * size, out_m * size, out_n * size};
  std::int64_t inner = 1;
  if (outer < walk_letters_.size()) {
    const auto l = static_cast<std::size_t>(walk_letters_.back());
    inner = views.extent[l];
    steps[0] = views.a[l] * size;
    steps[1] = views.b[l] * size;
    steps[2] = views.out[l] * size;
  } else if (repeats > 1) {
    const auto block = [&](const Term& term) {
      std::int64_t step = term.is_ragged ? 1 : term.step;
      for (const int letter : term.letters) {
        if (term.is_ragged) step *= views.extent[static_cast<std::size_t>(letter)];
      }
      return term.has_sequence || &term == &out_ ? step * size : 0;
    };
    steps[0] = block(a_);
    steps[1] = with_ones_ ? 0 : block(b_);
    steps[2] = block(out_);
  }
  const std::int64_t begin = piece.begin;
  const std::int64_t end = piece.end < 0 ? walks : piece.end;
  for (std::int64_t walk = begin; walk < end;) {
    std::int64_t at_a = 0, at_b = 0, at_out = 0, rest = walk;
    for (std::size_t position = walk_letters_.size(); position-- > 0;) {
      const auto l = static_cast<std::size_t>(walk_letters_[position]);
      const std::int64_t place = rest % views.extent[l];
      rest /= views.extent[l];
      at_a += place * views.a[l];
      at_b += place * views.b[l];
      at_out += place * views.out[l];
    }
    std::int64_t batch = 1;
    if (inner > 1) {
      batch = std::min(inner - walk % inner, end - walk);
      counts[0] = batch;
    }
    const std::byte* from_a = a + at_a * size;
    const std::byte* from_b = with_ones_ ? ones : b + at_b * size;
    std::byte* to = out + at_out * size;
    std::array<StridedAxis, kLetters> axes;
    if (copies_a_) {
      // Rows are one letter, or a piece has all of them.
      std::size_t count = axes_of(rows_, steps_, views.a, false, axes);
      if (height != m) {
        axes[count - 1].extent = height;
        from_a += top * axes[count - 1].from * size;
      }
      copy_strided(axes.data(), count, size, from_a, packed_a);
      from_a = packed_a;
    } else {
      from_a += top * am * size;
    }
    if (copies_b_) {
      const std::size_t count = axes_of(steps_, columns_, views.b, false, axes);
      copy_strided(axes.data(), count, size, from_b, packed_b);
      from_b = packed_b;
    }
    std::byte* const target = copies_out_ ? packed_out : to + top * out_m * size;
    char* arguments[] = {writable(from_a), writable(from_b), writable(target)};
    how.matmul.run(arguments, counts, steps, how.matmul.data);
    if (copies_out_) {
      std::size_t count = axes_of(rows_, columns_, views.out, true, axes);
      if (height != m) {
        axes[count - 1].extent = height;
        to += top * axes[count - 1].to * size;
      }
      copy_strided(axes.data(), count, size, packed_out, to);
    }
    walk += batch;
  }
}

}  // namespace varlen
