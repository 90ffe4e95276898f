// Scans of the GPU, run thread by thread on the host, beside those of the CPU: values, outputs and scratch
// are as long as they are.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/scan.hpp"
#include "varlen/pool.hpp"
#include "varlen/scan.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

struct alignas(16) Sixteen {
  std::byte bytes[16];
};

/// Sequences of some rows, and sometimes one of many.
RandomLevel some_sequences(std::int64_t giant) {
  RandomLevel result = draw_level(draw(0, 40), draw(0, 2) == 0 ? 90 : 6);
  if (giant == 0) return result;
  result.longest = std::max(result.longest, giant);
  result.ends.push_back(result.level().total() + giant);
  result.ends.push_back(result.ends.back());
  result.ends.push_back(result.ends.back() + 2);
  result.longest = std::max<std::int64_t>(result.longest, 2);
  return result;
}

template <class T>
ScanJob job_of(Scan op, Type type, const RandomLevel& of, std::int64_t columns,
               const std::vector<T>& values) {
  ScanJob job;
  job.op = op;
  job.type = type;
  job.level = of.level();
  job.longest = of.longest;
  job.values = reinterpret_cast<const std::byte*>(values.data());
  job.columns = columns;
  return job;
}

std::vector<Sixteen> scratch_of(const ScanJob& job) {
  return std::vector<Sixteen>(z((cuda::scan_scratch(job, job.level.total()) + 15) / 16));
}

/// Small whole numbers, whose sums are exact in any order.
template <class T, class Out>
void check_scan(Type type, const RandomLevel& of, std::int64_t columns, Scan op, int flags) {
  const std::int64_t total = of.level().total();
  std::vector<T> values(z(total * columns));
  for (T& x : values) {
    x = static_cast<T>(op == Scan::prod ? draw(1, 9) / 9 + 1 : draw(std::is_signed_v<T> ? -9 : 0, 9));
  }
  ScanJob job = job_of(op, type, of, columns, values);
  job.exclusive = (flags & 1) != 0;
  job.reverse = (flags & 2) != 0;
  std::vector<Out> want(values.size()), out(values.size(), Out{77});
  std::vector<std::int64_t> scratch(z(scan_scratch(job) / 8));
  scan(job, reinterpret_cast<std::byte*>(scratch.data()), reinterpret_cast<std::byte*>(want.data()));
  std::vector<Sixteen> own = scratch_of(job);
  CHECK_EQ(cuda::scan(kStream, job, total, reinterpret_cast<std::byte*>(own.data()),
                      reinterpret_cast<std::byte*>(out.data())),
           0);
  CHECK(out == want);
  if (op < Scan::max) return;
  job.values = reinterpret_cast<const std::byte*>(want.data());
  std::vector<std::int64_t> want_which(want.size()), which(want.size(), 77);
  scan_which(job, want_which.data());
  CHECK_EQ(cuda::scan_which(kStream, job, total, reinterpret_cast<std::byte*>(own.data()), which.data()), 0);
  CHECK(which == want_which);
}

void check_all(const RandomLevel& of, std::int64_t columns) {
  for (const Scan op : {Scan::sum, Scan::prod, Scan::max, Scan::min}) {
    const int flags = static_cast<int>(draw(0, 3));
    check_scan<float, float>(Type::f32, of, columns, op, flags);
    check_scan<double, double>(Type::f64, of, columns, op, flags);
    check_scan<std::int64_t, std::int64_t>(Type::i64, of, columns, op, flags);
    if (op < Scan::max) {
      check_scan<std::int8_t, std::int64_t>(Type::i8, of, columns, op, flags);
      check_scan<std::uint16_t, std::uint64_t>(Type::u16, of, columns, op, flags);
    } else {
      check_scan<std::int8_t, std::int8_t>(Type::i8, of, columns, op, flags);
      check_scan<std::uint16_t, std::uint16_t>(Type::u16, of, columns, op, flags);
    }
  }
}

}  // namespace

TEST(cuda_scan, rows_are_those_of_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(8); ++turn) {
    for (const std::int64_t columns : {1, 2, 3, 7, 33, 65, 150}) check_all(some_sequences(0), columns);
  }
  check_all({}, 1);
  check_all(draw_level(3000, 0), 1);
}

TEST(cuda_scan, long_sequences_are_cut_and_joined) {
  set_num_threads(1);
  for (const std::int64_t columns : {1, 3, 33, 65}) {
    for (const std::int64_t elements : {513, 2048, 2049, 9000}) {
      check_all(some_sequences(elements / columns + 1), columns);
    }
  }
}

TEST(cuda_scan, very_long_sequences_have_longer_chunks) {
  set_num_threads(1);
  const RandomLevel of = some_sequences(2'200'000);
  check_scan<float, float>(Type::f32, of, 1, Scan::sum, 0);
  check_scan<std::int8_t, std::int8_t>(Type::i8, of, 1, Scan::max, 3);
}

