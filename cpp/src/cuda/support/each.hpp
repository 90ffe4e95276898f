// Outputs that are worked out element by element. What says the value of each:
//
//     Scope scope(first, last) const;            // what elements [first, last] have in common
//     T value(scope, element) const;
#pragma once

#include <cstdint>

#include "launch.hpp"
#include "view.hpp"
#include "word.hpp"

namespace varlen::cuda {

/// Each thread writes 16 bytes at once, where `out` is aligned to that.
template <class Value, class T>
struct Each {
  static constexpr bool kAlone = true;
  static constexpr int kElements = 16 / sizeof(T);

  Value value;
  View<T> out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t tile = static_cast<std::int64_t>(thread.threads()) * kElements;
    const std::int64_t begin = thread.block() * tile;
    const std::int64_t end = begin + tile < out.count ? begin + tile : out.count;
    const auto scope = value.scope(begin, end - 1);
    const std::int64_t first = begin + static_cast<std::int64_t>(thread.index()) * kElements;
    if (first + kElements <= end && reinterpret_cast<std::uintptr_t>(out.data) % sizeof(Word16) == 0) {
      Packed packed;
      VARLEN_UNROLLED for (int k = 0; k < kElements; ++k) packed.elements[k] = value.value(scope, first + k);
      View<Word16>{reinterpret_cast<Word16*>(out.data), out.count / kElements}[first / kElements] =
          packed.word;
      return;
    }
    for (int k = 0; k < kElements; ++k) {
      if (first + k < end) out[first + k] = value.value(scope, first + k);
    }
  }

 private:
  union Packed {
    T elements[kElements];
    Word16 word;
  };
};

/// out: `count` elements.
template <class Value, class T>
Error write_each(Stream stream, const Value& value, std::int64_t count, T* out) noexcept {
  Grid grid;
  grid.blocks = blocks_for(count, static_cast<std::int64_t>(grid.threads) * Each<Value, T>::kElements);
  return launch(stream, grid, Each<Value, T>{value, {out, count}});
}

}  // namespace varlen::cuda
