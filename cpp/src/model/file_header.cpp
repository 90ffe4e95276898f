// The header of a file: read, parsed into tables of its own, and what its errors say.
#include <algorithm>
#include <bit>
#include <cstring>

#include "varlen/model/error.hpp"
#include "varlen/model/file.hpp"

namespace varlen {
namespace {

// The format's own limit.
constexpr std::int64_t kMaxHeader = 100'000'000;

// What one read at opening brings: most headers are smaller.
constexpr std::int64_t kFirstRead = 8192;

[[noreturn]] void refuse_file(const std::string& path, const std::string& text) {
  throw Error::in_file(Fault::format, path, text);
}

/// As Python writes a string: one line, whatever is in it.
std::string quote_name(std::string_view name) {
  const bool single = name.find('\'') == std::string_view::npos || name.find('"') != std::string_view::npos;
  const char quote = single ? '\'' : '"';
  std::string text(1, quote);
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      text += {'\\', c};
    } else if (c == '\n' || c == '\r' || c == '\t') {
      text += {'\\', c == '\n' ? 'n' : c == '\r' ? 'r' : 't'};
    } else if (code < 0x20 || code == 0x7f) {
      constexpr char digits[] = "0123456789abcdef";
      text += {'\\', 'x', digits[code >> 4], digits[code & 15]};
    } else {
      text += c;
    }
  }
  return text + quote;
}

// Tables lie in one block, whose memory is not zeroed first.
template <class T>
T* table_at(std::byte*& cursor, std::int64_t count) {
  auto* table = reinterpret_cast<T*>(cursor);
  cursor += (static_cast<std::size_t>(count) * sizeof(T) + 7) / 8 * 8;
  return table;
}

}  // namespace

FileHeader::FileHeader(std::unique_ptr<char[]> text, std::int64_t size, std::int64_t data_size,
                       std::string path)
    : text_(std::move(text)), size_(size), data_size_(data_size), path_(std::move(path)) {
  // A guess that fits what writers write; what no text of this size can hold is the most that is ever needed.
  make_tables(size / 56 + 8, size / 1024 + 8, size / 28 + 16);
  Status status = parse_header(text_.get(), size_, data_size_, tables_);
  if (status.code == Code::no_room) {
    make_tables(size / 49 + 1, size / 6 + 1, size / 2 + 1);
    status = parse_header(text_.get(), size_, data_size_, tables_);
  }
  if (!status.ok()) refuse_header(status);
}

std::shared_ptr<FileHeader> FileHeader::read(std::int64_t size, const std::string& path, const Read& read) {
  char first[kFirstRead];
  const auto bytes = [](std::int64_t n) { return std::to_string(n) + " bytes"; };
  if (size < 8) refuse_file(path, "has " + bytes(size) + ", less than the 8 that every file begins with");
  const std::int64_t got = std::min(size, kFirstRead);
  read(0, got, first);
  std::uint64_t length = 0;
  std::memcpy(&length, first, 8);
  if (length > static_cast<std::uint64_t>(kMaxHeader)) {
    refuse_file(path, "says its header has " + std::to_string(length) + " bytes, the format allows " +
                          std::to_string(kMaxHeader));
  }
  const auto json = static_cast<std::int64_t>(length);
  if (json > size - 8) {
    refuse_file(path, "says its header has " + bytes(json) + ", but the file ends after " +
                          std::to_string(size - 8) + " of them");
  }
  std::unique_ptr<char[]> text(new char[static_cast<std::size_t>(json)]);
  const std::int64_t have = std::min(json, got - 8);
  std::memcpy(text.get(), first + 8, static_cast<std::size_t>(have));
  if (have < json) read(8 + have, json - have, text.get() + have);
  return std::make_shared<FileHeader>(std::move(text), json, size - 8 - json, path);
}

