#include "body.hpp"
#include "products.hpp"
#include "support/divisor.hpp"
#include "support/elements.hpp"
#include "support/launch.hpp"
#include "support/view.hpp"
#include "varlen/cuda/scan.hpp"

namespace varlen::cuda {

namespace {

/// A thread a sequence and column.
struct Threads {
  Ends level;
  std::int64_t columns;
  Divisor by_columns;

  Threads(Offsets offsets, std::int64_t all_columns) noexcept
      : level{{offsets.ends, offsets.count}},
        columns(all_columns),
        by_columns(all_columns, offsets.count * all_columns) {}

  [[nodiscard]] Grid grid() const noexcept {
    Grid grid;
    grid.blocks = blocks_for(level.ends.count * columns, grid.threads);
    return grid;
  }
};

struct WhichBackBody {
  static constexpr bool kNoBarrier = true;

  Threads threads;
  Elements<const std::byte> dy;
  View<const std::int64_t> which;
  Elements<std::byte> out;

  template <class Thread>
  VARLEN_DEVICE void operator()(Thread& thread) const {
    const std::int64_t item = thread.block() * thread.threads() + thread.index();
    if (item >= threads.level.count() * threads.columns) return;
    const std::int64_t i = threads.by_columns.quotient(item);
    const std::int64_t first = threads.level.start(i) * threads.columns + item - i * threads.columns;
    const std::int64_t rows = threads.level.length(i);
    for (std::int64_t r = 0; r < rows; ++r) out.write(first + r * threads.columns, 0.0);
    // A run of the same place is added up before it is written.
    std::int64_t place = -1;
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t element = first + r * threads.columns;
      const std::int64_t next = which[element];
      if (next != place) {
        put(first, rows, place, sum);
        place = next;
        sum = -0.0;
      }
      sum += number_at(dy, element);
    }
    put(first, rows, place, sum);
  }

 private:
  template <class Byte>
  [[nodiscard]] static VARLEN_DEVICE double number_at(const Elements<Byte>& from, std::int64_t element) {
    const std::int64_t places[1] = {element};
    double numbers[1] = {};
    from.read(places, numbers);
    return numbers[0];
  }

  VARLEN_DEVICE void put(std::int64_t first, std::int64_t rows, std::int64_t place, double sum) const {
    if (place < 0 || place >= rows) return;
    const std::int64_t element = first + place * threads.columns;
    out.write(element, number_at(out, element) + sum);
  }
};

struct ProdBackIo {
  Elements<const std::byte> dy;
  Elements<const std::byte> values;
  Elements<const std::byte> prefixes;
  Elements<std::byte> out;

  template <int n>
  VARLEN_DEVICE void read(const std::int64_t (&places)[n], ProdBackFold::Word (&words)[n]) const {
    double d[n] = {};
    double x[n] = {};
    dy.read(places, d);
    values.read(places, x);
    VARLEN_UNROLLED for (int j = 0; j < n; ++j) words[j] = {d[j], x[j]};
  }
  VARLEN_DEVICE void write(std::int64_t element, const ProdBackFold::Word& word) const {
    const std::int64_t places[1] = {element};
    double product[1] = {};
    prefixes.read(places, product);
    out.write(element, word.d == 0 ? 0 : product[0] * word.d);
  }
};

[[nodiscard]] Type type_of_products(Type type) noexcept {
  return type == Type::f64 ? Type::f64 : Type::f32;
}

/// Bytes of the products before each row, whole words of 16.
[[nodiscard]] std::int64_t bytes_of_products(const ScanJob& job, std::int64_t total) noexcept {
  return blocks_for(total * job.columns * bytes_of(type_of_products(job.type)), 16) * 16;
}

}  // namespace

Error scan_which_back(Stream stream, Type type, const std::byte* dy, Offsets level, std::int64_t total,
                      std::int64_t columns, const std::int64_t* which, std::byte* out) noexcept {
  const std::int64_t numbers = total * columns;
  if (numbers == 0) return 0;
  const Threads threads(level, columns);
  return launch(stream, threads.grid(),
                WhichBackBody{threads, {dy, numbers, type}, {which, numbers}, {out, numbers, type}});
}

std::int64_t scan_prod_back_scratch(const ScanJob& job, std::int64_t total) noexcept {
  const std::int64_t products = scan_scratch(job, total);
  const std::int64_t back_scratch = scratch_of_scan<ProdBackFold>(job, total);
  return bytes_of_products(job, total) + (products > back_scratch ? products : back_scratch);
}

Error scan_prod_back(Stream stream, const ScanJob& job, std::int64_t total, const std::byte* dy,
                     std::byte* scratch, std::byte* out) noexcept {
  const std::int64_t numbers = total * job.columns;
  if (numbers == 0) return 0;
  const Type type = type_of_products(job.type);
  ScanJob products = job;
  products.exclusive = true;
  std::byte* const rest = scratch + bytes_of_products(job, total);
  if (const Error error = scan_products(stream, products, total, type, rest, scratch); error != 0) {
    return error;
  }
  const ProdBackIo io{{dy, numbers, job.type},
                      {job.values, numbers, job.type},
                      {scratch, numbers, type},
                      {out, numbers, job.type}};
  return run_scan<ProdBackFold>(stream, job, total, io, !job.reverse, rest);
}

}  // namespace varlen::cuda
