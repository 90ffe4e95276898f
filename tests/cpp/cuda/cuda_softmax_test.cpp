// Softmax of the GPU, run thread by thread on the host, beside that of the CPU.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/softmax.hpp"
#include "varlen/pool.hpp"
#include "varlen/softmax.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

struct alignas(16) SoftSixteen {
  std::byte bytes[16];
};

constexpr Softmax kOps[] = {Softmax::softmax, Softmax::log_softmax, Softmax::back_softmax,
                            Softmax::back_log_softmax};

template <class T>
bool close_to(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  const T tolerance = sizeof(T) == 4 ? T(2e-5) : T(1e-12);
  return std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

template <class T>
void run_on_device(SoftmaxJob job, std::vector<T>& out) {
  const std::int64_t total = job.level.total();
  std::vector<SoftSixteen> scratch(z((cuda::softmax_scratch(job, total) + 15) / 16));
  CHECK_EQ(cuda::softmax(kStream, job, total, reinterpret_cast<std::byte*>(scratch.data()),
                         reinterpret_cast<std::byte*>(out.data())),
           0);
}

/// Gradients that are 0 in every other sequence, whose results are NaN.
template <class T>
void strange_gradients(const RandomLevel& of, std::int64_t columns, std::vector<T>& dy, std::vector<T>& y) {
  for (std::int64_t i = 0; i < of.level().count; ++i) {
    for (std::int64_t at = of.level().start(i) * columns; at < of.level().end(i) * columns; ++at) {
      dy[z(at)] = i % 2 == 0 ? T{0} : static_cast<T>(draw(-40, 40)) / 4;
      y[z(at)] = i % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(draw(-8, 0)) / 4;
    }
  }
}

template <class T>
void check_softmax(Type type, const RandomLevel& of, std::int64_t columns, bool special) {
  const std::int64_t total = of.level().total();
  std::vector<T> x(z(total * columns)), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<T>(draw(-40, 40)) / 4;
    y[i] = static_cast<T>(draw(-8, 0)) / 4;
    const std::int64_t which = special ? draw(0, 300) : 9;
    if (which < 2) x[i] = std::numeric_limits<T>::infinity() * (which == 0 ? T(1) : T(-1));
    if (which == 2) x[i] = std::numeric_limits<T>::quiet_NaN();
    if (which > 200 && special) x[i] = -std::numeric_limits<T>::infinity();
  }
  for (const Softmax op : kOps) {
    SoftmaxJob job;
    job.op = op;
    job.type = type;
    job.level = of.level();
    job.longest = of.longest;
    job.values = reinterpret_cast<const std::byte*>(x.data());
    const bool is_back = op == Softmax::back_softmax || op == Softmax::back_log_softmax;
    if (is_back && special) strange_gradients(of, columns, x, y);
    if (is_back) job.result = reinterpret_cast<const std::byte*>(y.data());
    job.columns = columns;
    job.temperature = draw(0, 1) == 0 ? 1 : 0.5;
    std::vector<T> want(x.size()), out(x.size(), T{77});
    softmax(job, reinterpret_cast<std::byte*>(want.data()));
    run_on_device(job, out);
    CHECK(std::equal(out.begin(), out.end(), want.begin(), close_to<T>));
    if (is_back && special) {
      CHECK(std::none_of(out.begin(), out.end(), [](T d) { return std::isnan(d); }));
    }
    std::vector<T> in_place = x;
    job.values = reinterpret_cast<const std::byte*>(in_place.data());
    run_on_device(job, in_place);
    CHECK(std::equal(out.begin(), out.end(), in_place.begin(),
                     [](T a, T b) { return a == b || (std::isnan(a) && std::isnan(b)); }));
  }
}

RandomLevel with_long(std::int64_t rows) {
  RandomLevel of = draw_level(draw(0, 30), draw(0, 1) == 0 ? 5 : 70);
  of.ends.push_back(of.level().total() + rows);
  of.ends.push_back(of.ends.back() + 1);
  of.longest = std::max(of.longest, rows);
  return of;
}

}  // namespace

TEST(cuda_softmax, rows_are_those_of_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(6); ++turn) {
    for (const std::int64_t columns : {1, 2, 3, 33, 65, 150}) {
      const RandomLevel of = draw_level(draw(0, 40), draw(0, 2) == 0 ? 90 : 6);
      check_softmax<float>(Type::f32, of, columns, turn % 2 == 0);
      check_softmax<double>(Type::f64, of, columns, turn % 2 == 1);
    }
  }
  check_softmax<float>(Type::f32, {}, 1, false);
  check_softmax<float>(Type::f32, draw_level(3000, 0), 2, false);
  check_softmax<float>(Type::f32, draw_level(3000, 1), 1, false);
}

TEST(cuda_softmax, long_sequences_are_cut_and_joined) {
  set_num_threads(1);
  for (const std::int64_t columns : {1, 3, 33, 65}) {
    for (const std::int64_t elements : {513, 2048, 2049, 9000}) {
      check_softmax<float>(Type::f32, with_long(elements / columns + 1), columns, false);
      check_softmax<double>(Type::f64, with_long(elements / columns + 1), columns, true);
    }
  }
}

TEST(cuda_softmax, a_sequence_alone_gives_the_same_bits) {
  set_num_threads(1);
  const RandomLevel of = with_long(5000);
  std::vector<float> x(z(of.level().total()));
  for (float& value : x) value = static_cast<float>(draw(-1000, 1000)) / 70;
  SoftmaxJob job;
  job.level = of.level();
  job.longest = of.longest;
  job.values = reinterpret_cast<const std::byte*>(x.data());
  std::vector<float> full_result(x.size());
  run_on_device(job, full_result);
  for (std::int64_t i = 0; i < of.level().count; i += 3) {
    const std::int64_t start = of.level().start(i);
    const std::int64_t length = of.level().length(i);
    job.level = {&length, 1};
    job.longest = length;
    job.values = reinterpret_cast<const std::byte*>(x.data() + start);
    std::vector<float> lone_result(z(length));
    run_on_device(job, lone_result);
    CHECK(std::equal(lone_result.begin(), lone_result.end(), full_result.begin() + start));
  }
}
