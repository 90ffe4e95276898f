// Rows added up by weights, and the ways back. What is computed with is float or double; halves are converted
// a few rows at a time.
#include <algorithm>
#include <cstring>

#include "support/dispatch.hpp"
#include "support/sequences.hpp"
#include "varlen/pool.hpp"
#include "varlen/reduce.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kTile = 512;  ///< columns at once
constexpr std::int64_t kRoom = 4096;
constexpr std::int64_t kLanes = 16;

/// acc += weights times rows, in fours.
template <class C>
VARLEN_LOOP void add_rows(const C* __restrict__ values, std::int64_t step, const C* __restrict__ weights,
                          std::int64_t heads, std::int64_t rows, std::int64_t columns,
                          C* __restrict__ acc) noexcept {
  std::int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const C* const v = values + r * step;
    const C* const w = weights + r * heads;
    const C w0 = w[0], w1 = w[heads], w2 = w[2 * heads], w3 = w[3 * heads];
    for (std::int64_t c = 0; c < columns; ++c) {
      acc[c] += (w0 * v[c] + w1 * v[c + step]) + (w2 * v[c + 2 * step] + w3 * v[c + 3 * step]);
    }
  }
  for (; r < rows; ++r) {
    const C w = weights[r * heads];
    for (std::int64_t c = 0; c < columns; ++c) acc[c] += w * values[r * step + c];
  }
}

/// Rows of `out`: those of `sums` added up by the weights of each. A gradient of 0 stays one beside NaN.
template <class C>
VARLEN_LOOP void mix_rows(const C* __restrict__ sums, std::int64_t step, const C* __restrict__ weights,
                          std::int64_t heads, std::int64_t rows, std::int64_t columns, C* __restrict__ out,
                          std::int64_t out_step) noexcept {
  for (std::int64_t r = 0; r < rows; ++r) {
    const C* const w = weights + r * heads;
    C* const to = out + r * out_step;
    for (std::int64_t c = 0; c < columns; ++c) to[c] = sums[c] == 0 ? C{0} : w[0] * sums[c];
    for (std::int64_t h = 1; h < heads; ++h) {
      const C* const partials = sums + h * step;
      for (std::int64_t c = 0; c < columns; ++c) to[c] += partials[c] == 0 ? C{0} : w[h] * partials[c];
    }
  }
}

/// Where they are gradients, those of b that are 0 stay it beside NaN.
template <class C, bool Gradients = false>
VARLEN_LOOP C product_of(const C* __restrict__ a, const C* __restrict__ b, std::int64_t columns) noexcept {
  C lanes[kLanes]{};
  const auto multiply = [](C x, C y) { return Gradients && y == 0 ? C{0} : x * y; };
  std::int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] += multiply(a[c + k], b[c + k]);
  }
  for (std::int64_t k = 0; c + k < columns; ++k) lanes[k] += multiply(a[c + k], b[c + k]);
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  }
  return lanes[0];
}

/// One element of each row of `out`: the product of its values and one row of sums, added to what is there
/// where `adds`.
template <class C>
VARLEN_LOOP void multiply_rows(const C* __restrict__ values, std::int64_t step, const C* __restrict__ sums,
                               std::int64_t rows, std::int64_t columns, bool adds, C* __restrict__ out,
                               std::int64_t out_step) noexcept {
  for (std::int64_t r = 0; r < rows; ++r) {
    const C* const v = values + r * step;
    C product = 0;
    if (columns < kLanes) {
      for (std::int64_t c = 0; c < columns; ++c) product += sums[c] == 0 ? C{0} : v[c] * sums[c];
    } else {
      product = product_of<C, true>(v, sums, columns);
    }
    out[r * out_step] = adds ? out[r * out_step] + product : product;
  }
}

template <class C>
constexpr Type kType = std::is_same_v<C, double> ? Type::f64 : Type::f32;

template <class C>
class WeightedSum {
 public:
  WeightedSum(const WeightedJob& job, std::byte* out) noexcept
      : job_(job),
        input_(cast_of(job.type, kType<C>)),
        output_(cast_of(kType<C>, job.type)),
        size_(size_of(job.type)),
        weights_(reinterpret_cast<const C*>(job.weights)),
        sums_(reinterpret_cast<const C*>(job.sums)),
        out_(out) {}

  void add(std::byte* scratch) const noexcept {
    by_sequences(job_.level, job_.columns * size_, [&](Range partials) {
      for (std::int64_t i = partials.begin; i < partials.end; ++i) {
        if (!is_shared(i)) one(i);
      }
    });
    if (weighted_scratch(job_) == 0) return;
    for (std::int64_t i = 0; i < job_.level.count; ++i) {
      if (is_shared(i)) add_shared(i, reinterpret_cast<double*>(scratch));
    }
  }

