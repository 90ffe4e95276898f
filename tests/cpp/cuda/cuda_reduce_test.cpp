// The kernels of the GPU that reduce, run thread by thread, beside those of the CPU.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/expand.hpp"
#include "varlen/cuda/reduce.hpp"
#include "varlen/expand.hpp"
#include "varlen/pool.hpp"
#include "varlen/reduce.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

constexpr Type kAllTypes[] = {Type::b1,  Type::i8,  Type::i16, Type::i32,  Type::i64, Type::u8, Type::u16,
                              Type::u32, Type::u64, Type::f16, Type::bf16, Type::f32, Type::f64};
constexpr Type kFloats[] = {Type::f16, Type::bf16, Type::f32, Type::f64};
constexpr Reduce kOps[] = {Reduce::sum, Reduce::mean,      Reduce::prod, Reduce::max,
                           Reduce::min, Reduce::any,       Reduce::all,  Reduce::norm,
                           Reduce::var, Reduce::logsumexp, Reduce::std};

/// On the heap and as long as it is.
Bytes cast_bytes(Type from, const Bytes& values, Type to) {
  const std::int64_t count = std::ssize(values) / size_of(from);
  Bytes result(z(count * size_of(to)));
  const Convert how = cast_of(from, to);
  if (how.run == nullptr) return values;
  cast(how, values.data(), count, result.data());
  return result;
}

std::vector<double> doubles(Type type, const Bytes& values) {
  const Bytes wide = cast_bytes(type, values, Type::f64);
  std::vector<double> result(wide.size() / sizeof(double));
  if (!wide.empty()) std::memcpy(result.data(), wide.data(), wide.size());
  return result;
}

/// Small numbers, some of them special where the type has such.
Bytes numbers(Type type, std::int64_t count, bool specials) {
  std::vector<double> plain(z(count));
  const bool is_signed = type >= Type::f16 || (type >= Type::i8 && type <= Type::i64);
  for (double& x : plain) {
    x = static_cast<double>(draw(is_signed ? -9 : 0, type == Type::b1 ? 1 : 9));
    if (type >= Type::f16) x = x / 4 + 0.125;
    if (!specials || type < Type::f16 || draw(0, 20) != 0) continue;
    constexpr double kSpecials[] = {0, -0.0, std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity(),
                                    std::numeric_limits<double>::quiet_NaN()};
    x = kSpecials[z(draw(0, 4))];
  }
  Bytes wide(plain.size() * sizeof(double));
  if (!wide.empty()) std::memcpy(wide.data(), plain.data(), wide.size());
  return cast_bytes(Type::f64, wide, type);
}

/// What the caller gets.
Type final_type(Reduce op, Type type) {
  if (op == Reduce::max || op == Reduce::min || (is_float(type) && op != Reduce::any && op != Reduce::all)) {
    return type;
  }
  const Type result = reduced_type(op, type);
  return result == Type::u64 && type == Type::b1 ? Type::i64 : result;
}

bool is_close(double a, double b, Type type) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  const double one = type == Type::f16 ? 2e-3 : type == Type::bf16 ? 2e-2 : type == Type::f64 ? 1e-12 : 1e-5;
  return std::fabs(a - b) <= one * (1 + std::fabs(a));
}

void check_close(const Bytes& got, const Bytes& expected, Type type) {
  const std::vector<double> a = doubles(type, got), b = doubles(type, expected);
  std::int64_t wrong = a.size() == b.size() ? 0 : 1;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) wrong += is_close(a[k], b[k], type) ? 0 : 1;
  CHECK_EQ(wrong, 0);
}

/// Whole numbers to the bit.
void check_same(const Bytes& got, const Bytes& expected, Type type) {
  if (is_float(type)) return check_close(got, expected, type);
  CHECK(got == expected);
}

Bytes on_device(const ReduceJob& job, std::int64_t total) {
  const Type type = final_type(job.op, job.type);
  Bytes scratch(z(cuda::reduce_scratch(job, total)));
  Bytes out(z(job.level.count * job.columns * size_of(type)));
  CHECK_EQ(cuda::reduce(kStream, job, total, type, scratch.data(), out.data()), 0);
  return out;
}

