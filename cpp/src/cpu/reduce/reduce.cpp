#include "varlen/reduce.hpp"

#include "support/dispatch.hpp"
#include "tables.hpp"
#include "varlen/sequence.hpp"

namespace varlen {
namespace {

/// Sums and extremes, by the build for this machine; with `fits` of sequences that fit a vector of 32 bytes,
/// where wider ones were measured to take half as long again.
ReduceAll widest_function(Reduce op, Type type, bool fits) noexcept {
  const ReduceTable& sums = fits ? VARLEN_BEST(kReduceSums) : VARLEN_WIDEST(kReduceSums);
  const ReduceTable& maxima = fits ? VARLEN_BEST(kReduceMost) : VARLEN_WIDEST(kReduceMost);
  const ReduceTable& minima = fits ? VARLEN_BEST(kReduceLeast) : VARLEN_WIDEST(kReduceLeast);
  const ReduceTable& table = op == Reduce::max ? maxima : op == Reduce::min ? minima : sums;
  return type == Type::f16    ? table.f16
         : type == Type::bf16 ? table.bf16
         : type == Type::f32  ? table.f32
         : type == Type::f64  ? table.f64
         : type == Type::i64  ? table.i64
                              : table.u64;
}

ReduceAll function_of(Reduce op, Type type, bool fits) noexcept {
  const ReduceRest& rest = baseline::kReduceRest;
  if (op == Reduce::norm) return rest.norm;
  if (op == Reduce::prod) {
    return type == Type::f32 ? rest.prod.f32 : type == Type::f64 ? rest.prod.f64 : rest.prod.u64;
  }
  return widest_function(op, type, fits);
}

/// What numbers are folded in.
Type fold_type(Reduce op, Type type) noexcept {
  if (op == Reduce::norm || type == Type::f64) return Type::f64;
  if (is_float(type)) return Type::f32;
  if (op >= Reduce::logsumexp || op == Reduce::mean) return Type::f64;
  return type == Type::b1 || (type >= Type::u8 && type <= Type::u64) ? Type::u64 : Type::i64;
}

/// Loops that take halves as they are; null where numbers are converted block by block instead.
ReduceAll find_halves(Reduce op, Type type, bool fits) noexcept {
  const bool takes = op == Reduce::sum || op == Reduce::mean || op == Reduce::max || op == Reduce::min;
  return takes && (type == Type::f16 || type == Type::bf16) ? widest_function(op, type, fits) : nullptr;
}

}  // namespace

Type reduced_type(Reduce op, Type type) noexcept {
  switch (op) {
    case Reduce::any:
    case Reduce::all:
      return Type::b1;
    default:
      return fold_type(op, type);
  }
}

std::int64_t reduce_scratch(const ReduceJob& job) noexcept {
  const std::int64_t bytes = job.longest * job.columns * size_of(fold_type(job.op, job.type));
  return bytes < kGiantBytes ? 0 : kReduceParts * job.columns * static_cast<std::int64_t>(sizeof(double));
}

void reduce(const ReduceJob& job, std::byte* scratch, std::byte* out) noexcept {
  if (job.columns <= 0) return;
  if (job.slots > 0) return reduce_slots(job, scratch, out);
  if (job.op == Reduce::any || job.op == Reduce::all) return reduce_truth(job, out);
  const Type type = fold_type(job.op, job.type);
  if (job.op < Reduce::logsumexp) {
    const std::int64_t width = job.columns * size_of(type);
    const bool fits = job.longest * width <= 32 || (width > 32 && width < 64);
    if (const ReduceAll run = find_halves(job.op, job.type, fits)) return run(job, {}, scratch, out);
    return function_of(job.op, type, fits)(job, cast_of(job.type, type), scratch, out);
  }
  SequenceJob statistics;
  statistics.op = job.op == Reduce::logsumexp ? SequenceOp::logsumexp
                  : job.op == Reduce::var     ? SequenceOp::var
                                              : SequenceOp::std;
  statistics.level = job.level;
  statistics.longest = job.longest;
  statistics.a = job.values;
  statistics.input = {cast_of(job.type, type).run, size_of(job.type), size_of(type)};
  statistics.out = {nullptr, size_of(type), size_of(type)};
  statistics.columns = job.columns;
  statistics.ddof = job.ddof;
  statistics.empty = job.empty;
  run_sequence_op(statistics, type, out);
}

}  // namespace varlen