  void to_values() const noexcept {
    by_rows([&](Range rows, std::int64_t i) {
      alignas(64) C room[kRoom];
      for (std::int64_t c = 0; c < job_.columns; c += kTile) {
        const std::int64_t w = std::min(kTile, job_.columns - c);
        const C* const from = sums_ + i * job_.heads * job_.columns + c;
        std::byte* const to = out_ + c * size_;
        const std::int64_t width = job_.columns * size_;
        const std::int64_t at_once = output_.run == nullptr ? rows.size() : kRoom / w;
        for (std::int64_t row = rows.begin; row < rows.end; row += at_once) {
          const std::int64_t partials = std::min(at_once, rows.end - row);
          const bool as_is = output_.run == nullptr;
          best<mix_rows<C>>(from, job_.columns, weights_ + row * job_.heads, job_.heads, partials, w,
                            as_is ? reinterpret_cast<C*>(to + row * width) : room, as_is ? job_.columns : w);
          for (std::int64_t r = 0; r < partials && !as_is; ++r) {
            narrow(room + r * w, w, to + (row + r) * width);
          }
        }
      }
    });
  }

  void to_weights() const noexcept {
    by_rows([&](Range rows, std::int64_t i) {
      alignas(64) C room[kRoom];
      C* const to = reinterpret_cast<C*>(out_);
      if (job_.columns == 0) std::fill(to + rows.begin * job_.heads, to + rows.end * job_.heads, C{0});
      for (std::int64_t c = 0; c < job_.columns; c += kTile) {
        const std::int64_t w = std::min(kTile, job_.columns - c);
        const bool as_is = input_.run == nullptr;
        const std::int64_t at_once = as_is ? rows.size() : kRoom / w;
        for (std::int64_t row = rows.begin; row < rows.end; row += at_once) {
          const std::int64_t partials = std::min(at_once, rows.end - row);
          const C* const values = values_of(row, partials, c, w, room);
          for (std::int64_t h = 0; h < job_.heads; ++h) {
            best<multiply_rows<C>>(values, as_is ? job_.columns : w,
                                   sums_ + (i * job_.heads + h) * job_.columns + c, partials, w, c > 0,
                                   to + row * job_.heads + h, job_.heads);
          }
        }
      }
    });
  }

 private:
  [[nodiscard]] bool is_shared(std::int64_t i) const noexcept {
    return job_.level.length(i) * job_.columns * size_ >= kGiantBytes;
  }

  /// body(rows, their sequence) for all rows, by threads.
  template <class Body>
  void by_rows(Body body) const noexcept {
    const std::int64_t total = job_.level.total();
    const std::int64_t chunks = chunks_for(total * job_.columns * size_);
    const auto cut = [&](std::int64_t k) { return k == chunks ? total : total / chunks * k; };
    parallel(chunks, [&](std::int64_t k) {
      const std::int64_t* const ends = job_.level.ends;
      const std::int64_t last = cut(k + 1);
      std::int64_t i = std::upper_bound(ends, ends + job_.level.count, cut(k)) - ends;
      for (std::int64_t row = cut(k); row < last; ++i) {
        const std::int64_t end = std::min(ends[i], last);
        if (end > row) body(Range{row, end}, i);
        row = std::max(row, end);
      }
    });
  }

  /// Columns [c, c + w) of rows, at least one of them: where they lie, or in the room.
  [[nodiscard]] const C* values_of(std::int64_t row, std::int64_t count, std::int64_t c, std::int64_t w,
                                   C* room) const noexcept {
    const std::byte* const from = job_.values + (row * job_.columns + c) * size_;
    if (input_.run == nullptr) return reinterpret_cast<const C*>(from);
    const std::int64_t at_once = w == job_.columns ? count : 1;
    for (std::int64_t r = 0; r < count; r += at_once) {
      input_.run(from + r * job_.columns * size_, at_once * w, nullptr,
                 reinterpret_cast<std::byte*>(room + r * w));
    }
    return room;
  }

