// Rows divided by the lengths of their sequences.
#include "support/divisor.hpp"
#include "support/launch.hpp"
#include "support/number.hpp"
#include "support/sequences.hpp"
#include "varlen/cuda/reduce.hpp"

namespace varlen::cuda {

namespace {

template <class T>
struct DivideByLengths {
  static constexpr bool kNoBarrier = true;

  Ends level;
  Divisor by_columns;
  AnyNumber<T> rows;
  NumbersOut out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t element = thread.block() * thread.threads() + thread.index();
    if (element >= out.count) return;
    const std::int64_t length = level.length(by_columns.quotient(element));
    const T x = rows(element);
    out.put(element, length == 0 ? x : x / static_cast<T>(length));
  }
};

template <class T>
Error divide(Stream stream, Type type, Offsets level, std::int64_t columns, const std::byte* rows,
             std::byte* out) noexcept {
  const std::int64_t elements = level.count * columns;
  if (elements == 0) return 0;
  Grid grid;
  grid.blocks = blocks_for(elements, grid.threads);
  return launch(stream, grid,
                DivideByLengths<T>{ends_of(level), Divisor(columns, elements + grid.threads),
                                   AnyNumber<T>(type, rows, elements), NumbersOut(type, out, elements)});
}

}  // namespace

Error divide_by_lengths(Stream stream, Type type, Offsets level, std::int64_t columns, const std::byte* rows,
                        std::byte* out) noexcept {
  return type == Type::f64 ? divide<double>(stream, type, level, columns, rows, out)
                           : divide<float>(stream, type, level, columns, rows, out);
}

}  // namespace varlen::cuda
