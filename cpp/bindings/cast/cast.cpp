#include "cast.hpp"

#include <optional>
#include <string>

#include "support/arrays.hpp"
#include "support/raise.hpp"
#include "varlen/cast.hpp"

namespace varlen::bindings {

namespace {

/// Whether each number of a dtype is one of another: of its sign, and as wide.
bool always_fits(Type from, Type to) noexcept {
  if (is_float(to) || from == to) return true;
  if (is_float(from) || to == Type::b1) return false;
  if (from == Type::b1) return true;
  const bool from_signed = from <= Type::i64;
  const bool to_signed = to <= Type::i64;
  return from_signed == to_signed ? size_of(from) <= size_of(to) : to_signed && size_of(from) < size_of(to);
}

const std::byte* bytes_in(const py::array& array) {
  return data_of(array);
}

}  // namespace

bool is_seen_at(const Place& place) noexcept {
  return place.is_host() || place.kernels == kernels_on_host();
}

void refuse_unseen(const Place& place, const py::dtype& from, const py::dtype& to, bool touches_nan,
                   const char* argument) {
  if (is_seen_at(place) || (!touches_nan && from.equal(to))) return;
  const std::optional<Type> source_type = type_of(from);
  const std::optional<Type> target_type = type_of(to);
  if (!source_type || !target_type) {
    raise_type(argument, str_of(from) + " does not become " + str_of(to));
  }
  if (!always_fits(*source_type, *target_type)) {
    raise_type(argument, "numbers of " + str_of(from) + " may not fit " + str_of(to) +
                             ", and those on a device are not looked at; cast them first");
  }
}

py::array aligned_at(const Place& place, const py::array& values) {
  if ((values.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0) return values;
  if (!is_seen_at(place)) raise_value("values", "is not aligned");
  return values.attr("copy")();
}

void cast_into(const Place& place, const py::array& values, const Fill& nan, py::array& out) {
  const Type from = *type_of(values.dtype());
  const py::array source = aligned_at(place, values);
  place.check(
      place.kernels->cast(place.stream, from, *type_of(out.dtype()), is_float(from) ? nan.data() : nullptr,
                          bytes_in(source), values.size(), bytes(out)),
      "cast");
}

py::array cast_at(const Place& place, const py::array& values, const py::dtype& to, const Fill& nan) {
  const std::optional<Type> from = type_of(values.dtype());
  const bool replaces = nan.data() != nullptr && from && is_float(*from);
  if (!replaces && values.dtype().equal(to)) return values;
  py::array result = empty_at(place, to, shape_of(values));
  cast_into(place, values, nan, result);
  return result;
}

py::array copy_at(const Place& place, const py::array& values) {
  py::array result = empty_at(place, values.dtype(), shape_of(values));
  const auto item =
      reinterpret_cast<std::uintptr_t>(bytes_in(values)) | static_cast<std::uintptr_t>(values.itemsize());
  const Type word = item % 8 == 0   ? Type::u64
                    : item % 4 == 0 ? Type::u32
                    : item % 2 == 0 ? Type::u16
                                    : Type::u8;
  place.check(place.kernels->cast(place.stream, word, word, nullptr, bytes_in(values),
                                  values.nbytes() / size_of(word), bytes(result)),
              "cast");
  return result;
}

py::array nan_mask_at(const Place& place, const py::array& values) {
  py::array result = empty_at(place, py::dtype::of<bool>(), shape_of(values));
  const py::array source = aligned_at(place, values);
  place.check(place.kernels->nan_mask(place.stream, *type_of(values.dtype()), bytes_in(source), values.size(),
                                      bytes(result)),
              "nan_mask");
  return result;
}

}  // namespace varlen::bindings
