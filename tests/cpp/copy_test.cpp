// Copies write what they were asked to and nothing beside it, wherever both ends lie.
#include "varlen/copy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "check.hpp"
#include "pad_draw.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::noise;
using varlen::test::z;

TEST(copy, takes_all_bytes_and_touches_no_other) {
  constexpr std::int64_t kRoom = 64;
  const auto one = [](std::int64_t bytes, std::int64_t from, std::int64_t to, auto copy) {
    const Bytes in = noise(from + bytes);  // ends where the copy does: reads past it are caught
    const Bytes original = noise(to + bytes + kRoom);
    Bytes out = original;
    copy(out.data() + to, in.data() + from, bytes);
    Bytes want = original;
    std::copy(in.begin() + from, in.end(), want.begin() + to);
    CHECK(out == want);
  };
  for (std::int64_t bytes = 0; bytes < 600; ++bytes) {
    one(bytes, draw(0, 63), draw(0, 63), varlen::copy_bytes);
    one(bytes, draw(0, 63), draw(0, 63), varlen::copy_exact);
  }
  for (const std::int64_t edge : {2048, 16384, 1 << 20}) {
    for (int turn = 0; turn < 60; ++turn) {
      one(edge + draw(-130, 130), draw(0, 63), draw(0, 63), varlen::copy_bytes);
    }
  }
}

TEST(copy, fills_all_bytes_and_touches_no_other) {
  constexpr std::int64_t kRoom = 64;
  const auto one = [](std::int64_t bytes, std::int64_t to) {
    const std::byte value{static_cast<unsigned char>(draw(0, 255))};
    const Bytes original = noise(to + bytes + kRoom);
    Bytes out = original;
    varlen::fill_bytes(out.data() + to, value, bytes);
    Bytes want = original;
    std::fill_n(want.begin() + to, bytes, value);
    CHECK(out == want);
  };
  for (std::int64_t bytes = 0; bytes < 600; ++bytes) one(bytes, draw(0, 63));
  for (int turn = 0; turn < 60; ++turn) one(32768 + draw(-130, 130), draw(0, 63));
}
