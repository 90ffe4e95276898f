// Rows without those that equal a token, on the device: the rows and the level that the CPU gives.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/erase.hpp"
#include "varlen/erase.hpp"
#include "varlen/offsets.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

template <class T>
void check(Type type, std::int64_t n, std::int64_t longest, std::int64_t token_count) {
  const Nest nest = draw_nest(n, 1, longest, 0);
  const Offsets level = nest.levels[0];
  const std::int64_t total = level.total();
  // Small numbers come again; all bits of the others count.
  const auto draw_word = [] { return static_cast<T>(draw(0, 3) == 0 ? dice()() : dice()() % 7); };
  std::vector<T> values(z(total)), tokens(z(token_count)), want(z(total));
  for (T& value : values) value = draw_word();
  for (T& token : tokens) token = draw_word();
  std::sort(tokens.begin(), tokens.end());
  const Rows rows{reinterpret_cast<const std::byte*>(values.data()), total, sizeof(T)};
  const auto* const token_bytes = reinterpret_cast<const std::byte*>(tokens.data());
  Ints ends(z(n)), lengths(z(n), -1);
  want.resize(z(erase_rows(rows, level, token_bytes, token_count, reinterpret_cast<std::byte*>(want.data()),
                           ends.data())));
  const Offsets left{ends.data(), n};

  const std::int64_t max_len = level_stats(level).longest;
  Bytes scratch(z(cuda::erase_scratch(total, max_len)));
  CHECK_EQ(cuda::erase_find(kStream, type, rows, level, max_len, token_bytes, token_count, scratch.data(),
                            lengths.data()),
           0);
  for (std::int64_t i = 0; i < n; ++i) CHECK_EQ(lengths[z(i)], left.length(i));
  std::vector<T> got(z(left.total()));
  CHECK_EQ(cuda::erase_take(kStream, rows, level, scratch.data(), left, left.total(),
                            reinterpret_cast<std::byte*>(got.data())),
           0);
  CHECK(got == want);
}

template <class T>
void check_all(Type type) {
  for (const std::int64_t token_count : {0, 1, 5, 40}) {
    check<T>(type, draw(0, 30), 12, token_count);
    check<T>(type, 3, 700, token_count);
  }
  check<T>(type, 60, 0, 3);
  check<T>(type, 1, 20'000, 3);
}

}  // namespace

TEST(cuda_erase, rows_are_those_of_the_cpu) {
  set_num_threads(1);
  check_all<std::uint8_t>(Type::u8);
  check_all<std::uint16_t>(Type::u16);
  check_all<std::uint32_t>(Type::u32);
  check_all<std::uint64_t>(Type::u64);
}

TEST(cuda_erase, any_byte_but_0_is_true) {
  const std::int64_t ends[] = {4};
  const unsigned char bools[] = {0, 1, 7, 255};
  const std::byte token{1};
  const Rows rows{reinterpret_cast<const std::byte*>(bools), 4, 1};
  Bytes scratch(z(cuda::erase_scratch(4, 4)));
  std::int64_t length = -1;
  CHECK_EQ(cuda::erase_find(kStream, Type::b1, rows, {ends, 1}, 4, &token, 1, scratch.data(), &length), 0);
  CHECK_EQ(length, 1);
}
