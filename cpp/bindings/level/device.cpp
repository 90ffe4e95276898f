// Levels on devices: copies of those that the host has, and those that are born there.
#include "support/device.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cast/cast.hpp"
#include "level/level.hpp"
#include "support/dtypes.hpp"
#include "support/keep.hpp"
#include "support/raise.hpp"
#include "varlen/model/error.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

constexpr std::int64_t kVerdicts = 4096;

/// Words in which kernels say that numbers lie, for levels that live at one time; those beyond are told when
/// somebody looks. One set for each table of kernels, which lives for ever.
class Verdicts {
 public:
  static Verdicts& for_kernels(const cuda::Kernels& kernels) {
    static auto* const all = new std::vector<std::pair<const cuda::Kernels*, Verdicts*>>;
    for (const auto& [table, verdicts] : *all) {
      if (table == &kernels) return *verdicts;
    }
    all->emplace_back(&kernels, new Verdicts(kernels.common_words(kVerdicts)));
    return *all->back().second;
  }

  [[nodiscard]] std::int64_t* take() {
    if (free_.empty()) return nullptr;
    std::int64_t* const word = free_.back();
    free_.pop_back();
    return word;
  }
  void give(std::int64_t* word) {
    if (word != nullptr) free_.push_back(word);
  }

 private:
  explicit Verdicts(std::int64_t* words) {
    if (words == nullptr) return;
    free_.reserve(kVerdicts);
    for (std::int64_t k = kVerdicts; k-- > 0;) free_.push_back(words + k);
  }

  std::vector<std::int64_t*> free_;
};

/// No two levels have the same, so that a word which another level had before says nothing of this one.
std::int64_t next_stamp() {
  static std::int64_t last = 0;
  return ++last;
}

bool is_there(const Place& a, const Place& b) noexcept {
  return a.kernels == b.kernels && a.stream.device == b.stream.device;
}

bool is_on_stream(const Place& a, const Place& b) noexcept {
  return is_there(a, b) && a.stream.handle == b.stream.handle;
}

std::uint64_t capture_of(const Place& place) {
  std::uint64_t capture = 0;
  place.check(place.kernels->capture_of(place.stream, &capture), "offsets");
  return capture;
}

/// The words that a kernel makes of numbers there: see cuda/offsets.hpp.
py::array words_of(const Place& place, cuda::OffsetsJob job) {
  py::array words = empty_at(place, py::dtype::of<std::int64_t>(), {cuda::kFacts + job.n + 1});
  py::array scratch = scratch_at(place, place.kernels->offsets_from_scratch(job.n));
  job.out = ints(words);
  place.check(place.kernels->offsets_from(place.stream, job, bytes(scratch)), "offsets");
  return words;
}

/// Numbers that a device made, as a kernel put them in order.
struct DeviceState final : Hidden {
  Place place;
  std::string argument;
  py::array words;
  std::vector<py::array> earlier;  ///< those of less that was known of the numbers
  std::vector<LevelRef> origins;   ///< what the numbers were worked out of, as long as they are hidden
  std::int64_t* verdict = nullptr;
  std::int64_t stamp = 0;
  std::uint64_t capture = 0;  ///< the one that it was made in

  DeviceState(const Place& where, const char* name)
      : place(where), argument(name), stamp(next_stamp()), capture(capture_of(where)) {
    verdict = Verdicts::for_kernels(*place.kernels).take();
  }
  ~DeviceState() override { Verdicts::for_kernels(*place.kernels).give(verdict); }

  void make(bool is_wide, const void* numbers, bool are_offsets) {
    cuda::OffsetsJob job;
    job.is_wide = is_wide;
    job.numbers = static_cast<const std::byte*>(numbers);
    job.n = count;
    job.are_offsets = are_offsets;
    job.total = total;
    job.max_len = max_len;
    job.verdict = verdict;
    job.stamp = stamp;
    words = words_of(place, job);
  }

