// Any bytes as an entry in blocks of bits: what is asked for is written, no more, or the entry is refused.
// An input is a width, a count and a range, and then the entry.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "varlen/bits.hpp"

namespace {

void require(bool law) {
  if (!law) std::abort();
}

constexpr std::int64_t kMostNumbers = 5000;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint16_t head[4] = {};
  if (size < sizeof head) return 0;
  std::memcpy(head, data, sizeof head);
  // A block of its own, so that one byte too many is seen.
  const std::vector<std::uint8_t> entry(data + sizeof head, data + size);
  varlen::BitBlocks blocks;
  blocks.data = reinterpret_cast<const std::byte*>(entry.data());
  blocks.size = static_cast<std::int64_t>(entry.size());
  blocks.width = std::int64_t{1} << (head[0] % 4);
  blocks.count = head[1] % (kMostNumbers + 1);
  const std::int64_t begin = head[2] % (blocks.count + 1);
  const std::int64_t end = begin + head[3] % (blocks.count - begin + 1);
  std::vector<std::byte> out(static_cast<std::size_t>((end - begin) * blocks.width));
  const varlen::Status status = varlen::decode_bits(blocks, {begin, end}, out.data());
  require(status.ok() || status.code == varlen::Code::bad_block);

  // The same bytes as numbers: what they are encoded to gives them back.
  const std::int64_t count = blocks.size / blocks.width;
  const std::int64_t records = varlen::BitBlocks{nullptr, 0, count, blocks.width}.blocks();
  std::vector<std::byte> code(static_cast<std::size_t>(count * blocks.width));
  std::vector<std::byte> table(static_cast<std::size_t>(records * varlen::kRecordBytes));
  const auto kind = static_cast<varlen::WordKind>(head[0] / 4 % 3);
  const std::int64_t bytes =
      varlen::encode_bits(blocks.data, count, blocks.width, kind, 0, code.data(), table.data());
  code.resize(static_cast<std::size_t>(bytes));
  code.insert(code.end(), table.begin(), table.end());
  std::vector<std::byte> again(static_cast<std::size_t>(count * blocks.width));
  const varlen::BitBlocks all{code.data(), static_cast<std::int64_t>(code.size()), count, blocks.width};
  require(varlen::decode_bits(all, {0, count}, again.data()).ok());
  require(count == 0 || std::memcmp(again.data(), entry.data(), again.size()) == 0);
  return 0;
}
