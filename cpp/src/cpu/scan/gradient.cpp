#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "support/elements.hpp"
#include "support/read_once.hpp"
#include "support/sequences.hpp"
#include "varlen/pool.hpp"
#include "varlen/scan.hpp"

namespace varlen {
namespace {

template <class T>
bool are_equal(T a, T b) noexcept {
  if constexpr (kHalf<T>) {
    return are_equal(widen(a), widen(b));
  } else if constexpr (std::is_integral_v<T>) {
    return a == b;
  } else {
    return a == b || (std::isnan(a) && std::isnan(b));
  }
}

/// Rows [rows) of sequence i, in the direction of the scan. What a row is the same as lies in one run with
/// it, so where threads cut a sequence the first row of the run is searched for.
template <class T>
void which_rows(const ScanJob& job, std::int64_t i, Range rows, std::int64_t* which) noexcept {
  const std::int64_t columns = job.columns;
  const std::int64_t step = job.reverse ? -1 : 1;
  const std::int64_t first = job.reverse ? job.level.end(i) - 1 : job.level.start(i);
  const std::int64_t start = job.level.start(i);
  const std::int64_t lead = job.exclusive ? 1 : 0;  // how many rows have none of their own
  const auto value = [&](std::int64_t t, std::int64_t c) {
    return read<T>(job.values, (first + t * step) * columns + c);
  };
  // Places t count from where the scan begins.
  std::int64_t t = job.reverse ? first - (rows.end - 1) : rows.begin - first;
  const std::int64_t end = t + rows.size();
  for (const std::int64_t begin = t; t < end; ++t) {
    const std::int64_t own = first + (t - lead) * step - start;
    std::int64_t* const to = which + (first + t * step) * columns;
    for (std::int64_t c = 0; c < columns; ++c) {
      if (t < lead) {
        to[c] = -1;
      } else if (t == lead || !are_equal(value(t, c), value(t - 1, c))) {
        to[c] = own;
      } else if (t > begin) {
        to[c] = to[c - step * columns];
      } else {
        std::int64_t low = lead;
        for (std::int64_t high = t; low < high;) {
          const std::int64_t middle = low + (high - low) / 2;
          if (are_equal(value(middle, c), value(t, c))) {
            high = middle;
          } else {
            low = middle + 1;
          }
        }
        to[c] = first + (low - lead) * step - start;
      }
    }
  }
}

template <class T>
void which_all(const ScanJob& job, std::int64_t* which) noexcept {
  const Offsets level = job.level;
  const std::int64_t total = level.total();
  const std::int64_t chunks = chunks_for(total * job.columns * 8);
  const auto cut = [&](std::int64_t k) { return k == chunks ? total : total / chunks * k; };
  parallel(chunks, [&](std::int64_t k) {
    std::int64_t row = cut(k);
    const std::int64_t to = cut(k + 1);
    std::int64_t i = std::upper_bound(level.ends, level.ends + level.count, row) - level.ends;
    for (; row < to; ++i) {
      const std::int64_t end = std::min(to, level.end(i));
      if (row < end) which_rows<T>(job, i, {row, end}, which);
      row = end;
    }
  });
}

/// The rows of one sequence. A run of the same place is summed before it is written.
template <class T>
void sum_places(const std::byte* dy, Range rows, std::int64_t columns, const std::int64_t* which,
                std::byte* out) noexcept {
  using Acc = std::conditional_t<kHalf<T>, float, double>;
  constexpr std::int64_t kTile = 256;
  for (std::int64_t c = 0; c < columns; c += kTile) {
    const std::int64_t n = std::min(kTile, columns - c);
    Acc sums[kTile];
    std::int64_t places[kTile];
    std::fill(places, places + n, -1);
    const auto put = [&](std::int64_t k) {
      const std::int64_t index = (rows.begin + places[k]) * columns + c + k;
      if (places[k] >= 0) write(out, index, convert<T>(convert<Acc>(read<T>(out, index)) + sums[k]));
    };
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t index = row * columns + c + k;
        const std::int64_t place = read_once(which + index);
        if (place != places[k]) {
          put(k);
          places[k] = is_inside(place, rows.size()) ? place : -1;
          sums[k] = Acc(-0.0);
        }
        sums[k] += convert<Acc>(read<T>(dy, index));
      }
    }
    for (std::int64_t k = 0; k < n; ++k) put(k);
  }
}

