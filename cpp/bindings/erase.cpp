// Rows without those that equal a token.
#include "varlen/erase.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/level.hpp"
#include "support/operands.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

bool is_word(std::int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

py::tuple erase(py::handle rows, const LevelRef& level, py::handle tokens) {
  py::array values = as_rows(rows, "values");
  py::array named = as_rows(tokens, "tokens");
  if (values.dtype().kind() == 'b') values = plain_bools(values);
  if (named.dtype().kind() == 'b') named = plain_bools(named);
  if (level->total() != values.shape(0)) {
    raise_value("level: the lengths add up to " + std::to_string(level->total()) + ", but there are " +
                std::to_string(values.shape(0)) + " values");
  }
  const Rows all = rows_of(values);
  if (!is_word(all.width) || row_bytes(named) != all.width) {
    raise_value("tokens: rows of " + std::to_string(row_bytes(named)) + " bytes, the values have " +
                std::to_string(all.width) + "; both need 1, 2, 4 or 8");
  }
  const auto aligned = [](const py::array& array) {
    return reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(row_bytes(array)) ==
           0;
  };
  if (!aligned(values) || !aligned(named)) raise_value("values: their memory is not aligned");
  py::array out = rows_like(values, all.count);
  NewLevel left(level->count());
  std::int64_t kept = 0;
  {
    const Unlocked unlocked(all.count * all.width);
    const auto* const first = static_cast<const std::byte*>(named.data());
    kept = erase_rows(all, level->view(), first, named.shape(0), bytes(out), left.ends());
  }
  return py::make_tuple(rows_between(out, 0, kept), std::move(left).done());
}

}  // namespace

void bind_erase(py::module_& m) {
  m.def("erase", &erase, py::arg("values"), py::arg("level"), py::arg("tokens"),
        "The rows that equal none of the tokens, which ascend as unsigned integers, and their level.");
}

}  // namespace varlen::bindings