Bytes on_host(const ReduceJob& job, Type type) {
  const Type has = reduced_type(job.op, job.type);
  std::vector<std::int64_t> scratch(z(reduce_scratch(job) / 8));
  Bytes out(z(job.level.count * job.columns * size_of(has)));
  reduce(job, reinterpret_cast<std::byte*>(scratch.data()), out.data());
  return has == Type::u64 && type == Type::i64 ? out : cast_bytes(has, out, type);
}

void check_reduce(Reduce op, Type type, const RandomLevel& of, std::int64_t columns, bool specials) {
  const Bytes values = numbers(type, of.level().total() * columns, specials);
  ReduceJob job{op, type, of.level(), of.longest, values.data(), columns, nullptr, 0};
  if (op == Reduce::var || op == Reduce::std) job.ddof = 1;
  const Type result = final_type(op, type);
  const Bytes got = on_device(job, of.level().total());
  const Bytes expected = on_host(job, result);
  check_same(got, expected, result);
}

/// Levels at the sides of every change of ways.
std::vector<RandomLevel> levels() {
  std::vector<RandomLevel> all{draw_level(0, 1),   draw_level(9, 0),  draw_level(1, 1),
                               draw_level(300, 3), draw_level(70, 9), draw_level(40, 40)};
  all.push_back({{5, 2500, 2500, 2503, 4551, 6600, 6601}, 2495});
  return all;
}

}  // namespace

TEST(cuda_reduce, results_are_those_of_the_cpu) {
  set_num_threads(1);
  for (const RandomLevel& of : levels()) {
    for (const std::int64_t columns : {0, 1, 2, 3, 16, 17, 40}) {
      if (columns > 3 && of.longest > 100) continue;
      for (const Reduce op : kOps) {
        const Type type = kAllTypes[z(draw(0, 12))];
        check_reduce(op, type, of, columns, false);
        check_reduce(op, kFloats[z(draw(0, 3))], of, columns, op != Reduce::var && op != Reduce::std);
      }
    }
  }
}

TEST(cuda_reduce, every_dtype_is_read) {
  const RandomLevel of = draw_level(20, 40);
  for (const Type type : kAllTypes) {
    for (const std::int64_t columns : {1, 20}) {
      for (const Reduce op : {Reduce::sum, Reduce::prod, Reduce::min, Reduce::any, Reduce::mean}) {
        check_reduce(op, type, of, columns, false);
      }
    }
  }
}

TEST(cuda_reduce, a_sequence_alone_has_the_bits_it_has_in_any_batch) {
  const std::vector<std::int64_t> lengths{3, 0, 17, 33, 2047, 2048, 2049, 5000, 1, 130};
  for (const std::int64_t columns : {1, 3, 20}) {
    RandomLevel all;
    std::int64_t total = 0;
    for (int sequence = 0; sequence < 30; ++sequence) all.ends.push_back(total += draw(0, 2));
    for (const std::int64_t length : lengths) all.ends.push_back(total += length);
    all.longest = 5000;
    const Bytes values = noise(total * columns);  // of int8, as floats
    const Bytes floats = cast_bytes(Type::i8, values, Type::f32);
    for (const Reduce op : {Reduce::sum, Reduce::logsumexp, Reduce::var, Reduce::norm}) {
      const ReduceJob job{op, Type::f32, all.level(), all.longest, floats.data(), columns, nullptr, 0};
      const Bytes full_result = on_device(job, total);
      for (std::size_t k = 0; k < lengths.size(); k += columns == 1 ? 1 : 4) {
        const auto i = static_cast<std::int64_t>(30 + k);
        ReduceJob lone_job = job;
        lone_job.level = {&lengths[k], 1};
        lone_job.longest = lengths[k];
        lone_job.values += all.level().start(i) * columns * 4;
        const Bytes one = on_device(lone_job, lengths[k]);
        CHECK(std::memcmp(one.data(), full_result.data() + i * columns * 4, one.size()) == 0);
      }
    }
  }
}

