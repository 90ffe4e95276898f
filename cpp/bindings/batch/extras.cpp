// What a batch says beside its values: levels, lengths, positions, parts and windows.
#include <algorithm>
#include <cstring>

#include "batch.hpp"
#include "out.hpp"
#include "support/raise.hpp"
#include "varlen/copy.hpp"
#include "varlen/offsets.hpp"

namespace varlen::bindings {

namespace {

std::int64_t* ints(std::byte* at) {
  return reinterpret_cast<std::int64_t*>(at);
}

}  // namespace

void BatchOutputs::levels(int axes) {
  const std::string dim = "dim" + std::to_string(axes);
  const std::int64_t sequences = axes == 1 ? w_.n : w_.total(axes - 1);
  const py::dtype int64 = py::dtype::of<std::int64_t>();
  std::int64_t* to = ints(make(py::str(dim + "/offsets"), int64, {sequences + 1}));
  to[0] = 0;
  if (axes == 1) {
    jobs_.emplace_back([this, to] {
      copy_bytes(reinterpret_cast<std::byte*>(to + 1), reinterpret_cast<const std::byte*>(w_.row_ends),
                 w_.n * static_cast<std::int64_t>(sizeof *to));
    });
  } else {
    jobs_.emplace_back([this, axes, to] { level_ends(axes, to + 1); });
  }
  if (axes > 1) return;
  if (b_.options_.cu_seqlens) {
    if (w_.total(1) > INT32_MAX) {
      raise_overflow(dim + "/cu_seqlens: " + std::to_string(w_.total(1)) +
                     " rows do not fit int32; take fewer rows, or cu_seqlens=False");
    }
    auto* cu = reinterpret_cast<std::int32_t*>(
        make(py::str(dim + "/cu_seqlens"), py::dtype::of<std::int32_t>(), {sequences + 1}));
    jobs_.emplace_back([to, cu, sequences] {
      for (std::int64_t i = 0; i <= sequences; ++i) cu[i] = static_cast<std::int32_t>(to[i]);
    });
  }
  result_[py::str(dim + "/max_length")] = w_.sizes[0];
  if (b_.options_.positions) {
    std::int64_t* positions = ints(make(py::str(dim + "/positions"), int64, {w_.total(1)}));
    jobs_.emplace_back([this, positions] { positions_of({w_.row_ends, w_.n}, positions); });
  }
}

void BatchOutputs::extras() {
  const BatchOptions& o = b_.options_;
  const py::dtype int64 = py::dtype::of<std::int64_t>();
  if (o.lengths) {
    std::int64_t* to = ints(make(py::str("dim1/lengths"), int64, {w_.n}));
    jobs_.emplace_back([this, to] { lengths_of({w_.row_ends, w_.n}, to); });
  }
  if (o.parts) {
    const py::dtype byte = py::dtype::of<std::uint8_t>();
    std::byte* to = make(py::str("dim1/part"), byte, shape_of(1, py::array()));
    jobs_.emplace_back([this, to] {
      std::byte* rows = b_.options_.ragged ? to : scratch(w_.total(1));
      std::int64_t at = 0;
      for (std::size_t i = 0; i < static_cast<std::size_t>(w_.count); ++i) {
        const std::int32_t s = runs_.from(static_cast<std::int64_t>(i));
        const int part = s == b_.prefix_ ? 1 : s == b_.suffix_ ? 3 : 2;
        std::memset(rows + at, part, static_cast<std::size_t>(w_.run_ends[1][i] - at));
        at = w_.run_ends[1][i];
      }
      if (!b_.options_.ragged) pad_rows(rows, 1, 1, nullptr, to);
    });
  }
  if (o.windows) {
    std::int64_t* begin = ints(make(py::str("window/start"), int64, {w_.n}));
    std::int64_t* end = ints(make(py::str("window/end"), int64, {w_.n}));
    for (std::size_t k = 0; k < static_cast<std::size_t>(w_.n); ++k) {
      begin[k] = w_.windows[k].begin;
      end[k] = w_.windows[k].end;
    }
  }
}

}  // namespace varlen::bindings
