// Blocks of any size end to end, and levels counted on.
#include "varlen/concat.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
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
    std::vector<varlen::Block> blocks;
    for (const Bytes& part : parts) blocks.push_back({part.data(), static_cast<std::int64_t>(part.size())});
    Bytes out(want.size());
    varlen::concat(blocks.data(), static_cast<std::int64_t>(blocks.size()), out.data());
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
