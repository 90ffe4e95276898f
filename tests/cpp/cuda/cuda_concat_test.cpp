// Many inputs laid end to end, and sequence by sequence, on the device: byte for byte what the CPU gives.
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "pad_draw.hpp"
#include "varlen/concat.hpp"
#include "varlen/cuda/concat.hpp"
#include "varlen/pool.hpp"

namespace {

using namespace varlen;
using namespace varlen::test;

const cuda::Stream kStream;

void check_concat(std::int64_t n, std::int64_t longest, std::int64_t width) {
  std::vector<Bytes> data;
  std::vector<ConcatBlock> blocks;
  for (std::int64_t i = 0; i < n; ++i) data.push_back(noise(draw(0, 3) == 0 ? 0 : draw(0, longest) * width));
  std::int64_t end = 0;
  for (const Bytes& block : data) blocks.push_back({block.data(), end += std::ssize(block)});
  Place want(end), out(end);
  concat(blocks.data(), n, want.data());
  // Few are read here, many on the device.
  const bool few = n <= cuda::kFewInputs;
  CHECK_EQ(cuda::concat(kStream, blocks.data(), few ? nullptr : blocks.data(), n, out.data()), 0);
  CHECK(out.contents() == want.contents());
}

void check_interleave(std::int64_t parts, std::int64_t n, std::int64_t longest, std::int64_t width) {
  std::vector<Nest> nests;
  std::vector<Offsets> levels;
  for (std::int64_t p = 0; p < parts; ++p) nests.push_back(draw_nest(n, 1, longest, width));
  std::vector<Part> inputs;
  for (const Nest& nest : nests) {
    levels.push_back(nest.levels[0]);
    inputs.push_back({nest.values.data, nest.levels[0].ends});
  }
  Ints ends(z(n));
  CHECK(interleave_ends(levels.data(), parts, ends.data()).ok());
  const Offsets interleaved{ends.data(), n};
  Place want(interleaved.total() * width), out(interleaved.total() * width);
  interleave(inputs.data(), parts, width, interleaved, want.data());
  CHECK_EQ(cuda::interleave(kStream, inputs.data(), parts <= cuda::kFewInputs ? nullptr : inputs.data(),
                            parts, width, interleaved, interleaved.total(), out.data()),
           0);
  CHECK(out.contents() == want.contents());
}

}  // namespace

TEST(cuda_concat, blocks_lie_as_on_the_cpu) {
  set_num_threads(1);
  for (int turn = 0; turn < turns_of_one_thread(400); ++turn) {
    const std::int64_t width = kWidths[z(draw(0, std::ssize(kWidths) - 1))];
    check_concat(draw(0, 20), draw(0, 9) == 0 ? 900 : 12, width);
  }
  for (const std::int64_t n : {cuda::kFewInputs, cuda::kFewInputs + 1, std::int64_t{500}}) {
    check_concat(n, 30, 4);
    check_concat(n, 0, 4);
  }
  check_concat(2, 60'000, 1);
}

TEST(cuda_concat, sequences_lie_as_on_the_cpu) {
  for (int turn = 0; turn < turns_of_one_thread(300); ++turn) {
    const std::int64_t width = kWidths[z(draw(0, std::ssize(kWidths) - 1))];
    check_interleave(draw(1, 6), draw(0, 30), draw(0, 9) == 0 ? 300 : 8, width);
  }
  for (const std::int64_t n : {cuda::kFewInputs, cuda::kFewInputs + 1}) check_interleave(n, 9, 5, 8);
}
