#include "varlen/reduce.hpp"

#include "reduce_shared.hpp"
#include "wide.hpp"

namespace varlen {
namespace {

const ReduceTable& table_of(Reduce op) noexcept {
#ifdef VARLEN_AVX2
  const bool wide = has_avx2();
  const ReduceTables& sums = wide ? broad::kReduceSums : plain::kReduceSums;
  const ReduceEndTables& ends = wide ? broad::kReduceEnds : plain::kReduceEnds;
#else
  const ReduceTables& sums = plain::kReduceSums;
  const ReduceEndTables& ends = plain::kReduceEnds;
#endif
  switch (op) {
    case Reduce::sum:
      return sums.sum;
    case Reduce::mean:
      return sums.mean;
    case Reduce::prod:
      return sums.prod;
    case Reduce::max:
      return ends.max;
    case Reduce::min:
      return ends.min;
    case Reduce::any:
      return ends.any;
    case Reduce::all:
      return ends.all;
    case Reduce::norm:
      break;
  }
  return sums.norm;
}

/// What numbers are folded in.
Type folded(Reduce op, Type type) noexcept {
  if (op == Reduce::norm || type == Type::f64) return Type::f64;
  if (is_float(type)) return Type::f32;
  if (op == Reduce::mean) return Type::f64;
  return type == Type::b1 || (type >= Type::u8 && type <= Type::u64) ? Type::u64 : Type::i64;
}

}  // namespace

Type reduced_type(Reduce op, Type type) noexcept {
  switch (op) {
    case Reduce::any:
    case Reduce::all:
      return Type::b1;
    default:
      return folded(op, type);
  }
}

std::int64_t reduce_scratch(const ReduceJob& job) noexcept {
  const std::int64_t bytes = job.longest * job.columns * size_of(folded(job.op, job.type));
  return bytes < kGiantBytes ? 0 : kReduceParts * job.columns * static_cast<std::int64_t>(sizeof(double));
}

void reduce(const ReduceJob& job, std::byte* scratch, std::byte* out) noexcept {
  if (job.columns <= 0) return;
  const Type type = folded(job.op, job.type);
  const ReduceTable& table = table_of(job.op);
  const ReduceAll run = type == Type::f32   ? table.f32
                        : type == Type::f64 ? table.f64
                        : type == Type::i64 ? table.i64
                                            : table.u64;
  run(job, cast_of(job.type, type), scratch, out);
}

}  // namespace varlen
