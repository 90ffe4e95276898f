// Edit distances of the words are those of the plain table, in memory that ends where it was said to.
#include "varlen/edit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::draw_level;
using varlen::test::RandomLevel;
using varlen::test::z;

namespace {

using Keys = std::vector<std::int64_t>;

Keys keys_of(const RandomLevel& of, std::int64_t max_key, std::int64_t spread) {
  Keys keys(z(of.level().total()));
  for (std::int64_t& key : keys) key = draw(0, max_key) * spread;
  return keys;
}

std::vector<std::int64_t> run(varlen::EditJob job, std::vector<std::int64_t>* counts = nullptr) {
  job.wants_counts = counts != nullptr;
  if (!job.wants_counts) find_range(job);
  const varlen::WorkShares shares = edit_shares(job);
  Bytes scratch(z(shares.bytes));
  std::vector<std::int64_t> distances(z(job.a.count), -1);
  if (counts != nullptr) counts->assign(z(3 * job.a.count), -1);
  edit_distance(job, shares, scratch.data(), distances.data(), counts == nullptr ? nullptr : counts->data());
  return distances;
}

void words_are_the_table(std::int64_t count, std::int64_t longest, std::int64_t keys, std::int64_t spread) {
  const RandomLevel a = draw_level(count, longest);
  const RandomLevel b = draw_level(count, longest);
  const Keys a_keys = keys_of(a, keys, spread);
  const Keys b_keys = keys_of(b, keys, spread);
  varlen::EditJob job{a.level(), b.level()};
  job.a_keys = a_keys.data();
  job.b_keys = b_keys.data();
  std::vector<std::int64_t> counts;
  const std::vector<std::int64_t> by_table = run(job, &counts);
  CHECK(run(job) == by_table);
  for (std::int64_t i = 0; i < count; ++i) {
    CHECK_EQ(counts[z(3 * i)] + counts[z(3 * i + 1)] + counts[z(3 * i + 2)], by_table[z(i)]);
  }
}

}  // namespace

TEST(edit, words_are_the_table) {
  for (const std::int64_t longest : {0, 3, 64, 65, 130, 300, 700}) {
    for (const std::int64_t keys : {0, 1, 5, 200}) {
      words_are_the_table(7, longest, keys, 1);
      words_are_the_table(7, longest, keys, std::int64_t{1} << 40);
    }
  }
}

TEST(edit, threads_change_nothing) {
  const int threads = varlen::num_threads();
  varlen::set_num_threads(3);
  words_are_the_table(400, 150, 9, 1);
  words_are_the_table(400, 150, 9, std::int64_t{1} << 33);
  varlen::set_num_threads(threads);
}
