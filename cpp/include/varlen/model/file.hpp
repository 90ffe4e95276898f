// Files of named tensors: the checked header with its owner, a map of the data, and the joint that is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "varlen/file.hpp"
#include "varlen/header.hpp"
#include "varlen/layout.hpp"
#include "varlen/model/joint.hpp"

namespace varlen {

/// The tables of a parsed header. Immutable. Its names are views of the text that it owns. Errors of it have
/// Fault::format, and name the file where there is one.
class FileHeader {
 public:
  /// `text` is the JSON of a file whose data has data_size bytes; `path` is for errors only.
  FileHeader(std::unique_ptr<char[]> text, std::int64_t size, std::int64_t data_size, std::string path);

  using Read = std::function<void(std::int64_t begin, std::int64_t size, char* out)>;
  /// From a file of `size` bytes: one read where the header is small.
  static std::shared_ptr<FileHeader> read(std::int64_t size, const std::string& path, const Read& read);

  [[nodiscard]] std::int64_t count() const noexcept { return tables_.entry_count; }
  [[nodiscard]] std::int64_t data_start() const noexcept { return 8 + size_; }
  [[nodiscard]] std::int64_t data_size() const noexcept { return data_size_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const HeaderEntry& entry(std::int64_t i) const;
  [[nodiscard]] const std::int64_t* shape(const HeaderEntry& e) const noexcept {
    return tables_.dims + e.dims;
  }
  [[nodiscard]] std::int64_t pair_count() const noexcept { return tables_.pair_count; }
  [[nodiscard]] const HeaderPair& pair(std::int64_t i) const noexcept { return tables_.pairs[i]; }

  /// Refuses tensors that do not nest. Worked out once.
  const Layout& layout();

 private:
  void make_tables(std::int64_t entries, std::int64_t pairs, std::int64_t dims);
  [[noreturn]] void refuse(const std::string& text) const;
  [[noreturn]] void refuse_header(Status status) const;
  [[noreturn]] void refuse_layout(Status status) const;
  [[nodiscard]] std::string about(const HeaderEntry& e) const;

  std::unique_ptr<char[]> text_;
  std::int64_t size_;
  std::int64_t data_size_;
  std::string path_;
  HeaderTables tables_;
  std::unique_ptr<std::byte[]> block_;
  std::once_flag laid_out_;
  Layout layout_;
};

/// Opens, checks and maps a file; the joint looks at the map, which lives as long as it. Bounds of 64 bits
/// are checked where they are read, others as a whole. Errors: Fault::system, Fault::format.
[[nodiscard]] Joint open_joint(const std::string& path);

}  // namespace varlen
