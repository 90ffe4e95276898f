// Scans of the host: see scan.hpp.
#include "room.hpp"
#include "varlen/host.hpp"

namespace varlen::host {

using cuda::Error;
using cuda::Stream;

std::int64_t scan_scratch(const ScanJob& job, std::int64_t) noexcept {
  return varlen::scan_scratch(job);
}

Error scan(Stream, const ScanJob& job, std::int64_t, std::byte* scratch, std::byte* out) noexcept {
  varlen::scan(job, scratch, out);
  return 0;
}

Error scan_which(Stream, const ScanJob& job, std::int64_t, std::byte*, std::int64_t* which) noexcept {
  varlen::scan_which(job, which);
  return 0;
}

Error scan_which_back(Stream, Type type, const std::byte* dy, Offsets level, std::int64_t,
                      std::int64_t columns, const std::int64_t* which, std::byte* out) noexcept {
  varlen::scan_which_back(type, dy, level, columns, which, out);
  return 0;
}

std::int64_t scan_prod_back_scratch(const ScanJob& job, std::int64_t total) noexcept {
  const std::int64_t count = total * job.columns;
  const Type type = compute_type(job.type);
  ScanJob products = job;
  products.type = type;
  return part(varlen::scan_scratch(products)) + part(count * size_of(type)) +
         3 * part_as(type, count, job.type);
}

Error scan_prod_back(Stream, const ScanJob& job, std::int64_t total, const std::byte* dy, std::byte* scratch,
                     std::byte* out) noexcept {
  const std::int64_t count = total * job.columns;
  const Type type = compute_type(job.type);
  Room room(scratch);
  ScanJob wide_job = job;
  wide_job.type = type;
  wide_job.values = room.as(type, job.values, count, job.type);
  dy = room.as(type, dy, count, job.type);
  ScanJob products = wide_job;
  products.exclusive = true;
  std::byte* const prefixes = room.take(count * size_of(type));
  varlen::scan(products, room.take(varlen::scan_scratch(products)), prefixes);
  if (type == job.type) {
    varlen::scan_prod_back(wide_job, dy, prefixes, out);
  } else {
    std::byte* const wide = room.take(count * size_of(type));
    varlen::scan_prod_back(wide_job, dy, prefixes, wide);
    cast(cast_of(type, job.type), wide, count, out);
  }
  return 0;
}

}  // namespace varlen::host
