// Arrays in: what a producer hands over in capsules, as a tree of tuples over its memory. Nothing of it is
// believed: sizes, counts and pointers are checked here, offsets where they become a Level.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "abi.hpp"
#include "arrow.hpp"
#include "level/level.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/keep.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"
#include "varlen/offsets.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

constexpr int kArrowDepth = 64;

/// Text of a producer, which may be no UTF-8.
py::str text_or_nothing(const char* text) {
  if (text == nullptr) return {};
  PyObject* const result = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
  if (result == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(result);
}

[[noreturn]] void refuse_data(const std::string& reason) {
  raise_value("data", std::string(text_or_nothing(reason.c_str())));
}

[[noreturn]] void refuse_arrow(const std::string& reason) {
  refuse_data("not a valid Arrow array: " + reason);
}

/// The table in a capsule, which was not taken before.
template <class Table>
Table& table_in(PyObject* capsule) {
  const char* const name = kArrowName<Table>;
  if (PyCapsule_IsValid(capsule, name) == 0) {
    raise_type("data", std::string("expected a capsule called '") + name + "', got " + type_name(capsule));
  }
  auto& table = *static_cast<Table*>(PyCapsule_GetPointer(capsule, name));
  if (table.release == nullptr) {
    raise_value("data", std::string("the capsule '") + name + "' is empty: it was read before");
  }
  return table;
}

/// How an array of a format lies in memory. Widths are in bytes; bits have 0.
struct ArrowShape {
  enum class Kind : std::uint8_t {
    none,
    bits,
    scalar,
    list,
    list_view,
    text,
    text_view,
    fixed_list,
    record,
    other
  };
  Kind kind = Kind::other;
  std::int64_t width = 0;  ///< of an element or an offset; how many are in a list of fixed size

  [[nodiscard]] std::int64_t buffer_count() const noexcept {
    constexpr std::array<std::int64_t, 10> kCounts{0, 2, 2, 2, 3, 3, -1, 1, 1, -1};
    return kCounts[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::int64_t child_count() const noexcept {
    if (kind == Kind::record || kind == Kind::other) return -1;
    return kind == Kind::list || kind == Kind::list_view || kind == Kind::fixed_list ? 1 : 0;
  }
};

/// The number that a text is, if it lies between these.
bool is_number(std::string_view text, std::int64_t minimum, std::int64_t maximum, std::int64_t& number) {
  const char* const start = text.data();
  const char* const end = start + text.size();
  const auto [rest, error] = std::from_chars(start, end, number);
  return error == std::errc() && rest == end && minimum <= number && number <= maximum;
}

/// Precision, scale, and bits where they are not 128.
bool are_decimals(std::string_view text, std::int64_t& bits) {
  constexpr std::int64_t kMaxDigits = 400;  // a double has no place for more
  if (text.empty() || text.back() == ',') return false;
  const auto next = [&] {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    return part;
  };
  std::int64_t number = 0;
  const bool has_scale =
      is_number(next(), 1, kMaxDigits, number) && is_number(next(), -kMaxDigits, kMaxDigits, number);
  bits = 128;
  if (!has_scale || (!text.empty() && !is_number(text, 32, 256, bits))) return false;
  return bits == 32 || bits == 64 || bits == 128 || bits == 256;
}

ArrowShape shape_of_format(std::string_view format) {
  using Kind = ArrowShape::Kind;
  const auto starts = [&](std::string_view text) { return format.substr(0, text.size()) == text; };
  if (format == "n") return {Kind::none};
  if (format == "b") return {Kind::bits};
  if (format == "u" || format == "z") return {Kind::text, 4};
  if (format == "U" || format == "Z") return {Kind::text, 8};
  if (format == "vu" || format == "vz") return {Kind::text_view, 16};
  if (format == "+l" || format == "+m") return {Kind::list, 4};
  if (format == "+L") return {Kind::list, 8};
  if (format == "+vl") return {Kind::list_view, 4};
  if (format == "+vL") return {Kind::list_view, 8};
  if (format == "+s") return {Kind::record};
  const bool is_list = starts("+w:");
  if (is_list || starts("w:")) {
    std::int64_t number = 0;
    constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
    if (!is_number(format.substr(is_list ? 3 : 2), 0, kLargest, number))
      refuse_arrow("the format '" + std::string(format) + "' has no size");
    return {is_list ? Kind::fixed_list : Kind::scalar, number};
  }
  if (starts("d:")) {
    std::int64_t bits = 0;
    if (!are_decimals(format.substr(2), bits)) {
      refuse_arrow("the format '" + std::string(format) + "' is of no decimals");
    }
    return {Kind::scalar, bits / 8};
  }
  if (format.size() == 1) {
    constexpr std::string_view kLetters = "cCsSeiIflLg";
    constexpr std::array<std::int64_t, 11> kWidths{1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8};
    const std::size_t i = kLetters.find(format);
    if (i != std::string_view::npos) return {Kind::scalar, kWidths[i]};
  }
  if (format == "tdD" || format == "tts" || format == "ttm") return {Kind::scalar, 4};
  if (format == "tdm" || format == "ttu" || format == "ttn" || starts("ts") || starts("tD")) {
    return {Kind::scalar, 8};
  }
  return {};
}

/// What keeps the memory of an array: the table that a producer handed over, which is let go by any thread.
using ArrowKeeper = ArrowOwner<ArrowArray>;

/// An array of bytes over memory of a producer; None where there is no pointer and nothing behind it.
py::object bytes_over(const void* data, std::int64_t count, const py::object& owner, const char* what) {
  if (data == nullptr) {
    if (count > 0) refuse_arrow(std::string(what) + " of " + std::to_string(count) + " bytes are missing");
    return py::none();
  }
  static const py::dtype byte = py::dtype::of<std::uint8_t>();
  const py::ssize_t shape[] = {count};
  return frozen(make_array(byte.ptr(), 1, shape, nullptr, const_cast<void*>(data), owner.ptr()));
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!checked_mul(a, b, result)) refuse_arrow("a size does not fit 63 bits");
  return result;
}

/// The last offset of text, which is how many bytes there are.
std::int64_t last_offset(const void* offsets, std::int64_t place, std::int64_t width) {
  if (width == 8) {
    std::int64_t last = 0;
    std::memcpy(&last, static_cast<const std::byte*>(offsets) + place * 8, 8);
    return last;
  }
  std::int32_t last = 0;
  std::memcpy(&last, static_cast<const std::byte*>(offsets) + place * 4, 4);
  return last;
}

/// Bits of nulls, views, and the pieces of text that they point into, whose sizes stand in a last buffer.
std::int64_t view_buffers(const ArrowArray& array) {
  if (array.n_buffers < 3)
    refuse_arrow("a view of text has 3 buffers at least, got " + std::to_string(array.n_buffers));
  return array.n_buffers - 1;
}

py::tuple buffers_of(const ArrowArray& array, const ArrowShape& shape, const py::object& owner) {
  using Kind = ArrowShape::Kind;
  const bool is_view = shape.kind == Kind::text_view;
  const std::int64_t want = is_view ? view_buffers(array) : shape.buffer_count();
  if (want < 0) return py::tuple();
  if (!is_view && array.n_buffers != want) {
    refuse_arrow("expected " + std::to_string(want) + " buffers, got " + std::to_string(array.n_buffers));
  }
  if (want > 0 && array.buffers == nullptr) refuse_arrow("its buffers are missing");
  const std::int64_t end = array.offset + array.length;
  py::tuple result(static_cast<std::size_t>(want));
  const auto set = [&](std::size_t i, std::int64_t bytes, const char* what) {
    result[i] = bytes_over(array.buffers[i], bytes, owner, what);
  };
  if (want > 0) {
    const void* const bits = array.buffers[0];
    if (bits == nullptr && array.null_count > 0) refuse_arrow("it has nulls, but says not where");
    set(0, bits == nullptr ? 0 : (end + 7) / 8, "bits of nulls");
  }
  switch (shape.kind) {
    case Kind::bits:
      set(1, (end + 7) / 8, "bits");
      break;
    case Kind::scalar:
      set(1, product(end, shape.width), "values");
      break;
    case Kind::list:
      set(1, array.length == 0 ? 0 : product(end + 1, shape.width), "offsets");
      break;
    case Kind::list_view:
      set(1, product(end, shape.width), "offsets");
      set(2, product(end, shape.width), "sizes");
      break;
    case Kind::text: {
      set(1, array.length == 0 ? 0 : product(end + 1, shape.width), "offsets");
      const std::int64_t last = array.length == 0 ? 0 : last_offset(array.buffers[1], end, shape.width);
      if (last < 0) refuse_arrow("the last offset of its text is " + std::to_string(last));
      set(2, last, "bytes of text");
      break;
    }
    case Kind::text_view: {
      set(1, product(end, shape.width), "views");
      const auto* const sizes = static_cast<const std::int64_t*>(array.buffers[want]);
      if (want > 2 && sizes == nullptr) refuse_arrow("the sizes of its text are missing");
      for (std::int64_t i = 2; i < want; ++i) {
        std::int64_t size = 0;
        std::memcpy(&size, sizes + (i - 2), sizeof size);
        if (size < 0) refuse_arrow("a size of its text is " + std::to_string(size));
        set(static_cast<std::size_t>(i), size, "bytes of text");
      }
      break;
    }
    default:
      break;
  }
  return result;
}

/// Keys and values as Arrow encodes them: a count, then a length before each text.
py::object metadata_of(const char* bytes) {
  if (bytes == nullptr) return py::none();
  const auto number = [&] {
    std::int32_t value = 0;
    std::memcpy(&value, bytes, 4);
    bytes += 4;
    if (value < 0) refuse_arrow("a length of its metadata is " + std::to_string(value));
    return value;
  };
  py::dict result;
  const std::int32_t count = number();
  const auto text = [&] {
    const std::int32_t length = number();
    const char* const begin = std::exchange(bytes, bytes + length);
    return py::bytes(begin, static_cast<std::size_t>(length));
  };
  for (std::int32_t i = 0; i < count; ++i) {
    const py::bytes key = text();
    result[key] = text();
  }
  return result;
}

/// (format, name, flags, metadata, length, offset, null count, buffers, children, dictionary). Of a schema
/// alone: length -1, no buffers.
py::object part_of(const ArrowSchema& schema, const ArrowArray* array, const py::object& owner, int depth) {
  if (depth > kArrowDepth) refuse_arrow("it nests deeper than " + std::to_string(kArrowDepth));
  if (schema.format == nullptr) refuse_arrow("its schema has no format");
  if (schema.release == nullptr) refuse_arrow("a part of its schema is empty");
  if (schema.n_children < 0 || (schema.n_children > 0 && schema.children == nullptr)) {
    refuse_arrow("the children of its schema are missing");
  }
  const ArrowShape shape = shape_of_format(schema.format);
  const std::int64_t want = shape.child_count();
  if (want >= 0 && schema.n_children != want) {
    refuse_arrow("format '" + std::string(schema.format) + "' has " + std::to_string(want) +
                 " children, its schema " + std::to_string(schema.n_children));
  }
  py::tuple buffers;
  std::int64_t end = 0;
  if (array != nullptr) {
    if (array->release == nullptr) refuse_arrow("a part of it is empty");
    if (array->length < 0 || array->offset < 0 || !checked_add(array->length, array->offset, end)) {
      refuse_arrow("it has length " + std::to_string(array->length) + " and offset " +
                   std::to_string(array->offset));
    }
    if (array->null_count < -1 || array->null_count > array->length) {
      refuse_arrow(std::to_string(array->null_count) + " of " + std::to_string(array->length) +
                   " values are null");
    }
    if (array->n_children != schema.n_children || (array->n_children > 0 && array->children == nullptr)) {
      refuse_arrow("it has " + std::to_string(array->n_children) + " children, its schema " +
                   std::to_string(schema.n_children));
    }
    if ((array->dictionary == nullptr) != (schema.dictionary == nullptr)) {
      refuse_arrow("its dictionary is missing, or its schema has none");
    }
    buffers = buffers_of(*array, shape, owner);
  }
  py::tuple children(static_cast<std::size_t>(schema.n_children));
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowSchema* const child = schema.children[i];
    if (child == nullptr || (array != nullptr && array->children[i] == nullptr))
      refuse_arrow("a child is missing");
    const ArrowArray* const child_array = array == nullptr ? nullptr : array->children[i];
    children[static_cast<std::size_t>(i)] = part_of(*child, child_array, owner, depth + 1);
    if (child_array == nullptr) continue;
    const std::int64_t minimum = shape.kind == ArrowShape::Kind::record       ? end
                                 : shape.kind == ArrowShape::Kind::fixed_list ? product(end, shape.width)
                                                                              : 0;
    if (child_array->length < minimum) {
      refuse_arrow("a child has " + std::to_string(child_array->length) + " of " + std::to_string(minimum) +
                   " values");
    }
  }
  py::object dictionary = py::none();
  if (schema.dictionary != nullptr) {
    dictionary =
        part_of(*schema.dictionary, array == nullptr ? nullptr : array->dictionary, owner, depth + 1);
  }
  return py::make_tuple(text_or_nothing(schema.format), text_or_nothing(schema.name), schema.flags,
                        metadata_of(schema.metadata), array == nullptr ? -1 : array->length,
                        array == nullptr ? 0 : array->offset, array == nullptr ? 0 : array->null_count,
                        buffers, children, dictionary);
}

py::object part_of_owned(const ArrowSchema& schema, ArrowArray& source) {
  auto keeper = std::make_unique<ArrowKeeper>(source);
  const py::capsule owner(keeper.get(), [](void* dead) { delete static_cast<ArrowKeeper*>(dead); });
  const ArrowArray* const array = keeper.release()->get();  // the capsule's from here on
  return part_of(schema, array, owner, 0);
}

constexpr Signature<1> kReadSchema{"read_arrow_schema", {"schema"}};

py::object read_arrow_schema(const Arguments<1>& args) {
  return part_of(table_in<ArrowSchema>(args[0]), nullptr, py::none(), 0);
}

constexpr Signature<2> kReadArray{"read_arrow_array", {"schema", "array"}};

py::object read_arrow_array(const Arguments<2>& args) {
  const ArrowSchema& schema = table_in<ArrowSchema>(args[0]);
  return part_of_owned(schema, table_in<ArrowArray>(args[1]));
}

/// A stream that is read to its end. The producer runs without the GIL.
constexpr Signature<2> kReadStream{"read_arrow_stream", {"stream", "accept"}};

py::object read_arrow_stream(const Arguments<2>& args) {
  ArrowArrayStream* stream = &table_in<ArrowArrayStream>(args[0]);
  if (stream->get_schema == nullptr || stream->get_next == nullptr) {
    refuse_arrow("its stream has no functions to read it by");
  }
  const auto check = [&](int code) {
    if (code == 0) return;
    const char* const text = stream->get_last_error == nullptr ? nullptr : stream->get_last_error(stream);
    refuse_data("its stream failed: " + std::string(text == nullptr ? std::strerror(code) : text));
  };
  ArrowOwner<ArrowSchema> schema;
  int code = 0;
  {
    const py::gil_scoped_release release;
    code = stream->get_schema(stream, schema.get());
  }
  check(code);
  const py::object head = part_of(*schema, nullptr, py::none(), 0);
  if (!py::cast<bool>(py::reinterpret_borrow<py::object>(args[1])(head))) return py::none();
  ArrowOwner<ArrowArrayStream> own(*stream);  // the capsule is empty from here on
  stream = own.get();
  py::list parts;
  while (true) {
    ArrowOwner<ArrowArray> array;
    {
      const py::gil_scoped_release release;
      code = stream->get_next(stream, array.get());
    }
    check(code);
    if (array->release == nullptr) break;
    parts.append(part_of_owned(*schema, *array));
  }
  return py::make_tuple(head, parts);
}

template <class T>
py::object level_of_offsets(const std::byte* bytes, std::int64_t count, std::int64_t limit) {
  const auto* const offsets = reinterpret_cast<const T*>(bytes);
  NewLevel level(count);
  std::int64_t first = 0;
  {
    const GilRelease gil_release(count * 8);
    const Status status = rebase_offsets(offsets, count, limit, level.offsets(), &first);
    if (!status.ok()) {
      const py::gil_scoped_acquire gil;
      raise_if(status, "offsets");
    }
  }
  return py::make_tuple(std::move(level).finish(), first);
}

constexpr Signature<5> kLevelFromArrow{"level_from_arrow", {"offsets", "width", "offset", "length", "limit"}};

py::object level_from_arrow(const Arguments<5>& args) {
  const std::int64_t width = int_of(args[1], "width");
  const std::int64_t offset = int_of(args[2], "offset");
  const std::int64_t length = int_of(args[3], "length");
  const std::int64_t limit = int_of(args[4], "limit");
  if (length == 0) return py::make_tuple(NewLevel(0).finish(), 0);
  const auto array = py::reinterpret_borrow<py::array>(args[0]);
  const std::byte* const begin = data_of(array) + offset * width;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  if (address % static_cast<std::uintptr_t>(width) != 0) raise_value("offsets", "they are not aligned");
  if (width == 4) return level_of_offsets<std::int32_t>(begin, length, limit);
  const auto* const offsets = reinterpret_cast<const std::int64_t*>(begin);
  if (offsets[0] != 0) return level_of_offsets<std::int64_t>(begin, length, limit);
  return py::make_tuple(Level::from_foreign(offsets, length, limit, array), 0);
}

PyMethodDef arrow_import_methods[] = {
    method<kReadSchema, read_arrow_schema>(
        "read_arrow_schema(schema)\n--\n\nWhat a schema of Arrow says, as a tree of tuples."),
    method<kReadArray, read_arrow_array>(
        "read_arrow_array(schema, array)\n--\n\nAn array of Arrow as a tree of tuples over its memory. It is "
        "taken out of the capsule."),
    method<kReadStream, read_arrow_stream>("read_arrow_stream(stream, accept)\n--\n\nThe schema of a stream "
                                           "of Arrow, and a list of its arrays; None "
                                           "where accept(schema) is False, and the stream stays."),
    method<kLevelFromArrow, level_from_arrow>(
        "level_from_arrow(offsets, width, offset, length, limit)\n--\n\nThe Level of offsets of Arrow, and "
        "the "
        "first of them. Those of 64 bits that begin at 0 are shared, and checked when they are first used."),
    {},
};

}  // namespace

void add_arrow_import(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), arrow_import_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
