// Outputs that are worked out element by element. What says the value of each:
//
//     Scope scope(first, last) const;            // what elements [first, last] have in common
//     T value(scope, element) const;
#pragma once

#include <cstdint>
#include <type_traits>

#include "launch.hpp"
#include "view.hpp"
#include "word.hpp"

namespace varlen::cuda {

/// Each thread writes a word of several elements at once, where `out` is aligned to it.
template <class Value, class T>
struct WriteWords {
  static constexpr bool kNoBarrier = true;
  using Word = std::conditional_t<sizeof(T) == 1, std::uint32_t, Word16>;
  static constexpr int kElements = sizeof(Word) / sizeof(T);

  Value value;
  View<T> out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t tile = static_cast<std::int64_t>(thread.threads()) * kElements;
    const std::int64_t begin = thread.block() * tile;
    const std::int64_t end = begin + tile < out.count ? begin + tile : out.count;
    const auto scope = value.scope(begin, end - 1);
    const std::int64_t first = begin + static_cast<std::int64_t>(thread.index()) * kElements;
    if (first + kElements <= end && reinterpret_cast<std::uintptr_t>(out.data) % sizeof(Word) == 0) {
      Packed packed;
      VARLEN_UNROLLED for (int k = 0; k < kElements; ++k) packed.elements[k] = value.value(scope, first + k);
      View<Word>{reinterpret_cast<Word*>(out.data), out.count / kElements}[first / kElements] = packed.word;
      return;
    }
    VARLEN_ROLLED for (int k = 0; k < kElements; ++k) {
      if (first + k < end) out[first + k] = value.value(scope, first + k);
    }
  }

 private:
  union Packed {
    T elements[kElements];
    Word word;
  };
};

/// Each thread writes one element: for values whose code is long, or that take longer than their bytes.
template <class Value, class T>
struct WriteElements {
  static constexpr bool kNoBarrier = true;

  Value value;
  View<T> out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t begin = thread.block() * thread.threads();
    const std::int64_t end = begin + thread.threads() < out.count ? begin + thread.threads() : out.count;
    const std::int64_t element = begin + thread.index();
    if (element < end) out[element] = value.value(value.scope(begin, end - 1), element);
  }
};

template <class Value, class T>
Error write_each_alone(Stream stream, const Value& value, std::int64_t count, T* out) noexcept {
  Grid grid;
  grid.blocks = blocks_for(count, grid.threads);
  return launch(stream, grid, WriteElements<Value, T>{value, {out, count}});
}

/// out: `count` elements.
template <class Value, class T>
Error write_each(Stream stream, const Value& value, std::int64_t count, T* out) noexcept {
  Grid grid;
  grid.blocks = blocks_for(count, static_cast<std::int64_t>(grid.threads) * WriteWords<Value, T>::kElements);
  return launch(stream, grid, WriteWords<Value, T>{value, {out, count}});
}

}  // namespace varlen::cuda
