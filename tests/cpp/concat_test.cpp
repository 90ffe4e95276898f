// Blocks of any size end to end, and levels counted on.
#include "varlen/concat.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"
#include "varlen/pool.hpp"

namespace {

using varlen::Offsets;
using Ints = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;

}  // namespace

TEST(concat, lays_blocks_of_any_size_end_to_end) {
  std::mt19937 random(7);
  for (const int threads : {1, 3}) {
    varlen::set_num_threads(threads);
    std::vector<Bytes> parts;
    Bytes want;
    for (std::int64_t k = 0; k < 400; ++k) {
      Bytes part(static_cast<std::size_t>(k % 100 == 99 ? 700'000 : static_cast<int>(random() % 150)));
      for (std::byte& b : part) b = static_cast<std::byte>(random() & 255);
      want.insert(want.end(), part.begin(), part.end());
      parts.push_back(std::move(part));
    }
    std::vector<varlen::ConcatBlock> blocks;
    std::int64_t end = 0;
    for (const Bytes& part : parts) blocks.push_back({part.data(), end += std::ssize(part)});
    Bytes out(want.size());
    varlen::concat(blocks.data(), std::ssize(blocks), out.data());
    CHECK(out == want);
  }
}

TEST(concat, counts_levels_on) {
  const Ints a{1, 3};
  const Ints b{0, 4, 4};
  const std::vector<Offsets> levels{{a.data(), 2}, {nullptr, 0}, {b.data(), 3}};
  Ints out(5);
  CHECK(varlen::concat_ends(levels.data(), 3, out.data()).ok());
  CHECK(out == (Ints{1, 3, 3, 7, 7}));
}

TEST(concat, weaves_sequences_of_all_parts) {
  for (const int threads : {1, 3}) {
    varlen::set_num_threads(threads);
    for (const std::int64_t width : {1, 4, 24}) {
      for (const std::int64_t max_length : {3, 90, 4'000}) {
        const std::int64_t count = max_length > 100 ? 40 : 300;
        std::vector<varlen::test::RandomLevel> random_levels;
        std::vector<Bytes> contents;
        std::vector<varlen::Part> parts;
        std::vector<Offsets> levels;
        for (int p = 0; p < 3; ++p)
          random_levels.push_back(varlen::test::draw_level(count, p == 1 ? max_length / 3 : max_length));
        for (const auto& random_level : random_levels) {
          Bytes rows(static_cast<std::size_t>(random_level.level().total() * width));
          for (std::size_t k = 0; k < rows.size(); ++k)
            rows[k] = static_cast<std::byte>((k * 31 + contents.size()) & 255);
          contents.push_back(std::move(rows));
          levels.push_back(random_level.level());
        }
        for (std::size_t p = 0; p < contents.size(); ++p) {
          parts.push_back({contents[p].data(), levels[p].ends});
        }
        Bytes want;
        for (std::int64_t i = 0; i < count; ++i) {
          for (std::size_t p = 0; p < contents.size(); ++p) {
            const auto begin = contents[p].begin() + levels[p].start(i) * width;
            want.insert(want.end(), begin, begin + levels[p].length(i) * width);
          }
        }
        Ints ends(static_cast<std::size_t>(count));
        CHECK(varlen::interleave_ends(levels.data(), 3, ends.data()).ok());
        Bytes out(want.size());
        varlen::interleave(parts.data(), 3, width, {ends.data(), count}, out.data());
        CHECK(out == want);
      }
    }
  }
}

TEST(concat, weaves_no_sequences_and_refuses_too_many_rows) {
  const varlen::Part none;
  const Offsets empty{nullptr, 0};
  CHECK(varlen::interleave_ends(&empty, 1, nullptr).ok());
  varlen::interleave(&none, 1, 4, empty, nullptr);
  const Ints ends{INT64_MAX};
  const std::vector<Offsets> levels{{ends.data(), 1}, {ends.data(), 1}};
  Ints out(1);
  const varlen::Status status = varlen::interleave_ends(levels.data(), 2, out.data());
  CHECK(status.code == varlen::Code::overflow && status.where == 1);
}
