// The kernels of the GPU that move rows, run thread by thread: byte for byte what those of the CPU give.
#include <cstdint>
#include <cstring>
#include <iterator>
#include <numeric>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/cuda/batch.hpp"
#include "varlen/cuda/expand.hpp"
#include "varlen/cuda/pad.hpp"
#include "varlen/expand.hpp"
#include "varlen/pad.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

void check_pad(std::int64_t n, int depth, std::int64_t longest) {
  const std::int64_t width = draw_width();
  const Nest nest = draw_nest(n, depth, longest, width);
  const Draw d = draw_padding(depth, longest, width);
  const Range rows{n > 0 ? draw(0, n - 1) : 0, n};
  const std::int64_t slots = slots_of(d.sizes, rows.size());
  Place want(slots * width), want_mask(slots);
  pad(nest.levels.data(), depth, rows, nest.values, d.sizes.data(), d.how, want.data());
  pad_mask(nest.levels.data(), depth, rows, d.sizes.data(), d.how, want_mask.data());
  Place out(slots * width), mask(slots);
  CHECK_EQ(
      cuda::pad(kStream, nest.levels.data(), depth, rows, nest.values, d.sizes.data(), d.how, {}, out.data()),
      0);
  CHECK_EQ(cuda::pad_mask(kStream, nest.levels.data(), depth, rows, d.sizes.data(), d.how, mask.data()), 0);
  CHECK(out.contents() == want.contents());
  CHECK(mask.contents() == want_mask.contents());
}

/// The kernel of batches gives the same of sequences that are named.
void check_batch_of(const std::vector<std::int64_t>& sequences, const Nest& nest, const Draw& d,
                    const Bytes& want) {
  std::vector<cuda::BatchAxis> axes;
  for (std::size_t k = 0; k < nest.levels.size(); ++k) {
    axes.push_back({nest.levels[k], d.sizes[k], d.how.keeps != nullptr ? d.how.keeps[k] : d.sizes[k]});
  }
  Place out(std::ssize(want));
  cuda::BatchArray array;
  array.depth = static_cast<int>(axes.size());
  array.rows = nest.values;
  if (d.how.fill != nullptr) {
    array.fill = {d.how.fill, d.how.period > 0 ? d.how.period : nest.values.width};
  }
  array.out = out.data();
  const cuda::BatchJob job{axes.data(), array.depth, std::ssize(sequences), d.how.side, d.how.cut,
                           &array,      1,           sequences.data()};
  CHECK_EQ(cuda::batch(kStream, job), 0);
  CHECK(out.contents() == want);
}

/// Sequences that are named, with mask and positions, in one call.
void check_picked(std::int64_t n, int depth, std::int64_t longest) {
  const std::int64_t width = draw_width();
  const Nest nest = draw_nest(n, depth, longest, width);
  const Draw d = draw_padding(depth, longest, width);
  const Range rows{0, draw(0, 9)};
  std::vector<std::int64_t> sequences;
  std::vector<Segment> segments;
  for (std::int64_t k = 0; k < rows.end; ++k) {
    const std::int64_t i = draw(-n - 1, n);  // some name none
    const std::int64_t at = i < 0 ? i + n : i;
    const bool exists = at >= 0 && at < n;
    sequences.push_back(i);
    const Offsets level = nest.levels[0];
    segments.push_back(
        {nest.levels.data() + 1, nest.values, exists ? Range{level.start(at), level.end(at)} : Range{0, 0}});
  }
  const std::int64_t slots = slots_of(d.sizes, rows.size());
  Place want(slots * width), want_mask(slots);
  pad_segments(segments.data(), 1, rows.size(), depth, d.sizes.data(), d.how, want.data());
  pad_segments_mask(segments.data(), 1, rows.size(), depth, d.sizes.data(), d.how, want_mask.data());
  Place out(slots * width), mask(slots);
  std::vector<std::int64_t> positions(z(slots), -1);
  const cuda::PadMore extras{sequences.data(), mask.data(), positions.data()};
  CHECK_EQ(cuda::pad(kStream, nest.levels.data(), depth, rows, nest.values, d.sizes.data(), d.how, extras,
                     out.data()),
           0);
  CHECK(out.contents() == want.contents());
  const Bytes marks = mask.contents();
  CHECK(marks == want_mask.contents());
  std::vector<Range> row_ranges;
  for (const Segment& segment : segments) row_ranges.push_back(segment.rows);
  std::vector<std::int64_t> places(z(slots), -1);
  pad_picked_positions(row_ranges.data(), rows.size(), nest.levels.data() + 1, depth, d.sizes.data(), d.how,
                       places.data());
  CHECK(positions == places);
  check_batch_of(sequences, nest, d, want.contents());
}

}  // namespace

