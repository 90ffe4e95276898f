#include "varlen/offsets.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"

namespace {

using varlen::Code;
using varlen::Offsets;
using varlen::Status;
using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

template <class T>
Status scan(const std::vector<T>& lengths, Ints& offsets) {
  offsets.assign(lengths.size() + 1, -1);
  return varlen::offsets_from_lengths(lengths.data(), static_cast<std::int64_t>(lengths.size()),
                                      offsets.data());
}

Offsets view(const Ints& ends) {
  return {ends.data(), static_cast<std::int64_t>(ends.size())};
}

void check_status(Status status, Code code, std::int64_t where, std::int64_t value) {
  CHECK(status.code == code);
  CHECK_EQ(status.where, where);
  CHECK_EQ(status.value, value);
}

}  // namespace

TEST(offsets, sum_lengths_of_any_type) {
  Ints offsets;
  CHECK(scan(std::vector<std::uint8_t>{200, 0, 255}, offsets).ok());
  CHECK(offsets == (Ints{0, 200, 200, 455}));
  CHECK(scan(std::vector<std::int16_t>{3, 0, 2}, offsets).ok());
  CHECK(offsets == (Ints{0, 3, 3, 5}));
  CHECK(scan(std::vector<std::uint64_t>{static_cast<std::uint64_t>(kMax)}, offsets).ok());
  CHECK_EQ(offsets[1], kMax);
}

TEST(offsets, no_sequences_have_one_zero) {
  Ints offsets;
  CHECK(scan(std::vector<std::int32_t>{}, offsets).ok());
  CHECK(offsets == Ints{0});
}

TEST(offsets, name_the_first_negative_length) {
  Ints offsets;
  Ints lengths(3000, 1);
  lengths[2049] = -7;
  lengths[2050] = -8;
  check_status(scan(lengths, offsets), Code::negative_length, 2049, -7);
  check_status(scan(std::vector<std::int8_t>{1, -128}, offsets), Code::negative_length, 1, -128);
}

TEST(offsets, refuse_sums_beyond_63_bits) {
  Ints offsets;
  CHECK(scan(Ints{kMax, 0}, offsets).ok());
  CHECK(scan(Ints{kMax, 1}, offsets).code == Code::overflow);
  CHECK(scan(Ints{kMax, kMax, kMax}, offsets).code == Code::overflow);
  CHECK(scan(std::vector<std::uint64_t>{~std::uint64_t{0}}, offsets).code == Code::overflow);
  check_status(scan(Ints{kMax, 0, 1}, offsets), Code::overflow, 2, kMax);
}

TEST(offsets, from_row_ids_count_each_sequence) {
  const Ints ids{0, 0, 2, 2, 2};
  Ints offsets(5, -1);
  CHECK(varlen::offsets_from_row_ids(ids.data(), 5, 4, offsets.data()).ok());
  CHECK(offsets == (Ints{0, 2, 2, 5, 5}));
}

TEST(offsets, from_row_ids_refuse_disorder) {
  Ints offsets(4);
  const std::array<std::int64_t, 3> down{1, 0, 2};
  check_status(varlen::offsets_from_row_ids(down.data(), 3, 3, offsets.data()), Code::row_ids_unsorted, 1, 0);
  const std::array<std::int64_t, 2> past_end{0, 3};
  check_status(varlen::offsets_from_row_ids(past_end.data(), 2, 3, offsets.data()), Code::row_ids_range, 1,
               3);
  const std::array<std::int64_t, 1> negative{-1};
  check_status(varlen::offsets_from_row_ids(negative.data(), 1, 3, offsets.data()), Code::row_ids_range, 0,
               -1);
}

TEST(offsets, check_names_the_first_bad_end) {
  CHECK(varlen::check_ends(view({}), 0).ok());
  CHECK(varlen::check_ends(view({0, 0, 4}), 4).ok());
  check_status(varlen::check_ends(view({-1}), -1), Code::decreasing, 0, -1);
  check_status(varlen::check_ends(view({2, 1, 0}), -1), Code::decreasing, 1, 1);
  check_status(varlen::check_ends(view({1, 5, 6}), 4), Code::beyond_total, 1, 5);
  Ints ends(5000, 9);
  ends[1024] = 8;  // the first of a block is compared with the last of the one before
  check_status(varlen::check_ends(view(ends), -1), Code::decreasing, 1024, 8);
}

TEST(offsets, give_lengths_ids_and_positions_back) {
  std::mt19937 random(5);
  Ints lengths(1000);
  for (auto& length : lengths) length = static_cast<std::int64_t>(random() % 4);
  Ints offsets;
  CHECK(scan(lengths, offsets).ok());
  const Offsets level{offsets.data() + 1, 1000};
  Ints again(lengths.size());
  varlen::lengths_of(level, again.data());
  CHECK(again == lengths);
  Ints ids(static_cast<std::size_t>(level.total()));
  Ints positions(ids.size());
  varlen::row_ids_of(level, ids.data());
  varlen::positions_of(level, positions.data());
  for (std::size_t j = 0; j < ids.size(); ++j) {
    CHECK_EQ(level.start(ids[j]) + positions[j], static_cast<std::int64_t>(j));
  }
  Ints round_trip(offsets.size());
  CHECK(varlen::offsets_from_row_ids(ids.data(), level.total(), level.count, round_trip.data()).ok());
  CHECK(round_trip == offsets);
}

TEST(offsets, stats_of_nothing_are_zero) {
  CHECK_EQ(varlen::level_stats(view({})).longest, 0);
  CHECK_EQ(varlen::level_stats(view({3, 3, 8})).longest, 5);
  CHECK_EQ(varlen::level_stats(view({3, 3, 8})).shortest, 0);
}
