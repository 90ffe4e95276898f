// Level, the object: offsets that were checked when it was made, and what was worked out of them once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "varlen/model/memory.hpp"
#include "varlen/offsets.hpp"
#include "varlen/status.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// Immutable and shared: a copy is the same level. Any thread may ask it anything. What it points to lives as
/// long as a copy of it does.
///
///     const std::int64_t lengths[] = {3, 0, 2};
///     const auto level = varlen::Level::from_lengths(lengths, 3);
///     level.total();      // 5
///     level.row_ids()[4]  // 2
class Level {
 public:
  /// No sequences.
  Level();

  /// From what a caller gives: checked, copied, an Error names `argument`. T is any integer type.
  template <class T>
  static Level from_lengths(const T* lengths, std::int64_t n, std::string_view argument = "lengths");
  static Level from_offsets(const std::int64_t* offsets, std::int64_t entries,
                            std::string_view argument = "offsets");
  static Level from_bounds(const std::int64_t* bounds, std::int64_t n, std::string_view argument = "bounds");
  /// `count` sequences; below 0: as many as the last id says.
  static Level from_row_ids(const std::int64_t* row_ids, std::int64_t total, std::int64_t count = -1,
                            std::string_view argument = "row_ids");

  /// Of n + 1 offsets that are known to be good and that nobody writes to any more, and what is known of
  /// them.
  static Level trust(Buffer offsets, std::optional<LevelStats> stats = {});
  /// The same in memory of somebody else's, which `owner` keeps alive.
  static Level borrow(const std::int64_t* offsets, std::int64_t n, std::shared_ptr<const void> owner,
                      std::optional<LevelStats> stats = {});

  [[nodiscard]] Offsets view() const noexcept { return view_; }
  [[nodiscard]] std::int64_t count() const noexcept { return view_.count; }
  [[nodiscard]] std::int64_t total() const noexcept { return view_.total(); }
  /// n + 1 of them.
  [[nodiscard]] const std::int64_t* offsets() const noexcept { return view_.ends - 1; }

  // Worked out when they are first asked for, and kept.
  [[nodiscard]] LevelStats stats() const noexcept;
  [[nodiscard]] const std::int64_t* lengths() const;
  [[nodiscard]] const std::int64_t* row_ids() const;    ///< total() of them
  [[nodiscard]] const std::int64_t* positions() const;  ///< total() of them
  /// As int32: an Error of Fault::overflow where a number does not fit.
  [[nodiscard]] const std::int32_t* lengths32() const;
  [[nodiscard]] const std::int32_t* offsets32() const;

  /// The level that cuts what lies in the sequences of `child` as this one cuts the sequences themselves.
  /// That of the `child` that was asked for last is kept for as long as this level lives. An Error names
  /// `argument` where this level does not cut as many sequences as there are.
  [[nodiscard]] Level compose(const Level& child, std::string_view argument = "levels") const;

  /// One and the same, which needs no look at the numbers.
  [[nodiscard]] bool is(const Level& other) const noexcept { return state_ == other.state_; }
  [[nodiscard]] bool operator==(const Level& other) const noexcept;

  /// An object that a language's binding keeps for this level, so that one level is one object there. Not
  /// owned, not looked at.
  [[nodiscard]] void* companion() const noexcept;
  void set_companion(void* object) const noexcept;

 private:
  struct State;
  explicit Level(std::shared_ptr<State> state) noexcept;

  std::shared_ptr<State> state_;
  Offsets view_;
};

}  // namespace varlen
