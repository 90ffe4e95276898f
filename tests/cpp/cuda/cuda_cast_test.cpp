// Elements of one dtype as another on the device: to the bit what the CPU makes of them.
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cast.hpp"
#include "varlen/cuda/cast.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

constexpr Type kTypes[] = {Type::b1,  Type::i8,  Type::i16, Type::i32,  Type::i64, Type::u8, Type::u16,
                           Type::u32, Type::u64, Type::f16, Type::bf16, Type::f32, Type::f64};

/// Elements of any bits, of few bits, and of those that are next to a power of two.
Bytes draw_bits(Type type, std::int64_t count) {
  const std::int64_t size = size_of(type);
  Bytes result = noise(count * size);
  for (std::int64_t k = 0; k < count; ++k) {
    std::byte* const number = result.data() + k * size;
    if (type == Type::b1) *number = static_cast<std::byte>(draw(0, 1));
    // NaN is quiet: how loud ones become so is the processor's.
    if (type == Type::f32) number[2] |= std::byte{0x40};
    if (type == Type::bf16) number[0] |= std::byte{0x40};
    if (type == Type::f64) number[6] |= std::byte{0x08};
    if (type == Type::b1 || is_float(type)) continue;
    const std::int64_t power = std::int64_t{1} << draw(0, 62);
    const std::int64_t values[] = {draw(-9, 9), power + draw(-2, 2), power + (power >> draw(20, 60)), -power};
    if (draw(0, 2) > 0) std::memcpy(number, &values[draw(0, 3)], z(size));
  }
  return result;
}

/// The elements that fit, as the verbs of the host find out.
Bytes fitting(Type from, Type to, bool skip_nan, const Bytes& all) {
  const std::int64_t size = size_of(from);
  Bytes result;
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(all.size()); at += size) {
    if (cast_check(from, to, skip_nan, all.data() + at, 1).ok()) {
      result.insert(result.end(), all.begin() + at, all.begin() + at + size);
    }
  }
  return result;
}

void check_cast(Type from, Type to, std::int64_t count, const std::byte* nan) {
  const Bytes in = fitting(from, to, nan != nullptr, draw_bits(from, count));
  const std::int64_t n = static_cast<std::int64_t>(in.size()) / size_of(from);
  Bytes want(z(n * size_of(to))), got = noise(n * size_of(to));
  const Convert how = cast_of(from, to, nan);
  if (how.run == nullptr) {
    want = in;
  } else {
    cast(how, in.data(), n, want.data());
  }
  CHECK_EQ(cuda::cast(kStream, from, to, nan, in.data(), n, got.data()), 0);
  CHECK(got == want);
}

}  // namespace

TEST(cuda_cast, elements_are_those_of_the_cpu) {
  set_num_threads(1);
  const Bytes nan(8, std::byte{0x11});
  for (const Type from : kTypes) {
    for (const Type to : kTypes) {
      for (const std::int64_t count : {0, 1, 255, 1500}) {
        if (from != to) check_cast(from, to, count, nullptr);
      }
      if (is_float(from)) check_cast(from, to, 1500, nan.data());
    }
  }
}

TEST(cuda_cast, finite_numbers_that_are_too_large_become_infinite) {
  const float numbers[] = {65519, 65520, -1e30F};
  std::uint16_t halves[3];
  CHECK_EQ(cuda::cast(kStream, Type::f32, Type::f16, nullptr, reinterpret_cast<const std::byte*>(numbers), 3,
                      reinterpret_cast<std::byte*>(halves)),
           0);
  CHECK_EQ(halves[0], 0x7bff);
  CHECK_EQ(halves[1], 0x7c00);
  CHECK_EQ(halves[2], 0xfc00);
}

TEST(cuda_cast, masks_say_where_nan_is) {
  set_num_threads(1);
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
    for (const std::int64_t count : {0, 1, 700}) {
      Bytes in = noise(count * size_of(type));
      for (std::int64_t k = 0; k < count; k += draw(1, 3)) {
        std::memset(in.data() + k * size_of(type), 0xff, z(size_of(type)));
      }
      Bytes want(z(count)), got(z(count), std::byte{7});
      cast(nan_mask_of(type), in.data(), count, want.data());
      CHECK_EQ(cuda::nan_mask(kStream, type, in.data(), count, got.data()), 0);
      CHECK(got == want);
    }
  }
}
