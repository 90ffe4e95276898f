#include "body.hpp"
#include "products.hpp"
#include "support/elements.hpp"
#include "varlen/cuda/scan.hpp"

namespace varlen::cuda {

namespace {

/// Numbers of one array to another.
template <bool writes_floats>
struct ScanIo {
  Elements<const std::byte> input;
  Elements<std::byte> out;
  bool reads_floats;

  template <int n>
  VARLEN_DEVICE void read(const std::int64_t (&places)[n], std::uint64_t (&words)[n]) const {
    if (reads_floats) {
      double numbers[n] = {};
      input.read(places, numbers);
      VARLEN_UNROLLED for (int j = 0; j < n; ++j) words[j] = bits_as<std::uint64_t>(numbers[j]);
    } else {
      input.read_whole(places, words);
    }
  }
  VARLEN_DEVICE void write(std::int64_t place, std::uint64_t word) const {
    if constexpr (writes_floats) {
      out.write(place, bits_as<double>(word));
    } else {
      out.write_whole(place, word);
    }
  }
};

template <class Fold>
Error scan_by(Stream stream, const ScanJob& job, std::int64_t total, Type result, std::byte* scratch,
              std::byte* out) noexcept {
  const std::int64_t numbers = total * job.columns;
  const ScanIo<Fold::kFloats> io{{job.values, numbers, job.type}, {out, numbers, result}, is_real(job.type)};
  return run_scan<Fold>(stream, job, total, io, job.reverse, scratch);
}

}  // namespace

std::int64_t scan_scratch(const ScanJob& job, std::int64_t total) noexcept {
  return scratch_of_scan<ProdOfReals>(job, total);
}

Error scan_products(Stream stream, const ScanJob& job, std::int64_t total, Type result, std::byte* scratch,
                    std::byte* out) noexcept {
  return scan_by<ProdOfReals>(stream, job, total, result, scratch, out);
}

Error scan(Stream stream, const ScanJob& job, std::int64_t total, std::byte* scratch,
           std::byte* out) noexcept {
  if (total == 0 || job.columns <= 0) return 0;
  if (!is_real(job.type)) {
    const bool is_extreme = job.op == Scan::max || job.op == Scan::min;
    const Type wide = is_unsigned_type(job.type) ? Type::u64 : Type::i64;
    return scan_by<FoldOfWholes>(stream, job, total, is_extreme ? job.type : wide, scratch, out);
  }
  switch (job.op) {
    case Scan::sum:
      return scan_by<SumOfReals>(stream, job, total, job.type, scratch, out);
    case Scan::prod:
      return scan_products(stream, job, total, job.type, scratch, out);
    default:
      return scan_by<EndOfReals>(stream, job, total, job.type, scratch, out);
  }
}

Error scan_which(Stream stream, const ScanJob& job, std::int64_t total, std::byte* scratch,
                 std::int64_t* which) noexcept {
  if (total == 0 || job.columns <= 0) return 0;
  return scan_by<WhichFold>(stream, job, total, Type::i64, scratch, reinterpret_cast<std::byte*>(which));
}

}  // namespace varlen::cuda
