// The ways back of products and of what is weighed row by row.
#include <algorithm>

#include "tables.hpp"
#include "varlen/sequence.hpp"

namespace varlen {
namespace {

constexpr std::int64_t kProdTile = 256;

/// The gradient of a result becomes what rows, less their mean or as they are, are weighed by.
template <class T>
void weigh_gradients(const ReduceBackJob& job, T* weights) noexcept {
  const T* gradients = reinterpret_cast<const T*>(job.gradients);
  const T* result = reinterpret_cast<const T*>(job.result);
  for (std::int64_t i = 0; i < job.level.count; ++i) {
    const double freedom = static_cast<double>(job.level.length(i)) - job.ddof;
    const T free = freedom > 0 ? static_cast<T>(freedom) : std::numeric_limits<T>::quiet_NaN();
    for (std::int64_t k = 0; k < job.columns; ++k) {
      const std::int64_t place = i * job.columns + k;
      const T gradient = gradients[place];
      if (gradient == 0 || job.op == Reduce::logsumexp) {
        weights[place] = gradient;
      } else if (job.op == Reduce::var) {
        weights[place] = 2 * gradient / free;
      } else if (job.op == Reduce::std) {
        weights[place] = result[place] == 0 ? T{0} : gradient / (free * result[place]);
      } else {
        weights[place] = result[place] == 0 ? T{0} : gradient / result[place];
      }
    }
  }
}

/// What stands before a row, and then what stands behind it.
template <class T>
void others(const ReduceBackJob& job, Range share, T* out) noexcept {
  const T* const values = reinterpret_cast<const T*>(job.values);
  const T* const gradients = reinterpret_cast<const T*>(job.gradients);
  const std::int64_t columns = job.columns;
  T product[kProdTile];
  for (std::int64_t i = share.begin; i < share.end; ++i) {
    const Range rows{job.level.start(i), job.level.end(i)};
    for (std::int64_t c = 0; c < columns; c += kProdTile) {
      const std::int64_t w = std::min(kProdTile, columns - c);
      std::fill(product, product + w, T{1});
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const T* const x = values + row * columns + c;
        T* const to = out + row * columns + c;
        for (std::int64_t k = 0; k < w; ++k) {
          to[k] = product[k];
          product[k] = product[k] * x[k];
        }
      }
      const T* const gradient = gradients + i * columns + c;
      std::copy(gradient, gradient + w, product);
      for (std::int64_t row = rows.end - 1; row >= rows.begin; --row) {
        const T* const x = values + row * columns + c;
        T* const to = out + row * columns + c;
        for (std::int64_t k = 0; k < w; ++k) {
          to[k] = gradient[k] == 0 ? T{0} : to[k] * product[k];
          product[k] = product[k] * x[k];
        }
      }
    }
  }
}

}  // namespace

void reduce_back(const ReduceBackJob& job, std::byte* weights, std::byte* out) noexcept {
  if (job.columns <= 0) return;
  const Type type = job.type == Type::f64 ? Type::f64 : Type::f32;
  if (job.op == Reduce::prod) {
    return by_sequences(job.level, 2 * job.columns * size_of(type), [&](Range share) {
      if (type == Type::f64) {
        others(job, share, reinterpret_cast<double*>(out));
      } else {
        others(job, share, reinterpret_cast<float*>(out));
      }
    });
  }
  if (type == Type::f64) {
    weigh_gradients(job, reinterpret_cast<double*>(weights));
  } else {
    weigh_gradients(job, reinterpret_cast<float*>(weights));
  }
  SequenceJob rows;
  rows.op = job.op == Reduce::norm        ? SequenceOp::weighed_rows
            : job.op == Reduce::logsumexp ? SequenceOp::weighed_softmax
                                          : SequenceOp::weighed_centred;
  rows.level = job.level;
  rows.longest = job.longest;
  rows.a = job.values;
  rows.input = {cast_of(job.type, type).run, size_of(job.type), size_of(type)};
  rows.out = {cast_of(type, job.type).run, size_of(type), size_of(job.type)};
  rows.columns = job.columns;
  rows.weights = weights;
  run_sequence_op(rows, type, out);
}

}  // namespace varlen
