#include <cstring>

#include "support/conversion.hpp"
#include "support/launch.hpp"
#include "support/word.hpp"
#include "varlen/cuda/cast.hpp"

namespace varlen::cuda {

namespace {

/// Each thread has a few elements on their way, a block apart.
struct Cast {
  static constexpr bool kNoBarrier = true;
  static constexpr int kElements = 4;

  Conversion change;
  View<const std::byte> input;
  NumbersOut out;
  int size;  ///< of an element that is read

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const int step = thread.threads();
    const std::int64_t first = thread.block() * step * kElements + thread.index();
    const std::int64_t left = out.count - first;
    std::uint64_t bits[kElements] = {};
    with_narrow_word(size, [&](auto zero) {
      VARLEN_UNROLLED for (int k = 0; k < kElements; ++k) {
        if (k * step < left) bits[k] = word_at<decltype(zero)>(input, (first + k * step) * size);
      }
    });
    VARLEN_UNROLLED for (int k = 0; k < kElements; ++k) {
      if (k * step < left) out.put(first + k * step, static_cast<std::int64_t>(change(bits[k])));
    }
  }
};

Error run(Stream stream, const Conversion& change, const NumbersOut& out, const std::byte* input) noexcept {
  const int size = bytes_of(change.from);
  Grid grid;
  grid.blocks = blocks_for(out.count, static_cast<std::int64_t>(grid.threads) * Cast::kElements);
  return launch(stream, grid, Cast{change, {input, out.count * size}, out, size});
}

}  // namespace

Error cast(Stream stream, Type from, Type to, const std::byte* nan, const std::byte* input,
           std::int64_t count, std::byte* out) noexcept {
  std::int64_t bits = 0;
  if (nan != nullptr) std::memcpy(&bits, nan, static_cast<std::size_t>(bytes_of(to)));
  const Instead instead = nan != nullptr ? Instead::nan : Instead::none;
  return run(stream, {from, to, instead, bits}, NumbersOut(to, out, count), input);
}

Error nan_mask(Stream stream, Type from, const std::byte* input, std::int64_t count,
               std::byte* out) noexcept {
  return run(stream, {from, Type::b1, Instead::mask, 0}, NumbersOut(Type::b1, out, count), input);
}

}  // namespace varlen::cuda
