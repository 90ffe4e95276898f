// Rows picked by ranges and by numbers, put in and taken out, on the device: byte for byte what the CPU
// gives.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/gather.hpp"
#include "varlen/cuda/span_rows.hpp"
#include "varlen/gather.hpp"
#include "varlen/pool.hpp"
#include "varlen/span_rows.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

void check_gather(std::int64_t n, std::int64_t longest, std::int64_t picks) {
  const Nest nest = draw_nest(n, 1, longest, draw_width());
  Ints index(z(n > 0 ? picks : 0));
  for (std::int64_t& position : index) position = draw(-n, n - 1);
  const std::int64_t count = std::ssize(index);
  std::vector<Range> ranges(index.size());
  Ints ends(index.size());
  CHECK(gather_sequences(nest.levels[0], index.data(), count, ranges.data(), ends.data()).ok());
  const std::int64_t total = ends.empty() ? 0 : ends.back();
  Place want(total * nest.values.width), out(total * nest.values.width);
  gather_rows(nest.values, ranges.data(), ends.data(), count, want.data());
  CHECK_EQ(cuda::gather_rows(kStream, nest.values, ranges.data(), ends.data(), count, total, out.data()), 0);
  CHECK(out.contents() == want.contents());
}

}  // namespace

TEST(cuda_gather, sequences_are_those_of_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(500); ++turn) {
    check_gather(draw(0, 40), draw(0, 9) == 0 ? 400 : draw(0, 12), draw(0, 80));
  }
  check_gather(1, 20'000, 2);
  check_gather(200, 1, 3000);
}

TEST(cuda_gather, rows_are_those_of_the_cpu) {
  for (int turn = 0; turn < turns_of_one_thread(300); ++turn) {
    const std::int64_t count = draw(0, 50);
    const std::int64_t width = draw_width();
    const Bytes data = noise(count * width);
    Ints rows(z(count > 0 ? draw(0, 300) : 0));
    for (std::int64_t& row : rows) row = draw(0, count - 1);
    const std::int64_t n = std::ssize(rows);
    Place want(n * width), out(n * width);
    take_rows({data.data(), count, width}, rows.data(), n, want.data());
    CHECK_EQ(cuda::take_rows(kStream, {data.data(), count, width}, rows.data(), n, out.data()), 0);
    CHECK(out.contents() == want.contents());
  }
}

TEST(cuda_gather, numbers_of_no_row_give_zeros) {
  using Limits = std::numeric_limits<std::int64_t>;
  const Bytes data = noise(3 * 8);
  const Ints rows{1, 3, -1, Limits::max(), Limits::min(), 2};
  Bytes want(z(6 * 8)), out = noise(6 * 8);
  std::copy_n(data.begin() + 8, 8, want.begin());
  std::copy_n(data.begin() + 16, 8, want.begin() + 40);
  CHECK_EQ(cuda::take_rows(kStream, {data.data(), 3, 8}, rows.data(), 6, out.data()), 0);
  CHECK(out == want);
}

TEST(cuda_gather, rows_are_put_in_and_taken_out_as_on_the_cpu) {
  for (int turn = 0; turn < turns_of_one_thread(500); ++turn) {
    const std::int64_t count = draw(0, 9) == 0 ? 3000 : draw(0, 40);
    const std::int64_t n = draw(0, 3) == 0 ? 0 : draw(0, 60);
    const std::int64_t width = draw_width();
    const Bytes data = noise(count * width);
    const Bytes rows = noise(n * width);
    const bool zeros = draw(0, 3) == 0;
    const std::byte* const new_rows = zeros ? nullptr : rows.data();
    Ints positions(z(n));
    for (std::int64_t& position : positions) position = draw(0, count);
    std::sort(positions.begin(), positions.end());
    const Rows values{data.data(), count, width};
    Place want((count + n) * width), out((count + n) * width);
    insert_rows(values, positions.data(), n, new_rows, want.data());
    CHECK_EQ(cuda::insert_rows(kStream, values, positions.data(), n, new_rows, out.data()), 0);
    CHECK(out.contents() == want.contents());
    Place kept_rows(count * width), removed_rows(n * width);
    CHECK_EQ(cuda::remove_rows(kStream, {out.data(), count + n, width}, positions.data(), n, kept_rows.data(),
                               removed_rows.data()),
             0);
    CHECK(kept_rows.contents() == data);
    CHECK(removed_rows.contents() == (zeros ? Bytes(z(n * width)) : rows));
  }
}

TEST(cuda_gather, places_that_lie_stay_inside) {
  using Limits = std::numeric_limits<std::int64_t>;
  const Bytes data = noise(40 * 16);
  for (int turn = 0; turn < turns_of_one_thread(200); ++turn) {
    Ints positions(z(draw(0, 20)));
    for (std::int64_t& position : positions) {
      const std::int64_t kind = draw(0, 5);
      position = kind == 0 ? Limits::max() : kind == 1 ? Limits::min() : draw(-50, 50);
    }
    const std::int64_t n = std::ssize(positions);
    Bytes out(z((40 + n) * 16)), kept_rows(z((40 - n) * 16)), removed_rows(z(n * 16));
    const Bytes new_rows = noise(n * 16);
    CHECK_EQ(
        cuda::insert_rows(kStream, {data.data(), 40, 16}, positions.data(), n, new_rows.data(), out.data()),
        0);
    CHECK_EQ(cuda::remove_rows(kStream, {data.data(), 40, 16}, positions.data(), n, kept_rows.data(),
                               removed_rows.data()),
             0);
  }
}