TEST(cuda_moves, pad_is_that_of_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(800); ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    check_pad(draw(0, depth == 1 ? 40 : 6), depth, draw_longest(depth));
  }
  check_pad(1, 1, 20'000);
}

TEST(cuda_moves, named_sequences_come_with_mask_and_positions) {
  for (int turn = 0; turn < turns_of_one_thread(300); ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    check_picked(draw(0, depth == 1 ? 20 : 5), depth, draw_longest(depth));
  }
}

TEST(cuda_moves, unpad_is_the_way_back) {
  for (int turn = 0; turn < turns_of_one_thread(800); ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    const std::int64_t width = draw_width();
    const std::int64_t n = draw(0, depth == 1 ? 40 : 6);
    const Nest nest = draw_nest(n, depth, draw_longest(depth), width);
    Draw d = draw_padding(depth, 1, width);
    pad_sizes(nest.levels.data(), depth, {0, n}, d.sizes.data());
    for (std::int64_t& size : d.sizes) size += draw(0, 2);
    Bytes dense(z(slots_of(d.sizes, n) * width));
    pad(nest.levels.data(), depth, {0, n}, nest.values, d.sizes.data(), d.how, dense.data());
    Place out(std::ssize(nest.data));
    CHECK_EQ(cuda::unpad(kStream, dense.data(), width, nest.levels.data(), depth, d.sizes.data(), d.how,
                         nest.values.count, out.data()),
             0);
    CHECK(out.contents() == nest.data);
  }
}

TEST(cuda_moves, rows_that_were_cut_come_back_as_zeros) {
  for (int turn = 0; turn < turns_of_one_thread(400); ++turn) {
    const int depth = static_cast<int>(draw(1, 3));
    const std::int64_t width = draw_width();
    const std::int64_t n = draw(0, depth == 1 ? 40 : 6);
    const std::int64_t longest = draw_longest(depth);
    const Nest nest = draw_nest(n, depth, longest, width);
    const Draw d = draw_padding(depth, longest, width);
    const Rows& values = nest.values;
    Ints ids(z(values.count)), keeps;
    std::iota(ids.begin(), ids.end(), 1);
    for (const std::int64_t size : d.sizes) keeps.push_back(draw(0, size + 1));
    Padding how;
    how.side = d.how.side;
    how.cut = d.how.cut;
    how.keeps = draw(0, 1) == 0 ? keeps.data() : nullptr;
    const std::int64_t slots = slots_of(d.sizes, n);
    std::vector<std::int64_t> row_numbers(z(slots));
    pad(nest.levels.data(), depth, {0, n}, {reinterpret_cast<const std::byte*>(ids.data()), values.count, 8},
        d.sizes.data(), how, reinterpret_cast<std::byte*>(row_numbers.data()));
    const Bytes dense = noise(slots * width);
    Bytes want(z(values.count * width));
    for (std::int64_t k = 0; k < slots; ++k) {
      if (row_numbers[z(k)] == 0 || width == 0) continue;
      std::memcpy(want.data() + (row_numbers[z(k)] - 1) * width, dense.data() + k * width, z(width));
    }
    Place out(values.count * width);
    CHECK_EQ(cuda::unpad(kStream, dense.data(), width, nest.levels.data(), depth, d.sizes.data(), how,
                         values.count, out.data()),
             0);
    CHECK(out.contents() == want);
  }
}

TEST(cuda_moves, expand_is_that_of_the_cpu) {
  for (int turn = 0; turn < turns_of_one_thread(400); ++turn) {
    const std::int64_t width = draw_width();
    const std::int64_t n = draw(0, 60);
    const Nest nest = draw_nest(n, 1, draw(0, 9) == 0 ? 4000 : 9, 0);
    const std::int64_t total = nest.levels[0].total();
    const Bytes rows = noise(n * width);
    for (const int way : {0, 1, 2}) {
      Place want(total * width), out(total * width);
      const Rows in{rows.data(), n, width};
      if (way == 0) {
        expand(nest.levels[0], in, want.data());
        CHECK_EQ(cuda::expand(kStream, nest.levels[0], total, in, out.data()), 0);
      } else {
        expand_end(nest.levels[0], in, way == 1, want.data());
        CHECK_EQ(cuda::expand_end(kStream, nest.levels[0], total, in, way == 1, out.data()), 0);
      }
      CHECK(out.contents() == want.contents());
    }
  }
}
