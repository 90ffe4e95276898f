// Reductions of the host, which give what the caller wants in the place of reduced_type: see reduce.hpp.
#include "room.hpp"
#include "varlen/host.hpp"

namespace varlen::host {

using cuda::Error;
using cuda::Stream;

namespace {

/// Bools are counted in u64 and given as i64, which hold the same bits.
bool is_direct(Type result, Type target) noexcept {
  return result == target || (result == Type::u64 && target == Type::i64);
}

/// Whether results go through another type: halves do, and extremes of what is narrower than 64 bits.
bool is_converted(const ReduceJob& job) noexcept {
  const bool keeps_type = is_float(job.type) || job.op == Reduce::max || job.op == Reduce::min;
  const Type result = reduced_type(job.op, job.type);
  return keeps_type && !is_direct(result, job.type);
}

/// Products are worked out in place, so halves go through a copy.
bool is_copied(const ReduceBackJob& job) noexcept {
  return job.op == Reduce::prod && compute_type(job.type) != job.type;
}

}  // namespace

std::int64_t reduce_scratch(const ReduceJob& job, std::int64_t) noexcept {
  const std::int64_t own = varlen::reduce_scratch(job);
  if (!is_converted(job)) return own;
  return part(own) + job.level.count * job.columns * size_of(reduced_type(job.op, job.type));
}

Error reduce(Stream, const ReduceJob& job, std::int64_t, Type type, std::byte* scratch,
             std::byte* out) noexcept {
  const Type result = reduced_type(job.op, job.type);
  if (is_direct(result, type)) {
    varlen::reduce(job, scratch, out);
    return 0;
  }
  alignas(8) std::byte empty[8] = {};
  ReduceJob wide = job;
  if (job.empty != nullptr) {
    cast(cast_of(type, result), job.empty, 1, empty);
    wide.empty = empty;
  }
  Room room(scratch);
  std::byte* const own = room.take(varlen::reduce_scratch(job));
  std::byte* const results = room.take(0);
  varlen::reduce(wide, own, results);
  cast(cast_of(result, type), results, job.level.count * job.columns, out);
  return 0;
}

Error reduce_extreme(Stream stream, const ReduceJob& job, std::int64_t total, std::byte* scratch,
                     std::byte* out, Places which) noexcept {
  if (is_float(job.type) && !is_converted(job)) {
    varlen::reduce_extreme(job, scratch, out, which);
    return 0;
  }
  const Error error = host::reduce(stream, job, total, job.type, scratch, out);
  reduce_which(job, out, which);
  return error;
}

std::int64_t reduce_back_scratch(const ReduceBackJob& job, std::int64_t total) noexcept {
  const Type type = compute_type(job.type);
  const std::int64_t rows = job.level.count * job.columns;
  const std::int64_t elements = is_copied(job) ? total * job.columns : 0;
  return part(rows * size_of(type)) + 2 * part_as(type, rows, job.type) + 2 * part(elements * size_of(type));
}

Error reduce_back(Stream, const ReduceBackJob& job, std::int64_t total, std::byte* scratch,
                  std::byte* out) noexcept {
  const Type type = compute_type(job.type);
  const std::int64_t rows = job.level.count * job.columns;
  const std::int64_t elements = total * job.columns;
  Room room(scratch);
  ReduceBackJob wide_job = job;
  std::byte* const weights = room.take(rows * size_of(type));
  wide_job.gradients = room.as(type, job.gradients, rows, job.type);
  if (job.result != nullptr) wide_job.result = room.as(type, job.result, rows, job.type);
  if (!is_copied(job)) {
    varlen::reduce_back(wide_job, weights, out);
    return 0;
  }
  wide_job.values = room.as(type, job.values, elements, job.type);
  std::byte* const product = room.take(elements * size_of(type));
  varlen::reduce_back(wide_job, weights, product);
  cast(cast_of(type, job.type), product, elements, out);
  return 0;
}

std::int64_t reduce_blocks_scratch(const BlocksJob& job, const cuda::BlocksSizes& sizes) noexcept {
  const Type type = reduced_type(Reduce::sum, job.type);
  const std::int64_t sums = is_float(job.type) ? part_as(type, sizes.rows * job.columns, job.type) : 0;
  return part_as(type, sizes.values * job.columns, job.type) + sums;
}

Error reduce_blocks(Stream, const BlocksJob& job, const cuda::BlocksSizes& sizes, std::byte* scratch,
                    std::byte* out) noexcept {
  const Type type = reduced_type(Reduce::sum, job.type);
  const Convert conversion = is_float(job.type) ? cast_of(type, job.type) : Convert{};
  const std::int64_t elements = sizes.rows * job.columns;
  Room room(scratch);
  BlocksJob wide_job = job;
  wide_job.type = type;
  wide_job.values = room.as(type, job.values, sizes.values * job.columns, job.type);
  std::byte* const sums = conversion.run == nullptr ? out : room.take(elements * size_of(type));
  varlen::reduce_blocks(wide_job, sums);
  if (conversion.run != nullptr) cast(conversion, sums, elements, out);
  return 0;
}

std::int64_t weighted_scratch(const WeightedJob& job, std::int64_t) noexcept {
  return varlen::weighted_scratch(job);
}

Error weighted_sum(Stream, const WeightedJob& job, std::int64_t, std::byte* scratch,
                   std::byte* out) noexcept {
  varlen::weighted_sum(job, scratch, out);
  return 0;
}

Error weighted_sum_to_values(Stream, const WeightedJob& job, std::int64_t, std::byte* out) noexcept {
  varlen::weighted_sum_to_values(job, out);
  return 0;
}

Error weighted_sum_to_weights(Stream, const WeightedJob& job, std::int64_t, std::byte* out) noexcept {
  varlen::weighted_sum_to_weights(job, out);
  return 0;
}

}  // namespace varlen::host
