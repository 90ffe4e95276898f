// Hashes of the host, whose keys are of 64 bits: see hash.hpp.
#include "varlen/hash.hpp"

#include "varlen/host.hpp"

namespace varlen::host {

using cuda::Error;
using cuda::Stream;

Error ngrams(Stream, Offsets level, Offsets counts, std::int64_t, std::int64_t n, Type, const std::byte* keys,
             std::int64_t, std::uint64_t* out) noexcept {
  varlen::ngrams(level, counts, n, reinterpret_cast<const std::uint64_t*>(keys), out);
  return 0;
}

Error hash(Stream, Type, const std::byte* ids, std::int64_t count, std::uint32_t seed,
           std::uint32_t* out) noexcept {
  varlen::hash(reinterpret_cast<const std::uint64_t*>(ids), count, seed, out);
  return 0;
}

}  // namespace varlen::host
