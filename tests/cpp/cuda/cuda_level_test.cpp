// What people ask of a level, on the device: the numbers that the CPU gives.
#include <cstdint>
#include <cstring>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/mask.hpp"
#include "varlen/cuda/offsets.hpp"
#include "varlen/mask.hpp"
#include "varlen/offsets.hpp"
#include "varlen/status.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

template <class T>
using Numbers = std::vector<T>;

/// What a device makes of numbers: facts, then offsets.
struct BuiltLevel {
  Ints words;
  std::int64_t verdict = 0;

  template <class T>
  BuiltLevel(const Numbers<T>& numbers, bool are_offsets, std::int64_t total, std::int64_t max_len) {
    cuda::OffsetsJob job;
    job.is_wide = sizeof(T) == 8;
    job.numbers = reinterpret_cast<const std::byte*>(numbers.data());
    job.n = static_cast<std::int64_t>(numbers.size()) - (are_offsets ? 1 : 0);
    job.are_offsets = are_offsets;
    job.total = total;
    job.max_len = max_len;
    words.assign(z(cuda::kFacts + job.n + 1), -7);
    job.out = words.data();
    job.verdict = &verdict;
    job.stamp = 5;
    Bytes scratch(z(cuda::offsets_from_scratch(job.n)));
    CHECK_EQ(cuda::offsets_from(kStream, job, scratch.data()), 0);
  }

  [[nodiscard]] std::int64_t fact(cuda::Fact fact) const { return words[static_cast<std::size_t>(fact)]; }
  [[nodiscard]] Ints offsets() const { return {words.begin() + cuda::kFacts, words.end()}; }
  [[nodiscard]] Offsets level() const {
    return {words.data() + cuda::kFacts + 1, static_cast<std::int64_t>(words.size()) - cuda::kFacts - 1};
  }

  /// Of numbers that lie: what was found is told, and the offsets are good ones all the same.
  void check_lie(Code code, std::int64_t where, std::int64_t value, std::int64_t total,
                 std::int64_t max_len) const {
    CHECK_EQ(fact(cuda::Fact::fault), static_cast<std::int64_t>(code));
    CHECK_EQ(fact(cuda::Fact::where), where);
    CHECK_EQ(fact(cuda::Fact::value), value);
    CHECK_EQ(verdict, 5);
    CHECK_EQ(offsets()[0], 0);
    CHECK(check_ends(level(), total).ok());
    CHECK_EQ(level().total(), total);
    CHECK(max_len < 0 || level_stats(level()).longest <= max_len);
  }
};

template <class T>
void check_born(std::int64_t n, std::int64_t longest) {
  Numbers<T> lengths(z(n));
  for (T& length : lengths) length = static_cast<T>(draw(0, longest));
  Ints offsets(z(n + 1));
  LevelStats stats;
  CHECK(offsets_from_lengths(lengths.data(), n, offsets.data(), &stats).ok());
  const BuiltLevel built_level(lengths, false, draw(0, 1) == 0 ? -1 : offsets.back(),
                               draw(0, 1) == 0 ? -1 : stats.longest);
  CHECK(built_level.offsets() == offsets);
  CHECK_EQ(built_level.verdict, 0);
  CHECK_EQ(built_level.fact(cuda::Fact::fault), 0);
  CHECK_EQ(built_level.fact(cuda::Fact::value), offsets.back());
  const BuiltLevel again(offsets, true, -1, -1);
  CHECK(again.offsets() == offsets);
  CHECK_EQ(again.verdict, 0);
}

}  // namespace

