#include "small.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "support/dispatch.hpp"
#include "varlen/copy.hpp"

namespace varlen {
namespace {

// kSmallRow bytes of ones and as many zeros: read from the middle, it is ones up to any place in a row.
constexpr auto kUpTo = [] {
  std::array<std::byte, 2 * kSmallRow> bytes{};
  for (std::size_t i = 0; i < kSmallRow; ++i) bytes[i] = std::byte{0xFF};
  return bytes;
}();

/// One row, exactly: no byte is read or written that is not its own.
template <bool Left, bool Mask>
void one_row(const SmallRows& job, std::int64_t i, std::byte* out) noexcept {
  const std::int64_t start = job.level.start(i);
  const std::int64_t have = job.level.end(i) - start;
  const std::int64_t keep = std::min(have, job.slot_limit);
  const std::int64_t bytes = keep * job.width;
  const std::int64_t gap = (job.slots - keep) * job.width;
  std::byte* data = Left ? out + gap : out;
  std::byte* rest = Left ? out : out + bytes;
  if constexpr (Mask) {
    std::memset(rest, 0, static_cast<std::size_t>(gap));
    std::memset(data, 1, static_cast<std::size_t>(bytes));
  } else {
    std::memcpy(rest, job.fill, static_cast<std::size_t>(gap));
    if (bytes == 0) return;
    const std::int64_t first = start - job.first + (job.cut_left ? have - keep : 0);
    std::memcpy(data, job.data + first * job.width, static_cast<std::size_t>(bytes));
  }
}

/// The rows of [begin, end) around which everything may be read and written whole.
template <bool Left, bool Mask>
Range whole_rows(const SmallRows& job, std::int64_t reach, const std::byte* out,
                 const std::byte* limit) noexcept {
  const std::int64_t row_bytes = job.slots * job.width;
  const std::int64_t fit = limit - out < reach ? 0 : (limit - out - reach) / row_bytes + 1;
  Range rows{job.rows.begin, std::min(job.rows.end, job.rows.begin + fit)};
  if constexpr (!Mask) {
    const auto place_of = [&](std::int64_t row) { return (row - job.first) * job.width; };
    const std::int64_t readable = job.end - job.data;
    const std::int64_t lead = job.data - job.begin;
    while (rows.end > rows.begin && place_of(job.level.end(rows.end - 1)) + reach > readable) --rows.end;
    while (Left && rows.begin < rows.end && place_of(job.level.start(rows.begin)) + lead < row_bytes)
      ++rows.begin;
  }
  return rows;
}

/// Rows of so many vectors V, compiled for what its caller is compiled for.
template <class V, int Vectors, bool Left, bool Mask>
[[gnu::always_inline]] inline void rows_of(const SmallRows& job, std::byte* out,
                                           const std::byte* limit) noexcept {
  constexpr std::ptrdiff_t kVector = sizeof(V);
  const std::int64_t width = job.width;
  const std::int64_t row_bytes = job.slots * width;
  const std::int64_t byte_limit = job.slot_limit * width;
  const std::int64_t cut = job.cut_left ? -1 : 0;
  const Range full_rows = whole_rows<Left, Mask>(job, Vectors * kVector, out, limit);
  const std::int64_t* const ends = job.level.ends;
  std::int64_t i = job.rows.begin;
  for (; i < full_rows.begin; ++i, out += row_bytes) one_row<Left, Mask>(job, i, out);
  std::int64_t start = i < full_rows.end ? job.level.start(i) : 0;
  const std::byte* input = Mask ? nullptr : job.data + (start - job.first) * width;
  V fill[Vectors];
  if constexpr (!Mask) std::memcpy(fill, job.fill, sizeof fill);
  for (; i < full_rows.end; ++i, out += row_bytes) {
    const std::int64_t have = (ends[i] - start) * width;
    const std::int64_t bytes = std::min(have, byte_limit);
    start = ends[i];
    const std::byte* from = input;
    if constexpr (!Mask) {
      from += ((have - bytes) & cut) + (Left ? bytes - row_bytes : 0);
      input += have;
    }
    const std::byte* up_to = kUpTo.data() + kSmallRow - (Left ? row_bytes - bytes : bytes);
    for (int v = 0; v < Vectors; ++v) {
      V present_mask;
      std::memcpy(&present_mask, up_to + kVector * v, sizeof present_mask);
      V blend;
      if constexpr (Mask) {
        blend = (Left ? ~present_mask : present_mask) & 1;
      } else {
        V data;
        std::memcpy(&data, from + kVector * v, sizeof data);
        blend = Left ? ((fill[v] & present_mask) | (data & ~present_mask))
                     : ((data & present_mask) | (fill[v] & ~present_mask));
      }
      std::memcpy(out + kVector * v, &blend, sizeof blend);
    }
  }
  for (; i < job.rows.end; ++i, out += row_bytes) one_row<Left, Mask>(job, i, out);
}

using Kernel = void (*)(const SmallRows&, std::byte*, const std::byte*) noexcept;

struct Narrow {
  static constexpr std::int64_t kBytes = sizeof(Vec);
  template <int Vectors, bool Left, bool Mask>
  static void run(const SmallRows& job, std::byte* out, const std::byte* limit) noexcept {
    rows_of<Vec, Vectors, Left, Mask>(job, out, limit);
  }
};

#ifdef VARLEN_AVX2
struct Avx2 {
  static constexpr std::int64_t kBytes = sizeof(Wide);
  template <int Vectors, bool Left, bool Mask>
  VARLEN_AVX2 static void run(const SmallRows& job, std::byte* out, const std::byte* limit) noexcept {
    rows_of<Wide, Vectors, Left, Mask>(job, out, limit);
  }
};
#endif

template <class How, bool Left, bool Mask, std::size_t... Is>
constexpr std::array<Kernel, sizeof...(Is)> kernels(std::index_sequence<Is...> /*vectors*/) {
  return {&How::template run<static_cast<int>(Is) + 1, Left, Mask>...};
}

template <class How>
void run(const SmallRows& job, std::int64_t row_bytes, std::byte* out, const std::byte* limit) noexcept {
  constexpr auto kCount = std::make_index_sequence<kSmallRow / How::kBytes>{};
  static constexpr std::array<std::array<Kernel, kSmallRow / How::kBytes>, 4> kTable{
      kernels<How, false, false>(kCount), kernels<How, false, true>(kCount),
      kernels<How, true, false>(kCount), kernels<How, true, true>(kCount)};
  const std::size_t kind = (job.left ? 2U : 0U) + (job.mask ? 1U : 0U);
  kTable[kind][static_cast<std::size_t>((row_bytes - 1) / How::kBytes)](job, out, limit);
}

}  // namespace

void pad_small(const SmallRows& job, std::byte* out, const std::byte* limit) noexcept {
  const std::int64_t row_bytes = job.slots * job.width;
  if (row_bytes == 0) return;
#ifdef VARLEN_AVX2
  if (runs(Isa::avx2) && row_bytes > Narrow::kBytes) {
    run<Avx2>(job, row_bytes, out, limit);
    return;
  }
#endif
  run<Narrow>(job, row_bytes, out, limit);
}

}  // namespace varlen
