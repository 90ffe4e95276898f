// What a plan of einsum multiplies as it lies, what it copies, and that every element is written once.
#include "varlen/model/einsum.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::Arithmetic;
using varlen::EinsumAxis;
using varlen::EinsumPlan;
using varlen::Offsets;
using varlen::test::draw;
using varlen::test::z;

namespace {

constexpr std::intptr_t kBytes = sizeof(double);

double& at(char* data, std::intptr_t offset) {
  return *reinterpret_cast<double*>(data + offset);
}

bool is_readable(std::intptr_t rows, std::intptr_t columns, std::intptr_t m, std::intptr_t n) {
  return m <= 1 || n <= 1 || rows == kBytes || columns == kBytes;
}

void matmul(char** args, const std::intptr_t* n, const std::intptr_t* s, void*) {
  CHECK(is_readable(s[3], s[4], n[1], n[2]));
  CHECK(is_readable(s[5], s[6], n[2], n[3]));
  CHECK(is_readable(s[7], s[8], n[1], n[3]));
  for (std::intptr_t o = 0; o < n[0]; ++o) {
    for (std::intptr_t i = 0; i < n[1]; ++i) {
      for (std::intptr_t j = 0; j < n[3]; ++j) {
        double sum = 0;
        for (std::intptr_t k = 0; k < n[2]; ++k) {
          sum += at(args[0], o * s[0] + i * s[3] + k * s[4]) * at(args[1], o * s[1] + k * s[5] + j * s[6]);
        }
        at(args[2], o * s[2] + i * s[7] + j * s[8]) = sum;
      }
    }
  }
}

void multiply(char** args, const std::intptr_t* n, const std::intptr_t* s, void*) {
  for (std::intptr_t i = 0; i < n[0]; ++i)
    at(args[2], i * s[2]) = at(args[0], i * s[0]) * at(args[1], i * s[1]);
}

const double kOne = 1;

Arithmetic arithmetic() {
  return {{matmul, nullptr}, {multiply, nullptr}, kBytes, reinterpret_cast<const std::byte*>(&kOne)};
}

struct Lengths {
  std::vector<std::int64_t> t_ends, s_ends;
  std::int64_t h = 2, d = 3;

  explicit Lengths(std::int64_t count, std::int64_t max_length = 5) {
    std::int64_t t = 0;
    std::int64_t s = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      t_ends.push_back(t += draw(0, max_length));
      s_ends.push_back(s += draw(0, max_length));
    }
  }
  [[nodiscard]] std::vector<EinsumAxis> axes() const {
    const auto count = static_cast<std::int64_t>(t_ends.size());
    return {{'b', count, {}, false},
            {'t', 0, {t_ends.data(), count}, true},
            {'s', 0, {s_ends.data(), count}, true},
            {'h', h, {}, false},
            {'d', d, {}, false}};
  }
};

EinsumPlan plan_of(const Lengths& lengths, std::string_view a, std::string_view b, std::string_view out) {
  return {a, b.empty() ? nullptr : &b, out, 'b', lengths.axes()};
}

/// How many elements a letter stands for in a sequence.
std::int64_t extent_of(const std::vector<EinsumAxis>& axes, char letter, std::int64_t i) {
  for (const EinsumAxis& axis : axes) {
    if (axis.letter == letter) return axis.is_ragged ? axis.level.length(i) : axis.extent;
  }
  return 0;
}

using ByLetter = std::array<std::int64_t, 128>;

/// Every place of a sequence, the last of the letters the fastest.
template <class Visit>
void each_place(const std::vector<EinsumAxis>& axes, std::int64_t i, std::string_view letters,
                Visit&& visit) {
  std::vector<std::int64_t> extents;
  std::int64_t size = 1;
  for (const char letter : letters) size *= extents.emplace_back(extent_of(axes, letter, i));
  ByLetter place{};
  for (std::int64_t k = 0; k < size; ++k) {
    std::int64_t rest = k;
    for (std::size_t l = letters.size(); l-- > 0;) {
      place[static_cast<unsigned char>(letters[l])] = rest % extents[l];
      rest /= extents[l];
    }
    visit(place);
  }
}

/// Where the elements of a term lie in a sequence. Terms begin with b where they have it.
class Term {
 public:
  Term(const std::vector<EinsumAxis>& axes, std::int64_t i, std::string_view term) {
    const bool has_b = !term.empty() && term[0] == 'b';
    block_ = has_b ? term.substr(1) : term;
    std::int64_t step = 1;
    for (std::size_t l = block_.size(); l-- > 0;) {
      steps_[l] = step;
      step *= extent_of(axes, block_[l], i);
    }
    for (std::int64_t j = 0; has_b && j < i; ++j) {
      std::int64_t size = 1;
      for (const char letter : block_) size *= extent_of(axes, letter, j);
      start_ += size;
    }
  }
  [[nodiscard]] std::size_t offset(const ByLetter& place) const {
    std::int64_t offset = start_;
    for (std::size_t l = 0; l < block_.size(); ++l) {
      offset += place[static_cast<unsigned char>(block_[l])] * steps_[l];
    }
    return z(offset);
  }