TEST(cuda_reduce, empty_sequences_give_what_is_said) {
  const RandomLevel of{{0, 3, 3, 600, 600}, 597};
  for (const std::int64_t columns : {1, 2, 20}) {
    const Bytes values = numbers(Type::i16, 600 * columns, false);
    const std::int16_t seven = 7;
    ReduceJob job{Reduce::max, Type::i16, of.level(), of.longest, values.data(), columns, nullptr, 0};
    job.empty = reinterpret_cast<const std::byte*>(&seven);
    const Bytes got = on_device(job, 600);
    for (const std::int64_t i : {0, 2, 4}) {
      for (std::int64_t c = 0; c < columns; ++c) {
        std::int16_t x = 0;
        std::memcpy(&x, got.data() + (i * columns + c) * 2, 2);
        CHECK_EQ(x, 7);
      }
    }
  }
}

TEST(cuda_reduce, extremes_are_at_the_first_row_that_holds_them) {
  for (const RandomLevel& of : levels()) {
    for (const std::int64_t columns : {1, 2, 5, 20}) {
      if (columns > 2 && of.longest > 100) continue;
      for (const Reduce op : {Reduce::max, Reduce::min}) {
        const Type type = kAllTypes[z(draw(0, 12))];
        const Bytes values = numbers(type, of.level().total() * columns, true);
        const ReduceJob job{op, type, of.level(), of.longest, values.data(), columns, nullptr, 0};
        const std::size_t results = z(of.level().count * columns);
        const Bytes best = on_host(job, type);
        std::vector<std::int64_t> expected(results), wide(results);
        std::vector<std::int32_t> narrow(results);
        reduce_which(job, best.data(), {expected.data(), nullptr});
        Bytes scratch(z(cuda::reduce_scratch(job, of.level().total())));
        Bytes got(best.size());
        CHECK_EQ(cuda::reduce_extreme(kStream, job, of.level().total(), scratch.data(), got.data(),
                                      {wide.data(), nullptr}),
                 0);
        CHECK(wide == expected);
        check_same(got, best, type);
        CHECK_EQ(cuda::reduce_extreme(kStream, job, of.level().total(), scratch.data(), got.data(),
                                      {nullptr, narrow.data()}),
                 0);
        CHECK(std::equal(narrow.begin(), narrow.end(), expected.begin(), expected.end()));
      }
    }
  }
}

TEST(cuda_reduce, gradients_are_those_of_the_cpu) {
  for (const RandomLevel& of : levels()) {
    for (const std::int64_t columns : {1, 3, 20}) {
      if (columns > 1 && of.longest > 100) continue;
      for (const Reduce op : {Reduce::prod, Reduce::norm, Reduce::logsumexp, Reduce::var, Reduce::std}) {
        const Type type = kFloats[z(draw(0, 3))];
        const Type wide = type == Type::f64 ? Type::f64 : Type::f32;
        const std::int64_t total = of.level().total();
        const std::int64_t results = of.level().count * columns;
        if (op == Reduce::prod && of.longest > 100) continue;  // of so many, nothing is left
        const Bytes values = numbers(type, total * columns, op == Reduce::prod);
        const Bytes d = numbers(type, results, false);
        const Bytes result = numbers(type, results, false);
        ReduceBackJob job{op, type, of.level(), of.longest, values.data(), columns, d.data(), nullptr, 1};
        job.result = result.data();
        Bytes scratch(z(cuda::reduce_back_scratch(job, total)));
        Bytes got(values.size());
        CHECK_EQ(cuda::reduce_back(kStream, job, total, scratch.data(), got.data()), 0);
        const Bytes d_wide = cast_bytes(type, d, wide);
        Bytes weights(d_wide.size());
        const Bytes result_wide = cast_bytes(type, result, wide);
        job.gradients = d_wide.data();
        job.result = result_wide.data();
        Bytes expected(got.size());
        if (op == Reduce::prod) {
          const Bytes values_wide = cast_bytes(type, values, wide);
          job.values = values_wide.data();
          Bytes products(values_wide.size());
          reduce_back(job, weights.data(), products.data());
          expected = cast_bytes(wide, products, type);
        } else {
          reduce_back(job, weights.data(), expected.data());
        }
        check_close(got, expected, type);
      }
    }
  }
}

