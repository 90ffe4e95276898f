// A file opened, mapped and taken for the joint that its tensors nest to.
#include "varlen/model/file.hpp"

#include <cstring>
#include <optional>
#include <vector>

#include "varlen/model/error.hpp"
#include "varlen/numbers.hpp"

namespace varlen {
namespace {

[[noreturn]] void raise_file(Status status, const std::string& path) {
  if (status.code == Code::io_error) {
    throw Error::in_file(Fault::system, path, std::strerror(static_cast<int>(status.value)));
  }
  if (status.code == Code::not_regular) throw Error::in_file(Fault::format, path, "not a regular file");
  throw Error::in_file(Fault::format, path,
                       "ends at byte " + std::to_string(status.where) + ", " + std::to_string(status.value) +
                           " bytes before what its header says");
}

class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : path_(path) {
    const Status status = open_file(path.c_str(), fd_, id_);
    if (!status.ok()) raise_file(status, path);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close_file(fd_); }

  [[nodiscard]] std::int64_t size() const noexcept { return id_.size; }
  void read(std::int64_t begin, std::int64_t size, char* out) const {
    const Status status = read_bytes(fd_, begin, size, reinterpret_cast<std::byte*>(out));
    if (!status.ok()) raise_file(status, path_);
  }
  /// All of it; unmapped with the last owner.
  [[nodiscard]] std::shared_ptr<const std::byte> map() const {
    const std::byte* data = nullptr;
    const Status status = map_file(fd_, id_.size, data);
    if (!status.ok()) raise_file(status, path_);
    return {data, [size = id_.size](const std::byte* bytes_at) { unmap_file(bytes_at, size); }};
  }

 private:
  std::string path_;
  int fd_ = -1;
  FileId id_;
};

std::optional<Type> type_of(Tag tag) noexcept {
  switch (tag) {
    case Tag::boolean:
      return Type::b1;
    case Tag::i8:
      return Type::i8;
    case Tag::i16:
      return Type::i16;
    case Tag::i32:
      return Type::i32;
    case Tag::i64:
      return Type::i64;
    case Tag::u8:
      return Type::u8;
    case Tag::u16:
      return Type::u16;
    case Tag::u32:
      return Type::u32;
    case Tag::u64:
      return Type::u64;
    case Tag::f16:
      return Type::f16;
    case Tag::bf16:
      return Type::bf16;
    case Tag::f32:
      return Type::f32;
    case Tag::f64:
      return Type::f64;
    default:
      return {};
  }
}

Number integer_of(Tag tag) noexcept {
  switch (tag) {
    case Tag::u64:
      return Number::u64;
    case Tag::u32:
      return Number::u32;
    case Tag::i32:
      return Number::i32;
    case Tag::u16:
      return Number::u16;
    case Tag::i16:
      return Number::i16;
    case Tag::u8:
      return Number::u8;
    case Tag::i8:
      return Number::i8;
    default:
      return Number::i64;
  }
}

/// A file while its joint is made.
class JointFile {
 public:
  JointFile(FileHeader& header, std::shared_ptr<const std::byte> map)
      : header_(header), map_(std::move(map)), layout_(header.layout()) {}

  [[nodiscard]] std::shared_ptr<JointData> load() const {
    auto data = std::make_shared<JointData>();
    for (int level = 1; level <= layout_.depth; ++level) add_level(*data, level);
    for (std::int64_t i = 0; i < header_.count(); ++i) add_key(*data, i);
    return data;
  }

 private:
  [[nodiscard]] const std::byte* bytes_at(const HeaderEntry& e) const noexcept {
    return map_.get() + header_.data_start() + e.begin;
  }
  [[nodiscard]] static std::string name_of(int level) { return "dim" + std::to_string(level) + "/bounds"; }

  [[nodiscard]] Scratch<std::int64_t> integers(const HeaderEntry& e, const std::string& name) const {
    const std::int64_t width = kTags[static_cast<std::size_t>(e.tag)].bytes;
    Scratch<std::int64_t> numbers((e.end - e.begin) / width);
    const auto count = static_cast<std::int64_t>(numbers.size());
    const std::int64_t misfit = convert_numbers(integer_of(e.tag), bytes_at(e), width, count, Number::i64,
                                                reinterpret_cast<std::byte*>(numbers.data()));
    if (misfit >= 0) throw Error(Fault::format, name, "entry " + std::to_string(misfit) + " is too large");
    return numbers;
  }

