// Dims: identities, lengths, what is forgotten, many threads.
#include "varlen/model/dim.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "check.hpp"

namespace {

using varlen::Dim;
using varlen::DimKind;
using varlen::Division;
using varlen::Error;
using varlen::Expression;
using varlen::Level;

Expression make_name(const char* name) {
  return Expression::generator({.name = name, .kind = DimKind::spatial});
}

Expression n(std::int64_t number) {
  return Expression::integer(number);
}

class OfLevel : public varlen::Lengths {
 public:
  explicit OfLevel(Level level) : level_(std::move(level)) {}
  [[nodiscard]] std::int64_t count() const override { return level_.count(); }
  [[nodiscard]] Level level() const override { return level_; }

 private:
  Level level_;
};

Dim over_batch(const Expression& name, const std::vector<std::int64_t>& lengths) {
  const Level level = Level::from_lengths(lengths.data(), std::ssize(lengths));
  return Dim::bound(name, {Dim(Expression::batch())}, std::make_shared<OfLevel>(level),
                    {std::ssize(lengths)});
}

}  // namespace

TEST(dim, equal_words_are_one_object) {
  const Expression p = make_name("p");
  const Expression q = make_name("q");
  CHECK(p + n(1) + n(2) - n(3) == p);
  CHECK((p + q) * n(2) == p * n(2) + q * n(2));
  CHECK(n(2) * (p + q) == p + q + p + q);
  CHECK((p * q).divide(Division::floor_right, q) == p);
  CHECK((q * p).divide(Division::floor_left, q) == p);
  CHECK(!(p + q == q + p));
  CHECK(!(n(2) * p == p * n(2)));
  CHECK_EQ((n(2) * p + n(1)).text(), std::string("2*p+1"));
}

TEST(dim, lengths_are_worked_out_once_and_cut_off_at_zero) {
  const Dim p = over_batch(make_name("p"), {5, 3, 0});
  const Dim four(n(4));
  const std::vector<std::int64_t> less{1, 0, 0};
  const std::vector<std::int64_t> equal_lengths{5, 3, 0};
  CHECK((p - four).values().numbers == less);
  CHECK((p - four + four).values().lengths->level().lengths()[0] == 5);
  CHECK((p - p + four).values().numbers == std::vector<std::int64_t>{4});
}

TEST(dim, declared_the_same_is_a_congruence) {
  const Expression p = make_name("p");
  const Expression q = make_name("q");
  const Expression product = (p + n(1)) * p;
  const std::int64_t hash = product.hash();
  CHECK(!(product == (q + n(1)) * q));
  Expression::unite(p, q);
  CHECK(p == q);
  CHECK(product == (q + n(1)) * q);
  CHECK_EQ(product.hash(), hash);
  CHECK_EQ(((q + n(1)) * q).hash(), hash);
  bool is_refused = false;
  try {
    Expression::unite(p, p * n(2));
  } catch (const Error&) {
    is_refused = true;
  }
  CHECK(is_refused);
}

TEST(dim, declarations_leave_everything_writable) {
  const Expression p = make_name("p");
  const Expression q = make_name("q");
  const Expression quotient = q.divide(Division::floor_right, p - n(1));
  bool is_refused = false;
  try {
    Expression::unite(p, n(1));  // a divisor of 0
  } catch (const Error&) {
    is_refused = true;
  }
  CHECK(is_refused);
  CHECK(!(p == n(1)));
  CHECK(quotient == q.divide(Division::floor_right, p - n(1)));
  Expression::unite(p, n(3));
  CHECK(quotient == q.divide(Division::floor_right, n(2)));
}

TEST(dim, what_nobody_holds_is_forgotten) {
  (void)Expression::batch();
  const std::int64_t n_alive = Expression::alive();
  for (int k = 0; k < 1000; ++k) {
    const Expression p = make_name("p");
    const Expression q = make_name("q");
    const Expression r = ((p + q) * q - n(3)).divide(Division::ceil_right, n(2)) + p;
    if (k % 2 == 0) Expression::unite(make_name("u"), r);
    if (k % 3 == 0) Expression::unite(p, q);
  }
  CHECK_EQ(Expression::alive(), n_alive);
}

TEST(dim, many_threads_build_the_same_words) {
  const Expression p = make_name("p");
  const Expression q = make_name("q");
  const Expression expected = n(2) * (p + q) * q;
  const std::int64_t n_alive = Expression::alive();
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int k = 0; k < 500; ++k) {
        const Expression own = make_name("own");
        const Expression sum_of_products = (p * q + q * q) * n(1) + (p + q) * q;
        if (!(sum_of_products == expected) || !((own + sum_of_products) - sum_of_products == own)) ++wrong[t];
        if (k % 100 == 0) Expression::unite(own, p + q);
        if (k % 100 == 0 && !(own * q == (p + q) * q)) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int n_wrong : wrong) CHECK_EQ(n_wrong, 0);
  CHECK_EQ(Expression::alive(), n_alive);
}
