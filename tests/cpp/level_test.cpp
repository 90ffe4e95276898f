// Levels against plain loops: what they refuse, what they keep, who owns what, many threads.
#include "varlen/model/level.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/model/error.hpp"

namespace {

using varlen::Buffer;
using varlen::Error;
using varlen::Fault;
using varlen::Level;
using varlen::test::draw;
using varlen::test::Ints;
using varlen::test::z;

Ints lengths_drawn() {
  Ints lengths(z(draw(0, 40)));
  for (auto& length : lengths) length = draw(0, 3) == 0 ? 0 : draw(0, 9);
  return lengths;
}

void check_against_loops(const Level& level, const Ints& lengths) {
  CHECK_EQ(level.count(), std::ssize(lengths));
  std::int64_t total = 0;
  std::int64_t longest = 0;
  std::int64_t shortest = lengths.empty() ? 0 : INT64_MAX;
  CHECK_EQ(level.offsets()[0], 0);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    CHECK_EQ(level.lengths()[i], lengths[i]);
    CHECK_EQ(level.lengths32()[i], static_cast<std::int32_t>(lengths[i]));
    for (std::int64_t k = 0; k < lengths[i]; ++k) {
      CHECK_EQ(level.row_ids()[total + k], static_cast<std::int64_t>(i));
      CHECK_EQ(level.positions()[total + k], k);
    }
    total += lengths[i];
    CHECK_EQ(level.offsets()[i + 1], total);
    CHECK_EQ(level.offsets32()[i + 1], static_cast<std::int32_t>(total));
    longest = std::max(longest, lengths[i]);
    shortest = std::min(shortest, lengths[i]);
  }
  CHECK_EQ(level.total(), total);
  CHECK_EQ(level.stats().longest, longest);
  CHECK_EQ(level.stats().shortest, shortest);
}

template <class Make>
void check_refused(Fault fault, const std::string& text, Make make) {
  try {
    (void)make();
    varlen::test::fail(__FILE__, __LINE__, "not refused: " + text);
  } catch (const Error& error) {
    CHECK(error.fault() == fault);
    CHECK_EQ(std::string(error.what()), text);
  }
}

}  // namespace

TEST(level, says_what_a_loop_says) {
  for (int turn = 0; turn < 300; ++turn) {
    const Ints lengths = lengths_drawn();
    const auto n = std::ssize(lengths);
    const Level level = Level::from_lengths(lengths.data(), n);
    check_against_loops(level, lengths);
    const std::vector<std::uint8_t> narrow(lengths.begin(), lengths.end());
    CHECK(Level::from_lengths(narrow.data(), n) == level);
    CHECK(Level::from_offsets(level.offsets(), n + 1) == level);
    CHECK(Level::from_bounds(level.view().ends, n) == level);
    CHECK(Level::from_row_ids(level.row_ids(), level.total(), n) == level);
    check_against_loops(Level::from_bounds(level.view().ends, n), lengths);
  }
  check_against_loops(Level(), {});
}

TEST(level, keeps_what_it_worked_out) {
  const Ints lengths{3, 0, 2};
  const Level level = Level::from_lengths(lengths.data(), 3);
  const Level copy = level;
  CHECK(copy.is(level));
  CHECK(copy.lengths() == level.lengths());
  CHECK(copy.row_ids() == level.row_ids());
  CHECK(copy.offsets() == level.offsets());
  const Level other = Level::from_lengths(lengths.data(), 3);
  CHECK(other == level);
  CHECK(!other.is(level));
  CHECK(!(Level::from_lengths(lengths.data(), 2) == level));
}

TEST(level, refuses_what_is_no_level_and_says_where) {
  const Ints negative{1, -2, 3};
  check_refused(Fault::value, "counts: row 1 has a negative length, -2",
                [&] { return Level::from_lengths(negative.data(), 3, "counts"); });
  const Ints huge{INT64_MAX, 1};
  check_refused(Fault::overflow, "lengths: the sizes up to row 1 do not fit 63 bits",
                [&] { return Level::from_lengths(huge.data(), 2); });
  const Ints falling{0, 4, 3};
  check_refused(Fault::value, "offsets: row 1 ends at 3, before the row in front of it",
                [&] { return Level::from_offsets(falling.data(), 3); });
  const Ints late{1, 4};
  check_refused(Fault::value, "offsets: offsets must start at 0, got 1",
                [&] { return Level::from_offsets(late.data(), 2); });
  check_refused(Fault::value, "offsets: offsets need at least one entry, the leading 0",
                [] { return Level::from_offsets(nullptr, 0); });
  const Ints negative_end{-1};
  check_refused(Fault::value, "bounds: row 0 ends at -1, before the row in front of it",
                [&] { return Level::from_bounds(negative_end.data(), 1); });
  const Ints wrong_order{0, 2, 1};
  check_refused(Fault::value, "row_ids: row ids must not decrease, but position 2 holds 1",
                [&] { return Level::from_row_ids(wrong_order.data(), 3); });
  const Ints far{INT64_MAX};
  check_refused(Fault::overflow, "row_ids: 9223372036854775807 sequences do not fit into memory",
                [&] { return Level::from_row_ids(far.data(), 1); });
  const Ints wide{std::int64_t{1} << 31};
  const Level level = Level::from_bounds(wide.data(), 1);
  check_refused(Fault::overflow, "lengths: 2147483648 rows do not fit int32",
                [&] { return level.lengths32(); });
  check_refused(Fault::overflow, "offsets: 2147483648 rows do not fit int32",
                [&] { return level.offsets32(); });
}

