// The largest of every few numbers, where vectors end and threads meet.
#include "varlen/maxout.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/pool.hpp"

using varlen::test::draw;
using varlen::test::z;

namespace {

template <class T>
std::int64_t place_of(const T* row, std::int64_t pieces) {
  if (pieces == 3) {
    const std::int64_t later = row[2] > row[1] ? 2 : 1;
    return row[later] > row[0] ? later : 0;
  }
  std::int64_t place = 0;
  for (std::int64_t p = 1; p < pieces; ++p) place = row[p] > row[place] ? p : place;
  return place;
}

template <class T>
void largest(std::int64_t n, std::int64_t pieces) {
  std::vector<T> x(z(n * pieces));
  for (T& one : x) {
    const std::int64_t k = draw(0, 9);
    one = k == 9 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(k);
  }
  std::vector<T> best(z(n));
  std::vector<std::int32_t> which(z(n), -7);
  varlen::maxout(x.data(), n, pieces, best.data(), which.data());
  for (std::int64_t i = 0; i < n; ++i) {
    const T* const row = x.data() + i * pieces;
    const std::int64_t place = place_of(row, pieces);
    CHECK(which[z(i)] == place);
    CHECK(best[z(i)] == row[place] || (best[z(i)] != best[z(i)] && row[place] != row[place]));
  }
}

}  // namespace

TEST(maxout, is_the_first_of_the_largest) {
  for (const int threads : {1, 2}) {
    varlen::set_num_threads(threads);
    for (std::int64_t pieces = 1; pieces < 6; ++pieces) {
      for (std::int64_t n = 0; n < 20; ++n) {
        largest<float>(n, pieces);
        largest<double>(n, pieces);
      }
      largest<float>(400'001, pieces);
    }
  }
}
