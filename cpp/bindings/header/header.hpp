// Header, the object: the tables of a parsed file header, with their owner.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varlen/header.hpp"
#include "varlen/layout.hpp"

namespace varlen::bindings {

namespace py = pybind11;

/// Immutable. Its names are views of the text that it owns.
class Header {
 public:
  /// `text` is the JSON of a file whose data has data_size bytes; `path` is for errors only.
  Header(std::unique_ptr<char[]> text, std::int64_t size, std::int64_t data_size, std::string path);

  [[nodiscard]] std::int64_t count() const noexcept { return tables_.entry_count; }
  [[nodiscard]] std::int64_t data_start() const noexcept { return 8 + size_; }
  [[nodiscard]] std::int64_t data_size() const noexcept { return data_size_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const HeaderEntry& entry(std::int64_t i) const;
  [[nodiscard]] const std::int64_t* shape(const HeaderEntry& e) const noexcept {
    return tables_.dims + e.dims;
  }

  /// Refuses tensors that do not nest.
  const Layout& laid_out();

  [[nodiscard]] py::list names() const;
  [[nodiscard]] py::dict metadata() const;
  [[nodiscard]] py::tuple describe(std::int64_t i) const;
  /// (depth, bounds, lengths, rows): for each level its entries, for each depth its rows; -1 is none.
  [[nodiscard]] py::tuple layout();
  /// [(name, dim, entry), ...] of the keys, without the levels.
  [[nodiscard]] py::list columns();

 private:
  void make_tables(std::int64_t entries, std::int64_t pairs, std::int64_t dims);
  [[noreturn]] void refuse(Status status) const;
  [[noreturn]] void refuse_layout(Status status) const;
  [[nodiscard]] std::string about(const HeaderEntry& e) const;

  std::unique_ptr<char[]> text_;
  std::int64_t size_;
  std::int64_t data_size_;
  std::string path_;
  HeaderTables tables_;
  std::unique_ptr<std::byte[]> block_;
  Layout layout_;
  bool laid_out_ = false;
};

}  // namespace varlen::bindings