void FileHeader::make_tables(std::int64_t entries, std::int64_t pairs, std::int64_t dims) {
  const std::int64_t limit = std::max(entries, pairs);
  const auto slots = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * limit)));
  const bool escapes =
      size_ > 0 && std::memchr(text_.get(), '\\', static_cast<std::size_t>(size_)) != nullptr;
  const std::int64_t bytes = entries * static_cast<std::int64_t>(sizeof(HeaderEntry) + 4) +
                             pairs * static_cast<std::int64_t>(sizeof(HeaderPair)) + dims * 8 +
                             (limit + slots) * 4 + (escapes ? size_ : 0);
  constexpr std::int64_t kAlignment = 56;  // what table_at may add
  block_.reset(new std::byte[static_cast<std::size_t>(bytes + kAlignment)]);
  std::byte* cursor = block_.get();
  tables_.entries = table_at<HeaderEntry>(cursor, tables_.entry_room = entries);
  tables_.pairs = table_at<HeaderPair>(cursor, tables_.pair_room = pairs);
  tables_.dims = table_at<std::int64_t>(cursor, tables_.dim_room = dims);
  tables_.order = table_at<std::uint32_t>(cursor, entries);
  tables_.scratch = table_at<std::uint32_t>(cursor, limit);
  tables_.slots = table_at<std::uint32_t>(cursor, slots);
  tables_.text = reinterpret_cast<char*>(cursor);
}

const HeaderEntry& FileHeader::entry(std::int64_t i) const {
  if (i < 0 || i >= count()) {
    throw Error(Fault::index, "entry", std::to_string(i) + " of " + std::to_string(count()));
  }
  return tables_.entries[i];
}

std::string FileHeader::about(const HeaderEntry& e) const {
  std::string dims;
  for (unsigned axis = 0; axis < e.rank; ++axis) dims += (axis ? ", " : "") + std::to_string(shape(e)[axis]);
  return std::string(kTags[static_cast<std::size_t>(e.tag)].name) + " [" + dims + "] at bytes " +
         std::to_string(e.begin) + " to " + std::to_string(e.end);
}

void FileHeader::refuse(const std::string& text) const {
  refuse_file(path_, text);
}

void FileHeader::refuse_header(Status status) const {
  const auto fault = static_cast<HeaderFault>(status.value);
  std::string text = "header";
  if (status.where >= 0) text += ", byte " + std::to_string(status.where);
  text += ": " + std::string(fault_text(fault));
  if (fault == HeaderFault::trailing_data) {
    std::int64_t end = 0;
    for (std::int64_t i = 0; i < count(); ++i) end = std::max(end, tables_.entries[i].end);
    text += " (it ends at " + std::to_string(end) + " of " + std::to_string(data_size_) + ")";
  }
  for (std::int64_t i = 0; fault != HeaderFault::utf8 && i < count(); ++i) {
    const HeaderEntry& e = tables_.entries[i];
    if (e.place != status.where) continue;
    text += " (tensor " + quote_name(e.name) + ": " + about(e);
    text += fault == HeaderFault::past_end ? " of " + std::to_string(data_size_) + ")" : ")";
    break;
  }
  refuse(text);
}

void FileHeader::refuse_layout(Status status) const {
  const auto fault = static_cast<LayoutFault>(status.value);
  std::string text;
  if (status.where >= 0)
    text = "tensor " + quote_name(entry(status.where).name) + " (" + about(entry(status.where)) + "): ";
  text += fault_text(fault);
  if (fault == LayoutFault::rows) {
    const HeaderEntry& other = entry(layout_.other);
    text += " " + quote_name(other.name) + " (" + about(other) + ")";
  } else if (fault == LayoutFault::missing) {
    text += " " + std::to_string(layout_.other);
  }
  refuse(text);
}

const Layout& FileHeader::layout() {
  std::call_once(laid_out_, [this] {
    const Status status = parse_layout(tables_, layout_);
    if (!status.ok()) refuse_layout(status);
  });
  return layout_;
}

}  // namespace varlen