  [[nodiscard]] const std::int64_t* offsets() const {
    return static_cast<const std::int64_t*>(words.data()) + cuda::kFacts;
  }

  /// The same numbers, checked by what is known by now.
  void make_again() {
    earlier.push_back(words);
    make(true, offsets(), true);
  }

  /// ValueError where they are not as they have to be; says what the facts have found.
  void refuse(const std::int64_t* facts) const {
    const auto fact = [&](cuda::Fact one) { return facts[static_cast<std::size_t>(one)]; };
    const auto code = static_cast<Code>(fact(cuda::Fact::fault));
    const std::int64_t value = fact(cuda::Fact::value);
    const std::string row = "row " + std::to_string(fact(cuda::Fact::where));
    if (code == Code::ok) return;
    if (code == Code::total_mismatch) {
      raise_value(argument, "they add up to " + std::to_string(value) + ", but there are " +
                                std::to_string(total) + " rows");
    }
    if (code == Code::too_long) {
      raise_value(argument,
                  row + " has length " + std::to_string(value) + ", over max_len=" + std::to_string(max_len),
                  fact(cuda::Fact::where), value);
    }
    throw_if({code, fact(cuda::Fact::where), value}, argument);
  }
};

[[noreturn]] void raise_unknown(const char* what, const char* give) {
  raise_value(std::string(what) + " is not known of lengths that lie on a device: give " + give +
              ", or call level.sync(), which waits for them");
}

DeviceState& device_state_in(Hidden& hidden) noexcept {
  return static_cast<DeviceState&>(hidden);
}

}  // namespace

bool Level::is_told() const noexcept {
  const DeviceState& state = device_state_in(*hidden_);
  if (state.verdict != nullptr && *const_cast<const volatile std::int64_t*>(state.verdict) == state.stamp) {
    return true;
  }
  return std::any_of(state.origins.begin(), state.origins.end(),
                     [](const LevelRef& origin) { return origin->is_hidden() && origin->is_told(); });
}

const Place& Level::hidden_place() const noexcept {
  return device_state_in(*hidden_).place;
}

LevelRef Level::from_device(const py::array& numbers, bool are_offsets, std::int64_t total,
                            std::int64_t max_len, const char* argument) {
  const Place place = place_of(numbers);
  const std::string name(argument);
  if (numbers.ndim() != 1) {
    raise_value(name, "expected one dimension, got " + std::to_string(numbers.ndim()));
  }
  const std::optional<Type> type = type_of(numbers.dtype());
  if (!type || *type == Type::b1 || is_float(*type)) {
    raise_type(name, "expected integers, got dtype " + str_of(numbers.dtype()));
  }
  if (are_offsets && numbers.shape(0) == 0) throw_if({Code::empty_offsets, 0, 0}, argument);
  const std::int64_t count = numbers.shape(0) - (are_offsets ? 1 : 0);
  std::int64_t room = 0;
  if (total > 0 && (count == 0 || (max_len >= 0 && checked_mul(count, max_len, room) && room < total))) {
    raise_value("total", std::to_string(total) + " rows have no room in " + std::to_string(count) +
                             " sequences" +
                             (count > 0 ? " of at most max_len=" + std::to_string(max_len) : std::string()));
  }
  auto state = std::make_unique<DeviceState>(place, argument);
  state->count = count;
  state->total = count == 0 ? 0 : total;
  state->max_len = count == 0 ? 0 : max_len;
  const bool is_wide = *type == Type::i64 || *type == Type::u64;
  const bool is_one = is_wide || *type == Type::i32;
  const py::array wide = is_one ? numbers : cast_at(place, numbers, py::dtype::of<std::int64_t>(), Fill{});
  state->make(is_wide || !is_one, wide.data(), are_offsets);
  return LevelRef(Level(std::move(state)));
}

