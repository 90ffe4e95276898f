#include "varlen/model/level.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "varlen/model/error.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kWidth = sizeof(std::int64_t);
// Beyond it the bytes of the offsets do not fit 63 bits.
constexpr std::int64_t kMostSequences = INT64_MAX / kWidth - 1;

void check_int32(const char* what, std::int64_t rows) {
  if (rows <= INT32_MAX) return;
  throw Error(Fault::overflow, what, std::to_string(rows) + " rows do not fit int32");
}

}  // namespace

/// Numbers that are made once. Threads that ask at the same time may each make them; one of them is kept.
class LevelMemo {
 public:
  LevelMemo() = default;
  LevelMemo(const LevelMemo&) = delete;
  LevelMemo& operator=(const LevelMemo&) = delete;
  ~LevelMemo() { delete numbers_.load(std::memory_order_relaxed); }

  template <class T, class Fill>
  const T* get(std::int64_t count, Fill fill) {
    const Buffer* have = numbers_.load(std::memory_order_acquire);
    if (have == nullptr) {
      auto numbers = std::make_unique<Buffer>(buffer_of(count, sizeof(T)));
      fill(numbers->as<T>());
      if (numbers_.compare_exchange_strong(have, numbers.get(), std::memory_order_acq_rel)) {
        have = numbers.release();
      }
    }
    return have->as<T>();
  }

 private:
  std::atomic<const Buffer*> numbers_{nullptr};
};

