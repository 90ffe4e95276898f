// Bytes as lengths, as ends and as row ids: each is refused at the first bad place, or comes back whole.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "varlen/offsets.hpp"

namespace {

using Ints = std::vector<std::int64_t>;

void require(bool law) {
  if (!law) std::abort();
}

template <class T>
std::vector<T> numbers(const std::uint8_t* data, std::size_t size) {
  std::vector<T> out(size / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), data, out.size() * sizeof(T));
  return out;
}

// The plain sum in 128 bits: where it stops fitting, and at which row a length is negative.
template <class T>
void lengths_law(const std::uint8_t* data, std::size_t size) {
  const auto lengths = numbers<T>(data, size);
  const auto n = static_cast<std::int64_t>(lengths.size());
  Ints offsets(lengths.size() + 1, -1);
  const varlen::Status status = varlen::offsets_from_lengths(lengths.data(), n, offsets.data());
  __int128 sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto length = static_cast<__int128>(lengths[static_cast<std::size_t>(i)]);
    sum += length;
    if (length < 0 || sum > INT64_MAX) {
      require(status.where == i);
      require(status.code == (length < 0 ? varlen::Code::negative_length : varlen::Code::overflow));
      return;
    }
  }
  require(status.ok() && offsets.front() == 0 && offsets.back() == static_cast<std::int64_t>(sum));
  Ints again(lengths.size());
  varlen::lengths_of({offsets.data() + 1, n}, again.data());
  for (std::size_t i = 0; i < again.size(); ++i) require(again[i] == static_cast<std::int64_t>(lengths[i]));
}

void ends_law(const std::uint8_t* data, std::size_t size) {
  Ints ends = numbers<std::int64_t>(data, size);
  std::int64_t limit = -1;
  if (!ends.empty()) {
    limit = ends.back();
    ends.pop_back();
  }
  const auto n = static_cast<std::int64_t>(ends.size());
  const varlen::Status status = varlen::check_ends({ends.data(), n}, limit);
  std::int64_t bad = n;
  for (std::int64_t i = n - 1; i >= 0; --i) {
    const std::int64_t end = ends[static_cast<std::size_t>(i)];
    const std::int64_t previous = i > 0 ? ends[static_cast<std::size_t>(i - 1)] : 0;
    if (end < previous || (limit >= 0 && end > limit)) bad = i;
  }
  require(status.ok() == (bad == n));
}

void row_ids_law(const std::uint8_t* data, std::size_t size) {
  Ints ids;
  for (const auto id : numbers<std::int8_t>(data, size)) ids.push_back(id);
  constexpr std::int64_t kCount = 100;
  Ints offsets(kCount + 1, -1);
  const auto total = static_cast<std::int64_t>(ids.size());
  if (!varlen::offsets_from_row_ids(ids.data(), total, kCount, offsets.data()).ok()) return;
  require(varlen::check_ends({offsets.data() + 1, kCount}, total).ok());
  Ints again(ids.size());
  varlen::row_ids_of({offsets.data() + 1, kCount}, again.data());
  require(again == ids);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  switch (data[0] % 6) {
    case 0:
      lengths_law<std::int8_t>(data + 1, size - 1);
      break;
    case 1:
      lengths_law<std::uint16_t>(data + 1, size - 1);
      break;
    case 2:
      lengths_law<std::int64_t>(data + 1, size - 1);
      break;
    case 3:
      lengths_law<std::uint64_t>(data + 1, size - 1);
      break;
    case 4:
      ends_law(data + 1, size - 1);
      break;
    default:
      row_ids_law(data + 1, size - 1);
  }
  return 0;
}