TEST(cuda_reduce, products_of_others_do_not_overflow_on_the_way) {
  const std::vector<float> values{1e30F, 1e30F, 1e-30F, 1e-30F, 0x1p-140F, 0x1p120F};
  const std::vector<std::int64_t> ends{4, 6};
  const std::vector<float> d{1, 1};
  ReduceBackJob job;
  job.op = Reduce::prod;
  job.type = Type::f32;
  job.level = {ends.data(), 2};
  job.longest = 4;
  job.values = reinterpret_cast<const std::byte*>(values.data());
  job.gradients = reinterpret_cast<const std::byte*>(d.data());
  Bytes scratch(z(cuda::reduce_back_scratch(job, 6)));
  std::vector<float> got(6);
  CHECK_EQ(cuda::reduce_back(kStream, job, 6, scratch.data(), reinterpret_cast<std::byte*>(got.data())), 0);
  const std::vector<float> expected{1e-30F, 1e-30F, 1e30F, 1e30F, values[5], values[4]};
  for (std::size_t k = 0; k < expected.size(); ++k) CHECK(std::fabs(got[k] / expected[k] - 1) < 1e-6F);
}

TEST(cuda_reduce, repeats_are_added_up) {
  for (const std::int64_t columns : {1, 3}) {
    for (const std::int64_t max_repeats : {3, 40, 2000}) {
      std::vector<std::int64_t> blocks, groups;
      std::int64_t longest = 0;
      for (std::int64_t k = 0, rows = 0, all = 0; k < 9; ++k) {
        const std::int64_t n = draw(0, 4);
        const std::int64_t repeated = n * (k == 4 ? max_repeats : draw(0, 6));
        longest = std::max(longest, repeated);
        blocks.push_back(rows += n);
        groups.push_back(all += repeated);
      }
      const Offsets of{blocks.data(), 9}, in{groups.data(), 9};
      for (const Type type : {Type::i32, Type::b1, Type::bf16, Type::f32, Type::f64}) {
        const Bytes values = numbers(type, in.total() * columns, false);
        BlocksJob job{type, in, of, values.data(), columns};
        const cuda::BlocksSizes sizes{in.total(), of.total(), longest};
        const Type result = is_float(type) ? type : Type::i64;
        Bytes scratch(z(cuda::reduce_blocks_scratch(job, sizes)));
        Bytes got(z(of.total() * columns * size_of(result)));
        CHECK_EQ(cuda::reduce_blocks(kStream, job, sizes, scratch.data(), got.data()), 0);
        const Type sum_type = reduced_type(Reduce::sum, type);
        const Bytes wide = cast_bytes(type, values, sum_type);
        job.type = sum_type;
        job.values = wide.data();
        Bytes sums(z(of.total() * columns * size_of(sum_type)));
        reduce_blocks(job, sums.data());
        check_same(got, is_float(type) ? cast_bytes(sum_type, sums, type) : sums, type);
      }
    }
  }
}

TEST(cuda_reduce, rows_are_divided_by_lengths) {
  for (const Type type : kFloats) {
    for (const std::int64_t columns : {0, 1, 7}) {
      const RandomLevel of = draw_level(50, 5);
      const Bytes rows = numbers(type, 50 * columns, true);
      Bytes expected = rows, got(rows.size());
      divide_by_lengths(type, of.level(), columns, expected.data());
      CHECK_EQ(cuda::divide_by_lengths(kStream, type, of.level(), columns, rows.data(), got.data()), 0);
      check_close(got, expected, type);
    }
  }
}

TEST(cuda_reduce, elements_go_to_the_row_that_held_them) {
  for (int turn = 0; turn < turns_of_one_thread(200); ++turn) {
    const std::int64_t size = kWidths[z(draw(0, 9))];
    const std::int64_t columns = draw(0, 5);
    const RandomLevel of = draw_level(draw(0, 30), draw(0, 3) == 0 ? 900 : 6);
    const std::int64_t total = of.level().total();
    const std::int64_t elements = of.level().count * columns;
    const Bytes rows = noise(elements * size);
    std::vector<std::int64_t> wide(z(elements));
    for (std::int64_t k = 0; k < elements; ++k) {
      const std::int64_t length = of.level().length(k / columns);
      wide[z(k)] = length > 0 ? draw(0, length - 1) : -1;
    }
    const std::vector<std::int32_t> narrow(wide.begin(), wide.end());
    Bytes expected(z(total * columns * size)), got(expected.size()), again(expected.size());
    expand_which(of.level(), rows.data(), columns, size, wide.data(), expected.data());
    CHECK_EQ(cuda::expand_which(kStream, of.level(), total, rows.data(), columns, size,
                                {wide.data(), nullptr}, got.data()),
             0);
    CHECK_EQ(cuda::expand_which(kStream, of.level(), total, rows.data(), columns, size,
                                {nullptr, narrow.data()}, again.data()),
             0);
    CHECK(got == expected);
    CHECK(again == expected);
  }
}

