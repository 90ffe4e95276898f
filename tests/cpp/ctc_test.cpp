// CTC reads and writes nothing but its arrays, in memory that ends where it was said to; losses are those of
// a table of logs, and shares of alignments are one in all at each row.
#include "varlen/ctc.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::test::Bytes;
using varlen::test::draw;
using varlen::test::draw_level;
using varlen::test::RandomLevel;
using varlen::test::z;

namespace {

template <class T>
struct Batch {
  RandomLevel rows;
  RandomLevel targets;
  std::int64_t classes;
  std::vector<T> log_probs;
  std::vector<std::int64_t> labels;

  Batch(std::int64_t count, std::int64_t most_rows, std::int64_t most_labels, std::int64_t of)
      : rows(draw_level(count, most_rows)), targets(draw_level(count, most_labels)), classes(of) {
    for (std::int64_t t = 0; t < rows.level().total(); ++t) {
      std::vector<double> row(z(classes));
      double sum = 0;
      for (double& x : row) sum += x = static_cast<double>(draw(1, 100));
      for (const double x : row) log_probs.push_back(static_cast<T>(std::log(x / sum)));
    }
    for (std::int64_t k = 0; k < targets.level().total(); ++k) labels.push_back(draw(1, classes - 1));
  }

  [[nodiscard]] varlen::CtcJob job(bool with_gradient) const {
    varlen::CtcJob job;
    job.type = sizeof(T) == 4 ? varlen::Type::f32 : varlen::Type::f64;
    job.level = rows.level();
    job.target_level = targets.level();
    job.log_probs = reinterpret_cast<const std::byte*>(log_probs.data());
    job.labels = labels.data();
    job.classes = classes;
    job.with_gradient = with_gradient;
    return job;
  }

  /// The loss of sequence i by probabilities as they are.
  [[nodiscard]] double loss(std::int64_t i) const {
    const std::int64_t* const label = labels.data() + targets.level().start(i);
    const std::int64_t states = 2 * targets.level().length(i) + 1;
    std::vector<double> now(z(states), 0);
    now[0] = 1;  // before the first row
    for (std::int64_t t = rows.level().start(i); t < rows.level().end(i); ++t) {
      std::vector<double> next(z(states), 0);
      const bool first = t == rows.level().start(i);
      for (std::int64_t s = 0; s < states; ++s) {
        const std::int64_t c = s % 2 == 0 ? 0 : label[s / 2];
        double sum = now[z(s)];
        if (s > 0) sum += now[z(s - 1)];
        if (s > 2 && s % 2 == 1 && label[s / 2] != label[s / 2 - 1]) sum += now[z(s - 2)];
        if (first) sum = s < 2 ? 1 : 0;
        next[z(s)] = sum * std::exp(static_cast<double>(log_probs[z(t * classes + c)]));
      }
      now = next;
    }
    return -std::log(now.back() + (states > 1 ? now[z(states - 2)] : 0));
  }
};

template <class T>
void losses_are_those_of_the_table(std::int64_t count, std::int64_t most_rows, std::int64_t most_labels,
                                   std::int64_t classes, double tolerance) {
  const Batch<T> batch(count, most_rows, most_labels, classes);
  for (const bool with_gradient : {false, true}) {
    const varlen::CtcJob job = batch.job(with_gradient);
    CHECK(ctc_check(job).ok());
    const varlen::WorkShares shares = ctc_shares(job);
    Bytes scratch(z(shares.bytes));
    std::vector<T> losses(z(count), T{-1});
    std::vector<T> gradient(with_gradient ? batch.log_probs.size() : 0, T{9});
    ctc_loss(job, shares, scratch.data(), reinterpret_cast<std::byte*>(losses.data()),
             reinterpret_cast<std::byte*>(gradient.data()));
    for (std::int64_t i = 0; i < count; ++i) {
      const double expected = batch.rows.level().length(i) > 0 ? batch.loss(i)
                              : batch.targets.level().length(i) == 0
                                  ? 0
                                  : std::numeric_limits<double>::infinity();
      const auto result = static_cast<double>(losses[z(i)]);
      CHECK(std::isinf(expected) ? std::isinf(result)
                                 : std::abs(result - expected) <= tolerance * (1 + expected));
      for (std::int64_t t = batch.rows.level().start(i); with_gradient && t < batch.rows.level().end(i);
           ++t) {
        double sum = 0;
        for (std::int64_t c = 0; c < classes; ++c) sum += static_cast<double>(gradient[z(t * classes + c)]);
        CHECK(std::isinf(expected) ? std::isnan(sum) : std::abs(sum) < 10 * tolerance);
      }
    }
  }
}

}  // namespace

TEST(ctc, losses_are_those_of_the_table) {
  for (const std::int64_t labels : {0, 1, 5, 14, 15, 16, 17, 40}) {
    losses_are_those_of_the_table<float>(6, 2 * labels + 5, labels, 9, 2e-6);
    losses_are_those_of_the_table<double>(6, 2 * labels + 5, labels, 3, 1e-12);
  }
}

TEST(ctc, threads_change_nothing) {
  const int threads = varlen::num_threads();
  varlen::set_num_threads(3);
  losses_are_those_of_the_table<float>(120, 60, 20, 17, 2e-6);
  varlen::set_num_threads(threads);
}

TEST(ctc, labels_are_classes_other_than_the_blank) {
  Batch<float> batch(4, 6, 3, 5);
  batch.labels.push_back(1);
  batch.targets.ends.back() += 1;
  for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{5}}) {
    batch.labels.back() = wrong;
    const varlen::Status status = ctc_check(batch.job(false));
    CHECK(status.code == varlen::Code::index_out_of_range);
    CHECK_EQ(status.where, static_cast<std::int64_t>(batch.labels.size()) - 1);
    CHECK_EQ(status.value, wrong);
  }
}