LevelRef Level::from_kernel(const py::array& numbers, bool are_offsets, std::int64_t total,
                            std::int64_t max_len, const std::vector<LevelRef>& origins) {
  LevelRef result = from_device(numbers, are_offsets, total, max_len, "lengths");
  for (const LevelRef& origin : origins) {
    if (origin->is_hidden()) device_state_in(*result->hidden_).origins.push_back(origin);
  }
  return result;
}

void Level::tell() {
  if (!is_told()) return;
  if (capture_of(hidden_place()) == 0) download();
}

std::int64_t Level::hidden_total() {
  tell();
  if (hidden_->total < 0) raise_unknown("total: the number of rows", "total=");
  return hidden_->total;
}

bool Level::hidden_fits(std::int64_t rows) {
  DeviceState& state = device_state_in(*hidden_);
  if (state.total >= 0) return state.total == rows;
  std::int64_t room = 0;
  if (rows > 0 && (state.count == 0 ||
                   (state.max_len >= 0 && checked_mul(state.count, state.max_len, room) && room < rows))) {
    return false;
  }
  if (capture_of(state.place) != state.capture) {
    raise_unknown("total: in a graph the number of rows", "total=");
  }
  state.total = rows;
  state.make_again();
  copies_.reset();
  return true;
}

bool Level::hidden_keeps_to(std::int64_t limit) {
  if (hidden_limit() <= limit) return true;
  DeviceState& state = device_state_in(*hidden_);
  std::int64_t room = 0;
  if (state.total > 0 && checked_mul(state.count, limit, room) && room < state.total) return false;
  if (capture_of(state.place) != state.capture) {
    raise_unknown("max_len: in a graph the longest length", "max_len=");
  }
  state.max_len = limit;
  state.make_again();
  copies_.reset();
  return true;
}

std::int64_t Level::hidden_limit() const {
  const auto [total, max_len] = std::pair(hidden_->total, hidden_->max_len);
  if (max_len < 0) return total < 0 ? INT64_MAX : total;
  return total < 0 || max_len < total ? max_len : total;
}

std::int64_t Level::hidden_longest() {
  tell();
  if (hidden_->max_len < 0) raise_unknown("max_len: the longest length", "max_len=");
  return hidden_->max_len;
}

std::int64_t Level::shortest() {
  if (is_hidden())
    raise_value("lengths",
                "whether some are 0 is not known where they lie on a device: call "
                "level.sync(), which waits for them");
  return stats().shortest;
}

LevelStats Level::stats_there() {
  see();
  LevelStats stats = model_.stats();
  // The numbers of a level that was made in a graph are others at each replay, its bound is not.
  if (device_state_in(*hidden_).capture != 0 && hidden_->max_len >= 0) stats.longest = hidden_->max_len;
  return stats;
}

void Level::sync() {
  see();
  if (hidden_ != nullptr) hidden_->max_len = -1;
}

void Level::download() {
  const HeldGil gil;
  DeviceState& state = device_state_in(*hidden_);
  const auto get = [&](const py::array& words) {
    Buffer memory = buffer_of(cuda::kFacts + state.count + 1, sizeof(std::int64_t));
    const void* const from = words.data();
    cuda::Error error = 0;
    {
      const py::gil_scoped_release gil_release;
      error = state.place.kernels->download(state.place.stream, from, memory.size(), memory.data());
    }
    state.place.check(error, "lengths");
    return memory;
  };
  for (const LevelRef& origin : state.origins) origin->see();
  const Buffer memory = get(state.words);
  if (state.verdict == nullptr || is_told()) {
    for (const py::array& words : state.earlier) state.refuse(get(words).as<std::int64_t>());
  }
  state.refuse(memory.as<std::int64_t>());
  if (state.is_seen) return;  // another thread was faster
  const auto* const words = memory.as<std::int64_t>();
  auto model = varlen::Level::from_offsets(words + cuda::kFacts, state.count + 1, state.argument);
  model_ = std::move(model);
  model_.set_companion(self_);
  state.total = model_.total();
  state.origins.clear();
  state.is_seen = true;
}