TEST(cuda_scan, products_of_parts_may_leave_the_range) {
  set_num_threads(1);
  RandomLevel of;
  of.longest = 6000;
  of.ends = {6000};
  std::vector<double> values(6000, 1.0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 200 < 100 ? 1e-3 : 1e3;
  values[5900] = 0;
  const ScanJob job = job_of(Scan::prod, Type::f64, of, 1, values);
  std::vector<double> out(values.size());
  std::vector<Sixteen> own = scratch_of(job);
  CHECK_EQ(cuda::scan(kStream, job, 6000, reinterpret_cast<std::byte*>(own.data()),
                      reinterpret_cast<std::byte*>(out.data())),
           0);
  CHECK(std::abs(out[199] - 1) < 1e-9);
  CHECK(std::abs(out[5799] - 1) < 1e-9);
  CHECK_EQ(out[5999], 0.0);
}

TEST(cuda_scan, a_sequence_alone_gives_the_same_bits) {
  set_num_threads(1);
  const RandomLevel of = some_sequences(5000);
  const std::int64_t total = of.level().total();
  std::vector<float> values(z(total));
  for (float& x : values) x = static_cast<float>(draw(-1000, 1000)) / 7;
  ScanJob job = job_of(Scan::sum, Type::f32, of, 1, values);
  std::vector<float> full_result(values.size());
  std::vector<Sixteen> own = scratch_of(job);
  (void)cuda::scan(kStream, job, total, reinterpret_cast<std::byte*>(own.data()),
                   reinterpret_cast<std::byte*>(full_result.data()));
  for (std::int64_t i = 0; i < of.level().count; i += 3) {
    const std::int64_t start = of.level().start(i);
    const std::int64_t length = of.level().length(i);
    job.level = {&length, 1};
    job.longest = length;
    job.values = reinterpret_cast<const std::byte*>(values.data() + start);
    std::vector<float> lone_result(z(length));
    (void)cuda::scan(kStream, job, length, reinterpret_cast<std::byte*>(own.data()),
                     reinterpret_cast<std::byte*>(lone_result.data()));
    CHECK(std::equal(lone_result.begin(), lone_result.end(), full_result.begin() + start));
  }
}

namespace {

template <class T>
void check_back(Type type, const RandomLevel& of, std::int64_t columns, int flags) {
  const std::int64_t total = of.level().total();
  std::vector<T> x(z(total * columns)), dy(x.size());
  std::vector<std::int64_t> which(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(draw(0, 40) == 0 ? draw(-2, 2) : 2 * draw(0, 1) - 1);
    dy[i] = static_cast<T>(draw(-9, 9));
  }
  for (std::int64_t i = 0; i < of.level().count; ++i) {
    const std::int64_t start = of.level().start(i) * columns;
    for (std::int64_t at = start; at < of.level().end(i) * columns; ++at) {
      which[z(at)] = draw(-1, of.level().length(i) - 1);
    }
  }
  const auto* const from = reinterpret_cast<const std::byte*>(dy.data());
  std::vector<T> want(x.size()), out(x.size(), T{77});
  scan_which_back(type, from, of.level(), columns, which.data(), reinterpret_cast<std::byte*>(want.data()));
  CHECK_EQ(cuda::scan_which_back(kStream, type, from, of.level(), total, columns, which.data(),
                                 reinterpret_cast<std::byte*>(out.data())),
           0);
  CHECK(out == want);

  ScanJob job = job_of(Scan::prod, type, of, columns, x);
  job.exclusive = (flags & 1) != 0;
  job.reverse = (flags & 2) != 0;
  ScanJob products = job;
  products.exclusive = true;
  std::vector<T> prefix(x.size());
  std::vector<std::int64_t> cpu_scratch(z(scan_scratch(job) / 8));
  scan(products, reinterpret_cast<std::byte*>(cpu_scratch.data()),
       reinterpret_cast<std::byte*>(prefix.data()));
  scan_prod_back(job, from, reinterpret_cast<const std::byte*>(prefix.data()),
                 reinterpret_cast<std::byte*>(want.data()));
  std::vector<Sixteen> scratch(z((cuda::scan_prod_back_scratch(job, total) + 15) / 16));
  out.assign(out.size(), T{77});
  CHECK_EQ(cuda::scan_prod_back(kStream, job, total, from, reinterpret_cast<std::byte*>(scratch.data()),
                                reinterpret_cast<std::byte*>(out.data())),
           0);
  CHECK(out == want);
}

}  // namespace

TEST(cuda_scan, gradients_are_those_of_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(20); ++turn) {
    const RandomLevel of = draw_level(draw(0, 30), 12);
    for (const std::int64_t columns : {1, 3, 70}) {
      check_back<float>(Type::f32, of, columns, static_cast<int>(draw(0, 3)));
      check_back<double>(Type::f64, of, columns, static_cast<int>(draw(0, 3)));
    }
  }
}

TEST(cuda_scan, gradients_of_long_products_are_those_of_the_cpu) {
  set_num_threads(1);
  for (const int flags : {0, 1, 2, 3}) {
    for (const std::int64_t columns : {1, 3, 33}) {
      check_back<float>(Type::f32, some_sequences(5000 / columns), columns, flags);
      check_back<double>(Type::f64, some_sequences(5000 / columns), columns, flags);
    }
  }
}

TEST(cuda_scan, places_outside_of_their_sequence_are_left_out) {
  const std::int64_t ends[] = {2, 4};
  const float dy[] = {1, 2, 4, 8};
  const std::int64_t which[] = {0, 2, -5, 1};
  float out[] = {7, 7, 7, 7};
  CHECK_EQ(cuda::scan_which_back(kStream, Type::f32, reinterpret_cast<const std::byte*>(dy), {ends, 2}, 4, 1,
                                 which, reinterpret_cast<std::byte*>(out)),
           0);
  CHECK(out[0] == 1 && out[1] == 0 && out[2] == 0 && out[3] == 8);
}