TEST(cuda_level, numbers_are_those_of_the_cpu) {
  for (int turn = 0; turn < turns_of_one_thread(400); ++turn) {
    const Nest nest = draw_nest(draw(0, 70), 1, draw(0, 9) == 0 ? 5000 : 9, 0);
    const Offsets level = nest.levels[0];
    const std::int64_t total = level.total();
    Ints want(z(total)), got(z(total), -1), lengths(z(level.count)), got_lengths(z(level.count), -1);
    row_ids_of(level, want.data());
    CHECK_EQ(cuda::row_ids_of(kStream, level, total, got.data()), 0);
    CHECK(got == want);
    positions_of(level, want.data());
    CHECK_EQ(cuda::positions_of(kStream, level, total, got.data()), 0);
    CHECK(got == want);
    lengths_of(level, lengths.data());
    CHECK_EQ(cuda::lengths_of(kStream, level, got_lengths.data()), 0);
    CHECK(got_lengths == lengths);
    Numbers<std::int32_t> offsets(z(level.count + 1)), got_offsets(z(level.count + 1), -1);
    offsets_of(level, offsets.data());
    CHECK_EQ(cuda::offsets_of(kStream, level, got_offsets.data()), 0);
    CHECK(got_offsets == offsets);
  }
}

TEST(cuda_level, block_mask_is_that_of_the_cpu) {
  for (int turn = 0; turn < turns_of_one_thread(300); ++turn) {
    const Nest nest = draw_nest(draw(0, 9), 1, 12, 0);
    const Offsets level = nest.levels[0];
    const std::int64_t total = level.total();
    const std::int64_t unit = std::int64_t{1} << draw(0, 3);
    const Bytes two = noise(2 * unit);
    const AttentionWindow window{draw(0, 1) == 0 ? INT64_MAX : draw(0, 5),
                                 draw(0, 1) == 0 ? INT64_MAX : draw(0, 5)};
    Bytes want(z(total * total * unit)), got(z(total * total * unit));
    block_mask(level, window, {two.data(), unit}, {two.data() + unit, unit}, want.data());
    CHECK_EQ(cuda::block_mask(kStream, level, total, window, unit, two.data(), two.data() + unit, got.data()),
             0);
    CHECK(got == want);
  }
}

TEST(cuda_level, offsets_are_those_of_the_cpu) {
  for (const std::int64_t n : {0, 1, 2, 31, 511, 513, 3000}) {
    check_born<std::int64_t>(n, 9);
    check_born<std::int32_t>(n, 100'000);
  }
  for (const std::int64_t n : {8192, 8193, 20'000}) check_born<std::int32_t>(n, 5);
}

TEST(cuda_level, offsets_are_good_ones_whatever_the_numbers_are) {
  Ints lengths{3, 0, 4, 1};
  BuiltLevel(lengths, false, 9, -1).check_lie(Code::total_mismatch, 0, 8, 9, -1);
  BuiltLevel(lengths, false, 8, 3).check_lie(Code::too_long, 2, 4, 8, 3);
  lengths[1] = -2;
  BuiltLevel(lengths, false, 6, 2).check_lie(Code::negative_length, 1, -2, 6, 2);
  BuiltLevel(lengths, false, -1, -1).check_lie(Code::negative_length, 1, -2, 0, -1);
  lengths[1] = INT64_MAX - 1;
  BuiltLevel(lengths, false, 7, -1).check_lie(Code::overflow, 1, INT64_MAX, 7, -1);
  const Ints offsets{0, 5, 3, 9};
  BuiltLevel(offsets, true, 9, -1).check_lie(Code::decreasing, 2, 3, 9, -1);
  BuiltLevel(Ints{1, 5}, true, 4, 9).check_lie(Code::first_not_zero, 0, 1, 4, 9);
  BuiltLevel(Ints{2}, true, 0, -1).check_lie(Code::first_not_zero, 0, 2, 0, -1);
  Ints many_lengths(z(20'000), 1);
  many_lengths[z(19'999)] = -1;
  BuiltLevel(many_lengths, false, 50'001, 3).check_lie(Code::negative_length, 19'999, -1, 50'001, 3);
  many_lengths[z(19'999)] = 2;
  BuiltLevel(many_lengths, false, 20'000, -1).check_lie(Code::total_mismatch, 0, 20'001, 20'000, -1);
  many_lengths[z(9'000)] = INT64_MAX;
  BuiltLevel(many_lengths, false, 20'000, -1).check_lie(Code::overflow, 9'000, INT64_MAX, 20'000, -1);
}
