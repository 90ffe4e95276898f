// Softmax reads nothing but its values, which end where their memory does, writes every row once, and gives
// the same bits on one thread and on several.
#include "varlen/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"
#include "varlen/reduce.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::draw_level;
using varlen::test::RandomLevel;
using varlen::test::z;

namespace {

template <class T>
std::vector<T> random_values(std::int64_t count) {
  std::vector<T> result(z(count));
  for (T& x : result) x = static_cast<T>(draw(-40, 40)) / 4;
  return result;
}

template <class T>
Bytes run(varlen::Softmax op, varlen::Type type, const RandomLevel& of, std::int64_t columns,
          const std::vector<T>& values, const std::vector<T>& result) {
  varlen::SoftmaxJob job;
  job.op = op;
  job.type = type;
  job.level = of.level();
  job.longest = of.longest;
  job.values = reinterpret_cast<const std::byte*>(values.data());
  job.result = result.empty() ? nullptr : reinterpret_cast<const std::byte*>(result.data());
  job.columns = columns;
  Bytes out(values.size() * sizeof(T));
  varlen::softmax(job, out.data());
  return out;
}

template <class T>
void shares_add_up(varlen::Type type, const RandomLevel& of, std::int64_t columns) {
  const std::int64_t total = of.level().total();
  const std::vector<T> values = random_values<T>(total * columns);
  const Bytes out = run(varlen::Softmax::softmax, type, of, columns, values, {});
  std::vector<T> result(values.size());
  if (!result.empty()) std::memcpy(result.data(), out.data(), result.size() * sizeof(T));
  for (std::int64_t i = 0; i < of.level().count; ++i) {
    for (std::int64_t c = 0; c < columns && of.level().length(i) > 0; ++c) {
      double sum = 0;
      for (std::int64_t row = of.level().start(i); row < of.level().end(i); ++row) {
        sum += static_cast<double>(result[z(row * columns + c)]);
      }
      CHECK(std::abs(sum - 1) < 1e-4);
    }
  }
  for (const auto op :
       {varlen::Softmax::log_softmax, varlen::Softmax::back_softmax, varlen::Softmax::back_log_softmax}) {
    run(op, type, of, columns, values, result);
  }
  for (const auto op : {varlen::Reduce::logsumexp, varlen::Reduce::var}) {
    varlen::ReduceJob job;
    job.op = op;
    job.type = type;
    job.level = of.level();
    job.longest = of.longest;
    job.values = reinterpret_cast<const std::byte*>(values.data());
    job.columns = columns;
    Bytes rows(z(of.level().count * columns) * sizeof(T));
    varlen::reduce(job, nullptr, rows.data());
  }
}

}  // namespace

TEST(softmax, adds_up_to_one_and_stays_inside_its_memory) {
  for (const std::int64_t columns : {1, 2, 3, 8, 9, 70, 300}) {
    for (const std::int64_t max_length : {0, 3, 8, 16, 40, 300, 3000}) {
      const RandomLevel of =
          draw_level(max_length > 40 ? 3 : 30, max_length > 300 && columns > 9 ? 300 : max_length);
      shares_add_up<float>(varlen::Type::f32, of, columns);
      shares_add_up<double>(varlen::Type::f64, of, columns);
    }
  }
}

TEST(softmax, gives_the_same_bits_on_any_number_of_threads) {
  const int thread_count = varlen::num_threads();
  RandomLevel of = draw_level(300, 200);
  of.ends.push_back(of.ends.back() + 1'100'000);  // long enough to be shared
  of.longest = 1'100'000;
  const std::vector<float> values = random_values<float>(of.level().total());
  std::vector<Bytes> result;
  for (const int threads : {1, 3}) {
    varlen::set_num_threads(threads);
    result.push_back(run(varlen::Softmax::softmax, varlen::Type::f32, of, 1, values, {}));
    result.push_back(run(varlen::Softmax::back_log_softmax, varlen::Type::f32, of, 1, values, values));
  }
  varlen::set_num_threads(thread_count);
  CHECK(result[0] == result[2]);
  CHECK(result[1] == result[3]);
}