  void narrow(const C* from, std::int64_t count, std::byte* to) const noexcept {
    if (output_.run == nullptr) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(C));
    } else {
      output_.run(reinterpret_cast<const std::byte*>(from), count, nullptr, to);
    }
  }

  /// Rows of at most a block.
  void block(Range mine, std::int64_t h, std::int64_t c, std::int64_t w, C* acc) const noexcept {
    alignas(64) C room[kRoom];
    std::fill(acc, acc + w, C{0});
    const bool as_is = input_.run == nullptr;
    if (as_is && job_.columns == 1 && job_.heads == 1 && mine.size() > 0) {
      acc[0] = best<product_of<C>>(weights_ + mine.begin, values_of(mine.begin, 1, 0, 1, room), mine.size());
      return;
    }
    const std::int64_t at_once = as_is ? mine.size() : kRoom / w / 4 * 4;  // whole fours, as if all at once
    for (std::int64_t row = mine.begin; row < mine.end; row += at_once) {
      const std::int64_t partials = std::min(at_once, mine.end - row);
      best<add_rows<C>>(values_of(row, partials, c, w, room), as_is ? job_.columns : w,
                        weights_ + row * job_.heads + h, job_.heads, partials, w, acc);
    }
  }

  [[nodiscard]] Range part_of(std::int64_t i, std::int64_t p) const noexcept {
    const std::int64_t start = job_.level.start(i);
    const std::int64_t part_size = part_rows(job_.level.length(i));
    return {start + p * part_size, std::min(job_.level.end(i), start + (p + 1) * part_size)};
  }
  [[nodiscard]] std::int64_t parts_of(std::int64_t i) const noexcept {
    const std::int64_t rows = job_.level.length(i);
    const std::int64_t part_size = part_rows(rows);
    return (rows + part_size - 1) / part_size;
  }

  /// A part of a sequence, block after block.
  void part(Range mine, std::int64_t h, std::int64_t c, std::int64_t w, double* totals) const noexcept {
    C acc[kTile];
    std::fill(totals, totals + w, 0.0);
    for (std::int64_t row = mine.begin; row < mine.end; row += kReduceBlock) {
      block({row, std::min(row + kReduceBlock, mine.end)}, h, c, w, acc);
      for (std::int64_t k = 0; k < w; ++k) totals[k] += static_cast<double>(acc[k]);
    }
  }

  /// Each head, each tile of columns: body(head, column, columns, where its result goes).
  template <class Body>
  void each_tile(std::int64_t i, Body body) const noexcept {
    for (std::int64_t h = 0; h < job_.heads; ++h) {
      for (std::int64_t c = 0; c < job_.columns; c += kTile) {
        const std::int64_t place = (i * job_.heads + h) * job_.columns + c;
        body(h, c, std::min(kTile, job_.columns - c), out_ + place * size_);
      }
    }
  }

  void one(std::int64_t i) const noexcept {
    const Range all{job_.level.start(i), job_.level.end(i)};
    each_tile(i, [&](std::int64_t h, std::int64_t c, std::int64_t w, std::byte* to) {
      C acc[kTile];
      if (all.size() <= kReduceBlock) {
        block(all, h, c, w, acc);
        return narrow(acc, w, to);
      }
      double totals[kTile];
      double terms[kTile];
      part(part_of(i, 0), h, c, w, totals);
      for (std::int64_t p = 1; p < parts_of(i); ++p) {
        part(part_of(i, p), h, c, w, terms);
        for (std::int64_t k = 0; k < w; ++k) totals[k] += terms[k];
      }
      for (std::int64_t k = 0; k < w; ++k) acc[k] = static_cast<C>(totals[k]);
      narrow(acc, w, to);
    });
  }

  /// By all threads; `totals` has room for kReduceParts times the result.
  void add_shared(std::int64_t i, double* totals) const noexcept {
    const std::int64_t width = job_.heads * job_.columns;
    const std::int64_t parts = parts_of(i);
    parallel(parts, [&](std::int64_t p) {
      each_tile(i, [&](std::int64_t h, std::int64_t c, std::int64_t w, std::byte*) {
        part(part_of(i, p), h, c, w, totals + p * width + h * job_.columns + c);
      });
    });
    each_tile(i, [&](std::int64_t h, std::int64_t c, std::int64_t w, std::byte* to) {
      C acc[kTile];
      double* const first = totals + h * job_.columns + c;
      for (std::int64_t k = 0; k < w; ++k) {
        for (std::int64_t p = 1; p < parts; ++p) first[k] += first[p * width + k];
        acc[k] = static_cast<C>(first[k]);
      }
      narrow(acc, w, to);
    });
  }

  const WeightedJob& job_;
  Convert input_;
  Convert output_;
  std::int64_t size_;
  const C* weights_;
  const C* sums_;
  std::byte* out_;
};

}  // namespace

std::int64_t weighted_scratch(const WeightedJob& job) noexcept {
  if (job.longest * job.columns * size_of(job.type) < kGiantBytes) return 0;
  return kReduceParts * job.heads * job.columns * static_cast<std::int64_t>(sizeof(double));
}

void weighted_sum(const WeightedJob& job, std::byte* scratch, std::byte* out) noexcept {
  job.type == Type::f64 ? WeightedSum<double>(job, out).add(scratch)
                        : WeightedSum<float>(job, out).add(scratch);
}

void weighted_sum_to_values(const WeightedJob& job, std::byte* out) noexcept {
  if (job.heads == 0) {
    const std::int64_t bytes = job.level.total() * job.columns * size_of(job.type);
    if (bytes > 0) std::memset(out, 0, static_cast<std::size_t>(bytes));
  } else if (job.type == Type::f64) {
    WeightedSum<double>(job, out).to_values();
  } else {
    WeightedSum<float>(job, out).to_values();
  }
}

void weighted_sum_to_weights(const WeightedJob& job, std::byte* out) noexcept {
  job.type == Type::f64 ? WeightedSum<double>(job, out).to_weights()
                        : WeightedSum<float>(job, out).to_weights();
}

}  // namespace varlen