TEST(cuda_reduce, a_rectangle_gives_the_bits_of_its_rows) {
  for (const RandomLevel& of : levels()) {
    for (const std::int64_t columns : {1, 3, 20}) {
      if (columns > 1 && of.longest > 100) continue;
      const Reduce op = kOps[z(draw(0, 10))];
      const Type type = kAllTypes[z(draw(0, 12))];
      const std::int64_t total = of.level().total();
      const std::int64_t width = columns * size_of(type);
      const std::int64_t slots = of.longest + draw(0, 2);
      const Bytes values = numbers(type, total * columns, false);
      ReduceJob job{op, type, of.level(), of.longest, values.data(), columns, nullptr, 0};
      const Bytes expected = on_device(job, total);
      const Bytes on_cpu = on_host(job, final_type(op, type));
      for (const bool fill_left : {false, true}) {
        Bytes block(z(of.level().count * slots * width), std::byte{1});
        for (std::int64_t i = 0; i < of.level().count; ++i) {
          const std::int64_t first = i * slots + (fill_left ? slots - of.level().length(i) : 0);
          const std::size_t bytes = z(of.level().length(i) * width);
          if (bytes > 0) {
            std::memcpy(block.data() + first * width, values.data() + of.level().start(i) * width, bytes);
          }
        }
        job.values = block.data();
        job.slots = slots;
        job.fill_left = fill_left;
        CHECK(on_device(job, total) == expected);
        CHECK(on_host(job, final_type(op, type)) == on_cpu);
      }
    }
  }
}

namespace {

Bytes run_weighted_sum(const WeightedJob& job, std::int64_t total, bool on_device) {
  Bytes out(z(job.level.count * job.heads * job.columns * size_of(job.type)));
  if (on_device) {
    Bytes scratch(z(cuda::weighted_scratch(job, total)));
    CHECK_EQ(cuda::weighted_sum(kStream, job, total, scratch.data(), out.data()), 0);
  } else {
    Bytes scratch(z(weighted_scratch(job)));
    weighted_sum(job, scratch.data(), out.data());
  }
  return out;
}

}  // namespace

TEST(cuda_reduce, sums_by_weights_and_their_gradients_are_those_of_the_cpu) {
  for (const RandomLevel& of : levels()) {
    for (const std::int64_t columns : {0, 1, 3, 33}) {
      if (columns > 1 && of.longest > 100) continue;
      const std::int64_t heads = draw(0, 3);
      const Type type = kFloats[z(draw(0, 3))];
      const Type wide = type == Type::f64 ? Type::f64 : Type::f32;
      const std::int64_t total = of.level().total();
      const Bytes values = numbers(type, total * columns, false);
      const Bytes weights = numbers(wide, total * heads, false);
      const Bytes sums = numbers(wide, of.level().count * heads * columns, false);
      const WeightedJob job{type,           of.level(),  of.longest, values.data(),
                            weights.data(), sums.data(), columns,    heads};
      check_close(run_weighted_sum(job, total, true), run_weighted_sum(job, total, false), type);
      Bytes got(values.size()), expected(values.size());
      CHECK_EQ(cuda::weighted_sum_to_values(kStream, job, total, got.data()), 0);
      weighted_sum_to_values(job, expected.data());
      check_close(got, expected, type);
      Bytes d_weights(weights.size()), on_cpu(weights.size());
      CHECK_EQ(cuda::weighted_sum_to_weights(kStream, job, total, d_weights.data()), 0);
      weighted_sum_to_weights(job, on_cpu.data());
      check_close(d_weights, on_cpu, wide);
    }
  }
}
