#include "support/move.hpp"
#include "varlen/cuda/gather.hpp"

namespace varlen::cuda {

namespace {

struct Picked {
  Ends picked;
  View<const std::int64_t> begins;

  [[nodiscard]] VARLEN_DEVICE Among scope(std::int64_t first, std::int64_t last) const {
    return picked.among(first, last);
  }
  [[nodiscard]] VARLEN_DEVICE std::int64_t source(const Among& among, std::int64_t row) const {
    const std::int64_t k = picked.holding(row, among);
    return begins[k] + row - picked.start(k);
  }
};

}  // namespace

Error gather_rows(Stream stream, Rows values, const std::int64_t* begins, Offsets picked, std::int64_t total,
                  std::byte* out) noexcept {
  const Picked map{{{picked.ends, picked.count}}, {begins, picked.count}};
  return move_rows(stream, map, values, total, {}, out);
}

}  // namespace varlen::cuda