const std::int64_t* Level::ends_at(const Place& place) {
  const std::uint64_t capture = capture_of(place);
  DeviceState* const state = hidden_ != nullptr ? &device_state_in(*hidden_) : nullptr;
  const bool is_on_device = state != nullptr && is_there(state->place, place);
  if (is_on_device) {
    if (is_hidden() && capture == 0 && is_told()) download();
    // A graph orders what was put on streams before it.
    if (is_on_stream(state->place, place) || capture != 0) return state->offsets() + 1;
  }
  if (copies_ == nullptr) copies_ = std::make_unique<std::vector<Copy>>();
  for (const Copy& copy : *copies_) {
    if (copy.capture == capture && is_on_stream(place_of(copy.memory), place)) return copy.offsets + 1;
  }
  Copy copy;
  copy.capture = capture;
  if (is_on_device) {
    const auto follow = [&](const Place& earlier, const Place& later) {
      place.check(place.kernels->follow(earlier.stream, later.stream), "offsets");
    };
    follow(state->place, place);
    cuda::OffsetsJob job;
    job.numbers = reinterpret_cast<const std::byte*>(state->offsets());
    job.n = count();
    job.are_offsets = true;
    copy.memory = words_of(place, job);
    copy.offsets = static_cast<const std::int64_t*>(copy.memory.data()) + cuda::kFacts;
    follow(place, state->place);  // before that has the memory for something else
  } else {
    see();
    auto [memory, offsets, entries] = ints_at(place, model_.offsets(), count() + 1);
    copy.memory = memory.cast<py::array>();
    copy.offsets = offsets;
  }
  copies_->push_back(std::move(copy));
  return copies_->back().offsets + 1;
}

/// Where one of the two is on a device, and may stay there.
LevelRef Level::compose_there(Level& child) {
  if (!fits(child.count())) {
    raise_value("levels", "the lengths of one level add up to " + std::to_string(total()) +
                              ", but the one below it has " + std::to_string(child.count()) + " sequences");
  }
  const Place place = device_state_in(*(is_hidden() ? hidden_ : child.hidden_)).place;
  const std::int64_t* const outer = ends_at(place) - 1;
  const std::int64_t* const inner = child.ends_at(place) - 1;
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(std::int64_t));
  py::array offsets = empty_at(place, py::dtype::of<std::int64_t>(), {count() + 1});
  const Rows rows{reinterpret_cast<const std::byte*>(inner), child.count() + 1, kWidth};
  launch(place, "offsets", 0, &cuda::Kernels::take_rows, rows, outer, count() + 1, bytes(offsets));
  const auto has_longest = [](const Level& level) {
    return !level.is_hidden() || level.hidden_->max_len >= 0;
  };
  std::int64_t limit = -1;
  if (!has_longest(*this) || !has_longest(child) || !checked_mul(longest(), child.longest(), limit))
    limit = -1;
  return from_kernel(
      offsets, true, child.is_hidden() ? child.hidden_->total : child.total(), limit,
      {py::reinterpret_borrow<LevelRef>(self_), py::reinterpret_borrow<LevelRef>(child.self_)});
}

Offsets offsets_at(const Place& place, Level& level) {
  return place.is_host() ? level.view() : Offsets{level.ends_at(place), level.count()};
}

LevelRef level_of_lengths_at(const Place& place, const std::int64_t* lengths, std::int64_t count) {
  const std::int64_t size = count * std::int64_t{sizeof(std::int64_t)};
  NewLevel level(count);
  std::int64_t* const ends = level.ends();
  cuda::Error error = 0;
  {
    const GilRelease gil_release(place.is_host() ? size : INT64_MAX);  // a device is waited for
    error = place.kernels->download(place.stream, lengths, size, ends);
  }
  place.check(error, "lengths");
  for (std::int64_t i = 1; i < count; ++i) ends[i] += ends[i - 1];
  return std::move(level).finish();
}

}  // namespace varlen::bindings
