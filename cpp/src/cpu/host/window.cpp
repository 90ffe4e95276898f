// Windows of the host: see window.hpp.
#include "varlen/host.hpp"

namespace varlen::host {

using cuda::Error;
using cuda::Stream;

Error seq2col(Stream, Rows values, Offsets level, Offsets centers, Window how, std::int64_t,
              std::byte* out) noexcept {
  varlen::seq2col(values, level, centers, how, out);
  return 0;
}

Error backprop_seq2col(Stream, Type type, const std::byte* dy, std::int64_t, std::int64_t count,
                       Offsets level, Offsets centers, Window how, std::int64_t, std::byte* dx) noexcept {
  varlen::backprop_seq2col(type, dy, count, level, centers, how, dx);
  return 0;
}

Error merge_windows(Stream, Type type, const std::byte* y, std::int64_t, std::int64_t count, Offsets level,
                    Offsets counts, Offsets windows, Stepping how, bool mean, std::int64_t,
                    std::byte* out) noexcept {
  varlen::merge_windows(type, y, count, level, counts, windows.ends, how, mean, out);
  return 0;
}

Error share_windows(Stream, Type type, const std::byte* dx, std::int64_t count, Offsets level, Offsets counts,
                    Stepping how, std::int64_t, std::byte* out) noexcept {
  varlen::share_windows(type, dx, count, level, counts, how, out);
  return 0;
}

}  // namespace varlen::host