 private:
  std::string_view block_;
  std::array<std::int64_t, 8> steps_{};
  std::int64_t start_ = 0;
};

void check(const Lengths& lengths, std::string_view a, std::string_view b, std::string_view out) {
  const EinsumPlan plan = plan_of(lengths, a, b, out);
  std::vector<double> x(z(plan.size_of_a()));
  std::vector<double> y(z(b.empty() ? 0 : plan.size_of_b()));
  for (double& one : x) one = static_cast<double>(draw(-3, 3));
  for (double& one : y) one = static_cast<double>(draw(-3, 3));
  std::vector<double> result(z(plan.size_of_out() + 2), 77);
  plan.run(arithmetic(), reinterpret_cast<const std::byte*>(x.data()),
           b.empty() ? nullptr : reinterpret_cast<const std::byte*>(y.data()),
           reinterpret_cast<std::byte*>(result.data() + 1));
  std::vector<double> expected(result.size(), 0);
  expected.front() = expected.back() = 77;
  std::string letters;
  for (const char letter : std::string(a) + std::string(b)) {
    if (letter != 'b' && letters.find(letter) == std::string::npos) letters += letter;
  }
  const std::vector<EinsumAxis> axes = lengths.axes();
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(lengths.t_ends.size()); ++i) {
    const Term term_a(axes, i, a), term_b(axes, i, b), term_out(axes, i, out);
    each_place(axes, i, letters, [&](const ByLetter& place) {
      expected[term_out.offset(place) + 1] +=
          x[term_a.offset(place)] * (b.empty() ? 1 : y[term_b.offset(place)]);
    });
  }
  CHECK(result == expected);
}

}  // namespace

TEST(einsum, plans_multiply_as_matrices_lie) {
  const Lengths lengths(3);
  CHECK(plan_of(lengths, "bthd", "bshd", "bhts").text() == "t,d@d,s->t,s");
  CHECK(plan_of(lengths, "bhts", "bshd", "bthd").text() == "t,s@s,d->t,d");
  CHECK(plan_of(lengths, "bhts", "bthd", "bshd").text() == "s,t@t,d->s,d");
  CHECK(plan_of(lengths, "bthd", "d", "bth").text() == "bth,d@d,->bth,");
  CHECK(plan_of(lengths, "bhts", "bshd", "btd").text() == "t,hs*@hs,d*->t,d" ||
        plan_of(lengths, "bhts", "bshd", "btd").text() == "t,sh*@sh,d->t,d");
  CHECK(plan_of(lengths, "bd", "bt", "btd").text() == "multiply");
  CHECK(plan_of(lengths, "btd", "btd", "bd").text() == "multiply and add");
  CHECK(plan_of(lengths, "bts", "", "bst").text() == "copy");
}

TEST(einsum, is_the_sum_of_products) {
  const std::vector<std::array<std::string_view, 3>> equations{
      {"btd", "bsd", "bts"},    {"bts", "bsd", "btd"},    {"bthd", "bshd", "bhts"}, {"bhts", "bshd", "bthd"},
      {"bhts", "bthd", "bshd"}, {"btd", "bth", "dh"},     {"btd", "dh", "bth"},     {"bt", "bt", "b"},
      {"bd", "btd", "bt"},      {"btd", "", "bd"},        {"btd", "", "b"},         {"bts", "", "bst"},
      {"bhtd", "", "hd"},       {"bhtd", "bth", "hd"},    {"btd", "btd", "bd"},     {"btd", "btd", "bt"},
      {"btsh", "bshd", "bthd"}, {"bthd", "bshd", "btsh"}, {"bhts", "bshd", "btd"},  {"btd", "bd", "bdt"},
      {"btd", "", ""}};
  for (const int threads : varlen::test::one_and(3)) {
    varlen::set_num_threads(threads);
    for (const auto& [a, b, out] : equations) {
      for (const std::int64_t count : {0, 1, 4}) check(Lengths(count), a, b, out);
      check(Lengths(2, 40), a, b, out);
    }
  }
  varlen::set_num_threads(2);
}

TEST(einsum, large_work_is_cut_where_it_may_be) {
  varlen::set_num_threads(3);
  Lengths lengths(2, 1);
  lengths.t_ends = {900, 901};
  lengths.s_ends = {640, 660};
  lengths.d = 20;
  check(lengths, "btd", "bsd", "bts");
  check(lengths, "bts", "", "bst");
  check(lengths, "bt", "bs", "bts");
  check(lengths, "btd", "dh", "bth");
  varlen::set_num_threads(2);
}