/// A gradient of 0 stays one beside a NaN or an infinity.
double multiply(double x, double gradient) noexcept {
  return gradient == 0 ? 0 : x * gradient;
}

template <class T>
void prod_back(const ScanJob& job, const std::byte* dy, const std::byte* lead, std::byte* out) noexcept {
  constexpr std::int64_t kTile = 256;
  const std::int64_t columns = job.columns;
  by_sequences(job.level, columns * static_cast<std::int64_t>(sizeof(T)), [&](Range share) {
    double sums[kTile];
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      const std::int64_t rows = job.level.length(i);
      for (std::int64_t c = 0; c < columns; c += kTile) {
        const std::int64_t w = std::min(kTile, columns - c);
        std::fill(sums, sums + w, 0.0);
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::int64_t row = job.reverse ? job.level.start(i) + r : job.level.end(i) - 1 - r;
          for (std::int64_t k = 0; k < w; ++k) {
            const std::int64_t index = row * columns + c + k;
            const auto d = static_cast<double>(read<T>(dy, index));
            const auto x = static_cast<double>(read<T>(job.values, index));
            const auto p = static_cast<double>(read<T>(lead, index));
            // sums: the gradient of the product before this row, when the row is not part of it.
            const double own = job.exclusive ? sums[k] : sums[k] + d;
            write(out, index, static_cast<T>(multiply(p, own)));
            sums[k] = job.exclusive ? d + multiply(x, sums[k]) : multiply(x, own);
          }
        }
      }
    }
  });
}

}  // namespace

void scan_which(const ScanJob& job, std::int64_t* which) noexcept {
  switch (job.type) {
    case Type::f16:
      return which_all<Half>(job, which);
    case Type::bf16:
      return which_all<BFloat>(job, which);
    case Type::f32:
      return which_all<float>(job, which);
    case Type::f64:
      return which_all<double>(job, which);
    default:
      break;
  }
  const std::int64_t size = size_of(job.type);
  if (size == 1) return which_all<std::uint8_t>(job, which);
  if (size == 2) return which_all<std::uint16_t>(job, which);
  if (size == 4) return which_all<std::uint32_t>(job, which);
  which_all<std::uint64_t>(job, which);
}

Status scan_which_check(Offsets level, std::int64_t columns, const std::int64_t* which) noexcept {
  for (std::int64_t i = 0; i < level.count; ++i) {
    const std::int64_t length = level.length(i);
    for (std::int64_t index = level.start(i) * columns; index < level.end(i) * columns; ++index) {
      if (which[index] < -1 || which[index] >= length) return {Code::index_out_of_range, index, which[index]};
    }
  }
  return {};
}

void scan_which_back(Type type, const std::byte* dy, Offsets level, std::int64_t columns,
                     const std::int64_t* which, std::byte* out) noexcept {
  const std::int64_t width = columns * size_of(type);
  by_sequences(level, width, [&](Range share) {
    for (std::int64_t i = share.begin; i < share.end; ++i) {
      const Range rows{level.start(i), level.end(i)};
      std::memset(out + rows.begin * width, 0, static_cast<std::size_t>(rows.size() * width));
      if (type == Type::f16) {
        sum_places<Half>(dy, rows, columns, which, out);
      } else if (type == Type::bf16) {
        sum_places<BFloat>(dy, rows, columns, which, out);
      } else if (type == Type::f32) {
        sum_places<float>(dy, rows, columns, which, out);
      } else {
        sum_places<double>(dy, rows, columns, which, out);
      }
    }
  });
}

void scan_prod_back(const ScanJob& job, const std::byte* dy, const std::byte* lead, std::byte* out) noexcept {
  job.type == Type::f32 ? prod_back<float>(job, dy, lead, out) : prod_back<double>(job, dy, lead, out);
}

}  // namespace varlen
