// Rows without those that equal a token.
#include "varlen/erase.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "level/level.hpp"
#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/device.hpp"
#include "support/fastcall.hpp"
#include "support/operands.hpp"
#include "support/raise.hpp"

namespace varlen::bindings {

namespace {

bool is_word(std::int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/// The unsigned type of so many bytes.
Type word_of(std::int64_t width) {
  return width == 1 ? Type::u8 : width == 2 ? Type::u16 : width == 4 ? Type::u32 : Type::u64;
}

bool is_aligned(const py::array& array) {
  if (array.size() == 0) return true;  // nothing is read, wherever that is
  return reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(row_bytes(array)) == 0;
}

/// By the kernels of a device: how many rows stay is waited for.
py::object erase_there(const Place& place, const py::array& values, Level& level, const py::array& tokens) {
  const Rows all = rows_of(values);
  const std::int64_t longest = level.length_limit();
  const Type type = values.dtype().kind() == 'b' && all.width == 1 ? Type::b1 : word_of(all.width);
  const Offsets level_ends = offsets_at(place, level);
  const PlacedBytes tokens_there = bytes_at(place, tokens.data(), tokens.nbytes());
  py::array scratch = scratch_at(place, place.kernels->erase_scratch(all.count, longest));
  py::array lengths = empty_at(place, py::dtype::of<std::int64_t>(), {level.count()});
  place.check(place.kernels->erase_find(place.stream, type, all, level_ends, longest, tokens_there.data,
                                        tokens.shape(0), bytes(scratch), ints(lengths)),
              "erase");
  const LevelRef left = level_of_lengths_at(place, ints(lengths), level.count());
  py::array out = rows_like_at(place, values, left->total());
  place.check(place.kernels->erase_take(place.stream, all, level_ends, bytes(scratch),
                                        offsets_at(place, LevelRef::unwrap(left)), left->total(), bytes(out)),
              "erase");
  return py::make_tuple(out, left);
}

constexpr Signature<3> kErase{"erase", {"values", "level", "tokens"}};

py::object erase(const Arguments<3>& args) {
  py::array values = as_placed_rows(args[0], "values");
  const Place place = place_of(values);
  py::array token_rows = as_rows(args[2], "tokens");
  if (place.is_host() && values.dtype().kind() == 'b') values = plain_bools(values);
  if (token_rows.dtype().kind() == 'b') token_rows = plain_bools(token_rows);
  const LevelRef level = level_over(args[1], "values", values.shape(0));
  const Rows all = rows_of(values);
  if (!is_word(all.width) || row_bytes(token_rows) != all.width) {
    raise_value("tokens", "rows of " + std::to_string(row_bytes(token_rows)) + " bytes, the values have " +
                              std::to_string(all.width) + "; both need 1, 2, 4 or 8");
  }
  if (!is_aligned(values) || !is_aligned(token_rows)) raise_value("values", "their memory is not aligned");
  // The host takes one pass, into more room than is kept.
  if (!place.is_host()) return erase_there(place, values, LevelRef::unwrap(level), token_rows);
  py::array out = rows_like(values, all.count);
  NewLevel left(level->count());
  std::int64_t row_count = 0;
  {
    const GilRelease gil_release(all.count * all.width);
    const auto* const first = data_of(token_rows);
    row_count = erase_rows(all, level->view(), first, token_rows.shape(0), bytes(out), left.ends());
  }
  return py::make_tuple(rows_between(out, 0, row_count), std::move(left).finish());
}

PyMethodDef erase_methods[] = {
    method<kErase, erase>(
        "erase(values, level, tokens)\n--\n\n"
        "The rows that equal none of the tokens, which ascend as unsigned integers, and their "
        "level."),
    {},
};

}  // namespace

void bind_erase(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), erase_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
