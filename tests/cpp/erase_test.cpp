// Rows of every width, more and fewer tokens than are compared at once, sequences that end anywhere.
#include "varlen/erase.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "level_draw.hpp"

namespace {

using varlen::test::draw;

template <class T>
void check_erase(std::int64_t count, std::int64_t most, std::int64_t n) {
  const varlen::test::Drawn drawn = varlen::test::drawn(count, most);
  const varlen::Offsets level = drawn.level();
  std::vector<T> values;
  for (std::int64_t k = 0; k < level.total(); ++k) values.push_back(static_cast<T>(draw(0, 40) - 20));
  std::vector<T> tokens;
  for (std::int64_t k = 0; k < n; ++k) tokens.push_back(static_cast<T>(draw(0, 40) - 20));
  std::sort(tokens.begin(), tokens.end());
  std::vector<T> want;
  std::vector<std::int64_t> want_ends;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t row = level.start(i); row < level.end(i); ++row) {
      const T value = values[static_cast<std::size_t>(row)];
      if (std::find(tokens.begin(), tokens.end(), value) == tokens.end()) want.push_back(value);
    }
    want_ends.push_back(static_cast<std::int64_t>(want.size()));
  }
  std::vector<T> out(values.size());
  std::vector<std::int64_t> ends(static_cast<std::size_t>(count));
  const std::int64_t kept =
      varlen::erase_rows({reinterpret_cast<const std::byte*>(values.data()), level.total(), sizeof(T)}, level,
                         reinterpret_cast<const std::byte*>(tokens.data()), n,
                         reinterpret_cast<std::byte*>(out.data()), ends.data());
  CHECK_EQ(kept, static_cast<std::int64_t>(want.size()));
  CHECK(std::equal(want.begin(), want.end(), out.begin()));
  CHECK(ends == want_ends);
}

}  // namespace

TEST(erase, keeps_what_equals_no_token) {
  for (const std::int64_t most : {0, 3, 90}) {
    for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 16, 17}) {
      for (const std::int64_t count : {0, 1, 60}) {
        check_erase<std::uint8_t>(count, most, n);
        check_erase<std::uint16_t>(count, most, n);
        check_erase<std::uint32_t>(count, most, n);
        check_erase<std::uint64_t>(count, most, n);
      }
    }
  }
}