  void add_level(JointData& data, int level) const {
    if (layout_.bounds[level] < 0) {  // a file of the first generation may hold the lengths alone
      const Scratch<std::int64_t> lengths = integers(header_.entry(layout_.lengths[level]), name_of(level));
      data.add_level(
          Level::from_lengths(lengths.data(), static_cast<std::int64_t>(lengths.size()), name_of(level)));
    } else {
      add_bounds(data, level);
    }
    // The last end tells how many rows lie below: they are there, or a read of them would leave the file.
    const std::int64_t want = layout_.rows[level];
    const std::int64_t last = data.counts.back();
    if (last >= 0 && (want < 0 || last == want)) return;
    throw Error(Fault::format, name_of(level),
                "ends at " + std::to_string(last) + ", but dim " + std::to_string(level) + " has " +
                    (want < 0 ? std::string("no") : std::to_string(want)) + " rows");
  }

  void add_bounds(JointData& data, int level) const {
    const HeaderEntry& e = header_.entry(layout_.bounds[level]);
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_at(e));
    if (e.tag == Tag::i64 && address % alignof(std::int64_t) == 0) {
      const Offsets bounds{reinterpret_cast<const std::int64_t*>(bytes_at(e)), (e.end - e.begin) / 8};
      data.add_bounds(bounds, map_);
    } else {
      const Scratch<std::int64_t> bounds = integers(e, name_of(level));
      data.add_level(
          Level::from_bounds(bounds.data(), static_cast<std::int64_t>(bounds.size()), name_of(level)));
    }
  }

  /// Files of the first generation have the lengths of a level beside its bounds; a key may be called so too.
  [[nodiscard]] bool is_level_lengths(const JointData& data, int level, const HeaderEntry& e) const {
    if (e.rank != 1) return false;
    const std::optional<Type> type = type_of(e.tag);
    if (!type || is_float(*type) || *type == Type::b1) return false;
    const Scratch<std::int64_t> lengths = integers(e, std::string(e.name));
    const Offsets bounds = data.views[static_cast<std::size_t>(level - 1)];
    if (static_cast<std::int64_t>(lengths.size()) != bounds.count) return false;
    for (std::int64_t i = 0; i < bounds.count; ++i) {
      // Unsigned, because bounds that are not checked yet may hold anything.
      const std::uint64_t length =
          static_cast<std::uint64_t>(bounds.end(i)) - static_cast<std::uint64_t>(bounds.start(i));
      if (static_cast<std::uint64_t>(lengths.data()[i]) != length) return false;
    }
    return true;
  }

  void add_key(JointData& data, std::int64_t i) const {
    const HeaderEntry& e = header_.entry(i);
    int dim = 0;
    std::string_view name;
    if (!split_name(e.name, dim, name)) return;
    if (dim > 0 && layout_.bounds[dim] == i) return;
    if (dim > 0 && layout_.lengths[dim] == i && layout_.bounds[dim] < 0) return;
    if (dim > 0 && layout_.lengths[dim] == i && is_level_lengths(data, dim, e)) return;
    const TagName& tag = kTags[static_cast<std::size_t>(e.tag)];
    const std::int64_t* shape = header_.shape(e);
    data.add_column(std::string(name), dim,
                    std::make_shared<ElementValues>(Element{tag.name, tag.bytes, type_of(e.tag)},
                                                    std::vector<std::int64_t>(shape + 1, shape + e.rank),
                                                    bytes_at(e), shape[0], map_));
  }

  FileHeader& header_;
  std::shared_ptr<const std::byte> map_;
  const Layout& layout_;
};

}  // namespace

Joint open_joint(const std::string& path) {
  const OpenFile file(path);
  const auto header = FileHeader::read(
      file.size(), path,
      [&](std::int64_t begin, std::int64_t size, char* out) { file.read(begin, size, out); });
  try {
    return Joint::make(JointFile(*header, file.map()).load());
  } catch (const Error& error) {
    throw error.with_file(path);
  }
}

}  // namespace varlen