TEST(level, equals_what_has_the_same_offsets_to_the_last) {
  const auto level = [](const Ints& lengths) {
    return Level::from_lengths(lengths.data(), std::ssize(lengths), "lengths");
  };
  for (const Ints& lengths : {Ints{}, Ints{0}, Ints{4}, Ints{3, 0, 2}, Ints{1, 1, 1, 1, 1, 1, 1, 1, 1}}) {
    CHECK(level(lengths) == level(lengths));
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      Ints other = lengths;
      ++other[i];
      CHECK(!(level(lengths) == level(other)));
    }
    Ints longer = lengths;
    longer.push_back(0);
    CHECK(!(level(lengths) == level(longer)));
  }
}

TEST(level, lets_go_of_what_it_shares_with_its_last_copy) {
  int n_freed = 0;
  const Ints offsets{0, 2, 5};
  {
    const std::shared_ptr<const void> owner(offsets.data(), [&](const void*) { ++n_freed; });
    Level level = Level::borrow(offsets.data(), 2, owner);
    const Level copy = level;
    level = Level();
    CHECK_EQ(n_freed, 0);
    CHECK_EQ(copy.offsets() == offsets.data(), true);
    CHECK_EQ(copy.lengths()[1], 3);
  }
  CHECK_EQ(n_freed, 1);
}

TEST(level, composes_as_a_loop_does_and_keeps_the_last) {
  for (int round = 0; round < 50; ++round) {
    const Ints outer = lengths_drawn();
    const auto parents = Level::from_lengths(outer.data(), std::ssize(outer));
    Ints inner(z(parents.total()));
    for (auto& length : inner) length = draw(0, 5);
    const auto children = Level::from_lengths(inner.data(), std::ssize(inner));
    Ints sums;
    std::size_t row = 0;
    for (const std::int64_t length : outer) {
      std::int64_t sum = 0;
      for (std::int64_t k = 0; k < length; ++k) sum += inner[row++];
      sums.push_back(sum);
    }
    const Level flat = parents.compose(children);
    check_against_loops(flat, sums);
    CHECK(parents.compose(children).is(flat));
    const auto equal = Level::from_lengths(inner.data(), std::ssize(inner));
    CHECK(!parents.compose(equal).is(flat));
    CHECK(parents.compose(equal) == flat);
  }
}

TEST(level, what_it_composed_to_dies_with_it_and_the_level_below_before) {
  const Ints offsets = {0, 2, 3};
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> below_lives = owner;
  const Ints lengths = {1, 1};
  const auto parents = Level::from_lengths(lengths.data(), 2);
  {
    const Level children = Level::borrow(offsets.data(), 2, std::move(owner));
    CHECK_EQ(parents.compose(children).total(), 3);
  }
  CHECK(below_lives.expired());
  const auto other = Level::from_lengths(offsets.data() + 1, 2);
  CHECK_EQ(parents.compose(other).total(), 5);
}

