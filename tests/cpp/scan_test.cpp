// Scans read nothing but the values, which end where their memory does, and write nothing but the outputs.
#include "varlen/scan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::test::draw;
using varlen::test::z;

namespace {

struct ScanLevel {
  std::vector<std::int64_t> ends;
  std::int64_t longest = 0;

  ScanLevel(std::int64_t count, std::int64_t max_length) {
    for (std::int64_t i = 0; i < count; ++i) add(draw(0, max_length));
  }
  void add(std::int64_t length) {
    longest = std::max(longest, length);
    ends.push_back(view().total() + length);
  }
  [[nodiscard]] varlen::Offsets view() const { return {ends.data(), static_cast<std::int64_t>(ends.size())}; }
};

// Small whole numbers, whose running sums are exact.
template <class T>
void sums(varlen::Type type, const ScanLevel& of, std::int64_t columns, bool exclusive, bool reverse) {
  const varlen::Offsets level = of.view();
  std::vector<T> values(z(level.total() * columns));
  for (T& x : values) x = static_cast<T>(draw(0, 3));
  std::vector<T> expected(values.size());
  for (std::int64_t i = 0; i < level.count; ++i) {
    for (std::int64_t c = 0; c < columns; ++c) {
      T sum = 0;
      for (std::int64_t t = 0; t < level.length(i); ++t) {
        const std::int64_t row = reverse ? level.end(i) - 1 - t : level.start(i) + t;
        const T next = static_cast<T>(sum + values[z(row * columns + c)]);
        expected[z(row * columns + c)] = exclusive ? sum : next;
        sum = next;
      }
    }
  }
  varlen::ScanJob job;
  job.type = type;
  job.level = level;
  job.longest = of.longest;
  job.values = reinterpret_cast<const std::byte*>(values.data());
  job.columns = columns;
  job.exclusive = exclusive;
  job.reverse = reverse;
  std::vector<std::int64_t> scratch(z(varlen::scan_scratch(job) / 8));
  std::vector<T> out(values.size(), T{77});
  varlen::scan(job, reinterpret_cast<std::byte*>(scratch.data()), reinterpret_cast<std::byte*>(out.data()));
  CHECK(out == expected);
  // Sums of numbers that are not negative are their own running maxima.
  job.values = reinterpret_cast<const std::byte*>(out.data());
  std::vector<std::int64_t> which(out.size(), 77);
  varlen::scan_which(job, which.data());
  CHECK(varlen::scan_which_check(level, columns, which.data()).ok());
  if (!varlen::is_float(type)) return;
  std::vector<T> gradient(out.size(), T{77});
  varlen::scan_which_back(type, job.values, level, columns, which.data(),
                          reinterpret_cast<std::byte*>(gradient.data()));
}

}  // namespace

TEST(scan, stays_inside_exact_allocations) {
  for (const int threads : {1, 3}) {
    varlen::set_num_threads(threads);
    for (int turn = 0; turn < 12; ++turn) {
      const ScanLevel level(draw(0, 9), draw(0, 1) == 1 ? 5 : 60);
      for (const std::int64_t columns : {1, 2, 7, 300}) {
        const bool exclusive = draw(0, 1) == 1;
        const bool reverse = draw(0, 1) == 1;
        sums<float>(varlen::Type::f32, level, columns, exclusive, reverse);
        sums<double>(varlen::Type::f64, level, columns, exclusive, reverse);
        sums<std::int64_t>(varlen::Type::i64, level, columns, exclusive, reverse);
      }
    }
  }
  varlen::set_num_threads(1);
}

TEST(scan, long_sequences_are_shared) {
  for (const int threads : varlen::test::one_and(3)) {
    varlen::set_num_threads(threads);
    ScanLevel level(3, 9);
    level.add(1'200'000);
    level.add(5);
    for (const bool reverse : {false, true}) {
      sums<float>(varlen::Type::f32, level, 1, reverse, reverse);
      sums<std::int64_t>(varlen::Type::i64, level, 2, !reverse, reverse);
    }
  }
  varlen::set_num_threads(1);
}