struct Level::State {
  State(Buffer offsets, std::optional<LevelStats> stats) : memory(std::move(offsets)) {
    view = {memory.as<std::int64_t>() + 1, memory.size() / kWidth - 1};
    if (stats) learn(*stats);
  }
  State(Offsets offsets, std::shared_ptr<const void> keep, std::optional<LevelStats> stats)
      : view(offsets), owner(std::move(keep)) {
    if (stats) learn(*stats);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  /// Frees one composed level after the other: a chain of them may be longer than the stack is deep.
  ~State() {
    std::shared_ptr<State> next = std::move(composition);
    while (next != nullptr && next.use_count() == 1) {
      std::shared_ptr<State> rest;
      {
        const std::scoped_lock lock(next->composing);  // sees what other threads wrote before they let go
        rest = std::move(next->composition);
      }
      next = std::move(rest);
    }
  }

  void learn(LevelStats stats) noexcept {
    shortest.store(stats.shortest, std::memory_order_relaxed);
    longest.store(stats.longest, std::memory_order_release);
  }

  Offsets view;
  Buffer memory;
  std::shared_ptr<const void> owner;
  std::atomic<std::int64_t> longest{-1};  ///< below 0 until it is known, and `shortest` with it
  std::atomic<std::int64_t> shortest{0};
  LevelMemo lengths;
  LevelMemo lengths32;
  LevelMemo offsets32;
  LevelMemo row_ids;
  LevelMemo positions;
  std::atomic<void*> companion{nullptr};

  // What `compose` gave last. The level below is held weakly: that one number more is kept is no reason for
  // another level to live on.
  std::mutex composing;
  std::weak_ptr<const State> child;
  std::shared_ptr<State> composition;
};

Level::Level(std::shared_ptr<State> state) noexcept : state_(std::move(state)), view_(state_->view) {}

Level::Level()
    : Level(trust([] {
        Buffer zero(kWidth);
        *zero.as<std::int64_t>() = 0;
        return zero;
      }())) {}

Level Level::trust(Buffer offsets, std::optional<LevelStats> stats) {
  return Level(std::make_shared<State>(std::move(offsets), stats));
}

Level Level::borrow(const std::int64_t* offsets, std::int64_t n, std::shared_ptr<const void> owner,
                    std::optional<LevelStats> stats) {
  return Level(std::make_shared<State>(Offsets{offsets + 1, n}, std::move(owner), stats));
}

template <class T>
Level Level::from_lengths(const T* lengths, std::int64_t n, std::string_view argument) {
  Buffer offsets = buffer_of(n + 1, kWidth);
  LevelStats stats;
  throw_if(offsets_from_lengths(lengths, n, offsets.as<std::int64_t>(), &stats), argument);
  return trust(std::move(offsets), stats);
}

template Level Level::from_lengths(const std::int8_t*, std::int64_t, std::string_view);
template Level Level::from_lengths(const std::int16_t*, std::int64_t, std::string_view);
template Level Level::from_lengths(const std::int32_t*, std::int64_t, std::string_view);
template Level Level::from_lengths(const std::int64_t*, std::int64_t, std::string_view);
template Level Level::from_lengths(const std::uint8_t*, std::int64_t, std::string_view);
template Level Level::from_lengths(const std::uint16_t*, std::int64_t, std::string_view);
template Level Level::from_lengths(const std::uint32_t*, std::int64_t, std::string_view);
template Level Level::from_lengths(const std::uint64_t*, std::int64_t, std::string_view);

Level Level::from_offsets(const std::int64_t* offsets, std::int64_t entries, std::string_view argument) {
  if (entries == 0) throw_if({Code::empty_offsets, 0, 0}, argument);
  Buffer own = buffer_of(entries, kWidth);
  std::memcpy(own.data(), offsets, static_cast<std::size_t>(own.size()));
  const auto* copy = own.as<std::int64_t>();  // another thread may write to what was given
  if (copy[0] != 0) throw_if({Code::first_not_zero, 0, copy[0]}, argument);
  throw_if(check_ends({copy + 1, entries - 1}, -1), argument);
  return trust(std::move(own));
}

Level Level::from_bounds(const std::int64_t* bounds, std::int64_t n, std::string_view argument) {
  Buffer own = buffer_of(n + 1, kWidth);
  auto* copy = own.as<std::int64_t>();
  copy[0] = 0;
  if (n > 0) std::memcpy(copy + 1, bounds, static_cast<std::size_t>(n * kWidth));
  throw_if(check_ends({copy + 1, n}, -1), argument);
  return trust(std::move(own));
}

Level Level::from_row_ids(const std::int64_t* row_ids, std::int64_t total, std::int64_t count,
                          std::string_view argument) {
  const std::int64_t last = total > 0 ? row_ids[total - 1] : -1;
  if (count < 0) {
    if (last < -1) throw_if({Code::row_ids_range, total - 1, last}, argument);
    count = last < INT64_MAX ? last + 1 : last;
  }
  const auto too_many = [&](Fault fault) {
    return Error(fault, argument, std::to_string(count) + " sequences do not fit into memory");
  };
  if (count > kMostSequences) throw too_many(Fault::overflow);
  Buffer offsets = [&] {
    try {
      return buffer_of(count + 1, kWidth);
    } catch (const std::bad_alloc&) {
      throw too_many(Fault::memory);
    }
  }();
  Status status = offsets_from_row_ids(row_ids, total, count, offsets.as<std::int64_t>());
  if (status.code == Code::row_ids_range && status.value > last && last + 1 == count) {
    // Beyond the last one, which has to be the largest: a smaller one follows.
    const std::int64_t* const sooner = std::is_sorted_until(row_ids, row_ids + total);
    if (sooner != row_ids + total) status = {Code::row_ids_unsorted, sooner - row_ids, *sooner};
  }
  throw_if(status, argument);
  return trust(std::move(offsets));
}

LevelStats Level::stats() const noexcept {
  const std::int64_t longest = state_->longest.load(std::memory_order_acquire);
  if (longest >= 0) return {longest, state_->shortest.load(std::memory_order_relaxed)};
  const LevelStats stats = level_stats(view_);
  state_->learn(stats);
  return stats;
}

const std::int64_t* Level::lengths() const {
  return state_->lengths.get<std::int64_t>(count(), [&](std::int64_t* out) { lengths_of(view_, out); });
}

const std::int64_t* Level::row_ids() const {
  return state_->row_ids.get<std::int64_t>(total(), [&](std::int64_t* out) { row_ids_of(view_, out); });
}

const std::int64_t* Level::positions() const {
  return state_->positions.get<std::int64_t>(total(), [&](std::int64_t* out) { positions_of(view_, out); });
}

const std::int32_t* Level::lengths32() const {
  check_int32("lengths", stats().longest);
  return state_->lengths32.get<std::int32_t>(count(), [&](std::int32_t* out) { lengths_of(view_, out); });
}

const std::int32_t* Level::offsets32() const {
  check_int32("offsets", total());
  return state_->offsets32.get<std::int32_t>(count() + 1, [&](std::int32_t* out) { offsets_of(view_, out); });
}

Level Level::compose(const Level& child, std::string_view argument) const {
  const auto lookup = [&]() -> std::shared_ptr<State> {
    return state_->child.lock() == child.state_ ? state_->composition : nullptr;
  };
  {
    // Nobody waits: in a forked child, the one that is at it may not exist.
    const std::unique_lock lock(state_->composing, std::try_to_lock);
    if (lock.owns_lock()) {
      if (auto hit = lookup()) return Level(std::move(hit));
    }
  }
  if (total() != child.count()) {
    throw Error(Fault::value, argument,
                "the lengths of one level add up to " + std::to_string(total()) +
                    ", but the one below it has " + std::to_string(child.count()) + " sequences");
  }
  Buffer offsets = buffer_of(count() + 1, kWidth);
  auto* const out = offsets.as<std::int64_t>();
  for (std::int64_t i = 0; i <= count(); ++i) out[i] = child.offsets()[this->offsets()[i]];
  auto result = std::make_shared<State>(std::move(offsets), std::nullopt);
  auto previous = result;  // let go of when the lock is
  {
    const std::unique_lock lock(state_->composing, std::try_to_lock);
    if (!lock.owns_lock()) return Level(std::move(result));
    if (auto hit = lookup()) return Level(std::move(hit));  // another thread was faster
    state_->child = child.state_;
    std::swap(state_->composition, previous);
  }
  return Level(std::move(result));
}

void* Level::companion() const noexcept {
  return state_->companion.load(std::memory_order_acquire);
}

void Level::set_companion(void* object) const noexcept {
  state_->companion.store(object, std::memory_order_release);
}

bool Level::operator==(const Level& other) const noexcept {
  if (is(other)) return true;
  return count() == other.count() &&
         (count() == 0 ||
          std::memcmp(view_.ends, other.view_.ends, static_cast<std::size_t>(count() * kWidth)) == 0);
}

}  // namespace varlen
