// Rows of every width, more and fewer tokens than are compared at once, sequences that end anywhere.
#include "varlen/erase.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "cpu/erase/wide.hpp"
#include "level_draw.hpp"
#include "support/dispatch.hpp"

namespace {

using varlen::test::draw;

using Wide = varlen::EraseProgress (*)(varlen::Rows, varlen::Offsets, const std::byte*, std::int64_t,
                                       std::byte*, std::int64_t*) noexcept;

template <class T>
void check_erase(std::int64_t count, std::int64_t max_length, std::int64_t n) {
  const varlen::test::RandomLevel sample = varlen::test::draw_level(count, max_length);
  const varlen::Offsets level = sample.level();
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
  const varlen::Rows rows{reinterpret_cast<const std::byte*>(values.data()), level.total(), sizeof(T)};
  const auto* const token_bytes = reinterpret_cast<const std::byte*>(tokens.data());
  std::vector<T> out(values.size());
  std::vector<std::int64_t> ends(static_cast<std::size_t>(count));
  auto* const to = reinterpret_cast<std::byte*>(out.data());
  const std::int64_t rows_kept = varlen::erase_rows(rows, level, token_bytes, n, to, ends.data());
  CHECK_EQ(rows_kept, static_cast<std::int64_t>(want.size()));
  CHECK(std::equal(want.begin(), want.end(), out.begin()));
  CHECK(ends == want_ends);

  // Each way that this machine knows, as far as it goes.
  const auto check_wide = [&](Wide wide, std::int64_t lanes) {
    std::fill(out.begin(), out.end(), T{77});
    std::fill(ends.begin(), ends.end(), -1);
    const varlen::EraseProgress at = wide(rows, level, token_bytes, n, to, ends.data());
    CHECK_EQ(at.row, level.total() / lanes * lanes);
    CHECK(std::equal(out.begin(), out.begin() + at.rows_kept, want.begin()));
    CHECK(std::equal(ends.begin(), ends.begin() + at.sequence, want_ends.begin()));
    CHECK(at.sequence == count || level.end(at.sequence) >= at.row);
  };
  if (n > varlen::kWideTokens) return;
  if (varlen::runs(varlen::Isa::avx512)) check_wide(varlen::erase_packed, 64 / std::int64_t{sizeof(T)});
  if (varlen::runs(varlen::Isa::avx2) && sizeof(T) >= 4)
    check_wide(varlen::erase_permuted, 32 / std::int64_t{sizeof(T)});
}

}  // namespace

TEST(erase, keeps_what_equals_no_token) {
  for (const std::int64_t max_length : {0, 3, 90}) {
    for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 16, 17}) {
      for (const std::int64_t count : {0, 1, 60}) {
        check_erase<std::uint8_t>(count, max_length, n);
        check_erase<std::uint16_t>(count, max_length, n);
        check_erase<std::uint32_t>(count, max_length, n);
        check_erase<std::uint64_t>(count, max_length, n);
      }
    }
  }
}