TEST(level, a_chain_of_composed_levels_longer_than_the_stack_is_freed) {
  const Ints one = {1};
  const auto unit = Level::from_lengths(one.data(), 1);
  const auto first = Level::from_lengths(one.data(), 1);
  Level middle;
  Level last = first;
  for (int i = 0; i < 800'000; ++i) {
    last = last.compose(unit);
    if (i == 400'000) middle = last;
  }
  CHECK(first.compose(unit) == last);                                // still there, held by `first`
  CHECK(first.compose(Level::from_lengths(one.data(), 1)) == last);  // lets go of the first half
  CHECK(middle.compose(unit) == last);
  middle = Level();
  CHECK_EQ(last.total(), 1);
}

TEST(level, refuses_to_compose_what_does_not_fit) {
  const Ints lengths = {2, 1};
  const auto parents = Level::from_lengths(lengths.data(), 2);
  check_refused(Fault::value,
                "levels: the lengths of one level add up to 3, but the one below it has 2 sequences",
                [&] { return parents.compose(parents); });
}

TEST(level, composes_alike_for_many_threads) {
  const Ints twos(1000, 2);
  const Ints threes(2000, 3);
  const auto parents = Level::from_lengths(twos.data(), 1000);
  const auto children = Level::from_lengths(threes.data(), 2000);
  std::vector<Level> results(8);
  std::vector<std::thread> threads;
  for (auto& level : results) threads.emplace_back([&] { level = parents.compose(children); });
  for (auto& thread : threads) thread.join();
  // Who meets another at it does not wait, and has a level of its own.
  for (const Level& level : results) CHECK(level == results[0]);
  const Level composed_level = parents.compose(children);
  CHECK(std::any_of(results.begin(), results.end(),
                    [&](const Level& level) { return level.is(composed_level); }));
  CHECK(parents.compose(children).is(composed_level));
  CHECK_EQ(composed_level.stats().longest, 6);
}

TEST(level, answers_many_threads_alike) {
  for (int turn = 0; turn < 30; ++turn) {
    Ints ends(1000);
    std::int64_t total = 0;
    for (auto& end : ends) end = total += draw(0, 5);
    const Level level = Level::from_bounds(ends.data(), 1000);
    std::atomic<int> ready{0};
    std::vector<const std::int64_t*> pointers(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < pointers.size(); ++t) {
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < 4) std::this_thread::yield();
        const Level mine = level;
        pointers[t] = mine.row_ids();
        if (mine.stats().longest > 5 || mine.positions()[0] != 0 || mine.lengths()[999] > 5)
          pointers[t] = nullptr;
      });
    }
    for (auto& thread : threads) thread.join();
    for (const auto* one : pointers) CHECK(one == level.row_ids());
  }
}

TEST(memory, large_blocks_are_used_again) {
  varlen::release_memory();
  const void* address = nullptr;
  {
    const Buffer block(varlen::kLarge + 5);
    address = block.data();
    CHECK_EQ(block.size(), varlen::kLarge + 5);
  }
  Buffer again(varlen::kLarge + 900);
  CHECK(again.data() == address);
  std::memset(again.data(), 1, z(again.size()));
  const Buffer other(varlen::kLarge);
  CHECK(other.data() != address);
  const Buffer new_owner = std::move(again);
  CHECK(new_owner.data() == address);
  CHECK(again.data() == nullptr);  // NOLINT(bugprone-use-after-move)
  CHECK_EQ(varlen::release_memory(), 0);
}

TEST(memory, blocks_that_the_system_may_take_are_used_again) {
  constexpr std::int64_t kBytes = std::int64_t{64} << 20;
  varlen::release_memory();
  const void* address = nullptr;
  for (unsigned char mark = 1; mark <= 3; ++mark) {
    Buffer block(kBytes);
    CHECK(address == nullptr || block.data() == address);
    address = block.data();
    std::memset(block.data(), mark, z(kBytes));
    const auto* const bytes = block.as<unsigned char>();
    bool is_whole = true;
    for (std::int64_t at = 0; at < kBytes; at += 512) is_whole = is_whole && bytes[at] == mark;
    CHECK(is_whole);
  }
  CHECK(varlen::release_memory() >= kBytes);
}

TEST(memory, large_blocks_belong_to_one_thread_at_a_time) {
  std::atomic<int> borrow{0};
  const auto work = [&borrow](unsigned char mark) {
    for (std::int64_t k = 0; k < 400; ++k) {
      Buffer one(varlen::kLarge + k % 7 * 4096);
      Buffer two(varlen::kLarge);
      auto* const first = one.as<unsigned char>();
      auto* const second = two.as<unsigned char>();
      for (std::int64_t at = 0; at < varlen::kLarge; at += 4096) first[at] = second[at] = mark;
      for (std::int64_t at = 0; at < varlen::kLarge; at += 4096) {
        if (first[at] != mark || second[at] != mark || first == second) ++borrow;
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned char mark = 1; mark <= 4; ++mark) threads.emplace_back(work, mark);
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(borrow.load(), 0);
  varlen::release_memory();
}

TEST(memory, sizes_that_fit_no_machine_are_refused) {
  check_refused(Fault::overflow, "9223372036854775807 entries of 8 bytes do not fit 63 bits",
                [] { return varlen::buffer_of(INT64_MAX, 8); });
  bool threw = false;
  try {
    const Buffer block(INT64_MAX);
  } catch (const std::bad_alloc&) {
    threw = true;
  }
  CHECK(threw);
}
