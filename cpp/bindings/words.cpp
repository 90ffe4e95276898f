// Texts of Arrow as ids and the words that differ, each of which becomes one object of Python.
#include "varlen/words.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rooms.hpp"
#include "support/arrays.hpp"
#include "support/fastcall.hpp"
#include "support/ndarray.hpp"
#include "support/raise.hpp"
#include "varlen/support/overflow.hpp"

namespace varlen::bindings {

namespace {

/// Bytes of a producer; nothing for None.
TextPiece piece_of(py::handle buffer, const char* argument) {
  if (buffer.is_none()) return {};
  if (!is_array(buffer.ptr(), Api::get())) {
    raise_type(argument, "expected an array or None, got " + type_name(buffer));
  }
  const auto array = py::reinterpret_borrow<py::array>(buffer);
  return {reinterpret_cast<const char*>(data_of(array)), static_cast<std::int64_t>(array.nbytes())};
}

/// A table that grows as words come.
class OwnWords {
 public:
  OwnWords() { grow(1024); }

  void grow(std::int64_t slot_count) {
    std::vector<WordSlot> slots(static_cast<std::size_t>(slot_count));
    std::vector<std::int64_t> firsts(static_cast<std::size_t>(slot_count / 2));
    WordTable larger{slots.data(), slot_count, firsts.data(), 0};
    move_words(table, larger);
    slots_ = std::move(slots);
    firsts_ = std::move(firsts);
    table = larger;
  }

  WordTable table;

 private:
  std::vector<WordSlot> slots_;
  std::vector<std::int64_t> firsts_;
};

constexpr std::int64_t kMostSlots = std::int64_t{1} << 32;

Status number_all(const Texts& texts, std::int64_t count, OwnWords& words, std::int64_t* ids) {
  std::int64_t begin = 0;
  while (true) {
    const Status status = number_words(texts, begin, count, words.table, ids);
    if (status.code != Code::no_room || words.table.slot_count == kMostSlots) return status;
    begin = status.where;
    words.grow(words.table.slot_count * 4);
  }
}

[[noreturn]] void refuse_text(const std::string& reason, std::int64_t row) {
  raise_value("data", reason, row, std::nullopt);
}

constexpr Signature<7> kWords{"words_from_arrow",
                              {"width", "places", "pieces", "valid", "first", "count", "is_text"}};

py::object words_from_arrow(const Arguments<7>& args) {
  const std::int64_t width = int_of(args[0], "width");
  if (width != 4 && width != 8 && width != 16) raise_value("width", "expected 4, 8 or 16");
  const TextPiece places = piece_of(args[1], "places");
  if (PyTuple_Check(args[2]) == 0) raise_type("pieces", "expected a tuple, got " + type_name(args[2]));
  std::vector<TextPiece> pieces;
  for (py::handle piece : py::reinterpret_borrow<py::tuple>(args[2])) {
    pieces.push_back(piece_of(piece, "pieces"));
  }
  if (width != 16 && pieces.size() != 1) raise_value("pieces", "expected one");
  const TextPiece valid = piece_of(args[3], "valid");
  const std::int64_t first = at_least(0, int_of(args[4], "first"), "first");
  const std::int64_t count = at_least(0, int_of(args[5], "count"), "count");
  const bool is_text = py::cast<bool>(py::handle(args[6]));
  std::int64_t end = 0;
  std::int64_t bytes = 0;
  const std::int64_t one_more = width == 16 ? 0 : 1;
  if (!checked_add(first, count, end) || !checked_mul(end + one_more, width, bytes) ||
      (count > 0 && bytes > places.size)) {
    raise_value("places",
                std::to_string(places.size) + " bytes do not hold texts up to " + std::to_string(end));
  }
  if (valid.data != nullptr && end > valid.size * 8) {
    raise_value("valid", std::to_string(valid.size) + " bytes do not hold bits up to " + std::to_string(end));
  }
  const Texts texts{width == 4   ? Texts::Kind::offsets32
                    : width == 8 ? Texts::Kind::offsets64
                                 : Texts::Kind::views,
                    places.data,
                    reinterpret_cast<const std::uint8_t*>(valid.data),
                    first,
                    pieces.data(),
                    static_cast<std::int64_t>(pieces.size())};
  py::array ids = empty_ints(count);
  OwnWords words;
  Status status;
  {
    const GilRelease release(count * 16);
    status = number_all(texts, count, words, ints(ids));
  }
  if (status.code == Code::beyond_total) refuse_text("text that leaves its bytes", status.where);
  if (status.code == Code::too_long) refuse_text("text of 4 GiB", status.where);
  if (status.code == Code::no_room) refuse_text("more words than 32 bits number", status.where);
  py::list list(static_cast<std::size_t>(words.table.word_count));
  for (std::int64_t i = 0; i < words.table.word_count; ++i) {
    const std::int64_t row = words.table.firsts[i];
    TextPiece text;
    if (!text_at(texts, row, text).ok()) refuse_text("text that leaves its bytes", row);
    const auto size = static_cast<Py_ssize_t>(text.size);
    PyObject* const word =
        is_text ? PyUnicode_DecodeUTF8(text.data, size, nullptr) : PyBytes_FromStringAndSize(text.data, size);
    if (word == nullptr) {
      if (PyErr_ExceptionMatches(PyExc_UnicodeDecodeError) == 0) throw py::error_already_set();
      PyErr_Clear();
      refuse_text("bytes that are no UTF-8", row);
    }
    PyList_SET_ITEM(list.ptr(), i, word);
  }
  return py::make_tuple(ids, list);
}

PyMethodDef words_methods[] = {
    method<kWords, words_from_arrow>(
        "words_from_arrow(width, places, pieces, valid, first, count, is_text)\n--\n\nThe ids of texts of "
        "Arrow, -1 for those that are missing, and the words in the order in which they come."),
    {},
};

}  // namespace

void bind_words(py::module_& m) {
  if (PyModule_AddFunctions(m.ptr(), words_methods) != 0) throw py::error_already_set();
}

}  // namespace varlen::bindings
