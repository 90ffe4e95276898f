// Ranks of the host, and the way back from an order: see sort.hpp.
#include "varlen/host.hpp"

namespace varlen::host {

using cuda::Error;
using cuda::Stream;

std::int64_t unsort_scratch(std::int64_t, std::int64_t) noexcept {
  return 0;
}

Error unsort(Stream, Offsets level, std::int64_t, Offsets kept, std::int64_t, const std::byte* rows,
             std::int64_t columns, std::int64_t size, const std::int64_t* places, std::byte*,
             std::byte* out) noexcept {
  varlen::unsort(level, kept, rows, columns, size, places, out);
  return 0;
}

std::int64_t rank_scratch(const SortJob& job, Ranks, std::int64_t) noexcept {
  return sort_room(job, job.longest).bytes;
}

Error rank(Stream, const SortJob& job, Ranks how, std::int64_t, std::byte* scratch, std::byte* out) noexcept {
  varlen::rank(job, how, sort_room(job, job.longest), scratch, out);
  return 0;
}

}  // namespace varlen::host
