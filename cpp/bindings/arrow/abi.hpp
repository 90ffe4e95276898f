// The C data interface of Arrow, as its specification writes it: three tables that go from one library to
// another, each with a function that lets go of what it points to. A table whose `release` is null is empty.
#pragma once

#include <cstdint>
#include <utility>

namespace varlen::bindings {

struct ArrowSchema {
  const char* format = nullptr;
  const char* name = nullptr;
  const char* metadata = nullptr;
  std::int64_t flags = 0;
  std::int64_t n_children = 0;
  ArrowSchema** children = nullptr;
  ArrowSchema* dictionary = nullptr;
  void (*release)(ArrowSchema*) = nullptr;
  void* private_data = nullptr;
};

struct ArrowArray {
  std::int64_t length = 0;
  std::int64_t null_count = 0;
  std::int64_t offset = 0;
  std::int64_t n_buffers = 0;
  std::int64_t n_children = 0;
  const void** buffers = nullptr;
  ArrowArray** children = nullptr;
  ArrowArray* dictionary = nullptr;
  void (*release)(ArrowArray*) = nullptr;
  void* private_data = nullptr;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out) = nullptr;
  int (*get_next)(ArrowArrayStream*, ArrowArray* out) = nullptr;
  const char* (*get_last_error)(ArrowArrayStream*) = nullptr;
  void (*release)(ArrowArrayStream*) = nullptr;
  void* private_data = nullptr;
};

constexpr std::int64_t kArrowNullable = 2;

template <class Table>
constexpr const char* kArrowName = "arrow_schema";
template <>
inline constexpr const char* kArrowName<ArrowArray> = "arrow_array";
template <>
inline constexpr const char* kArrowName<ArrowArrayStream> = "arrow_array_stream";

/// A table of our own, which is let go at the end.
template <class Table>
class ArrowOwner {
 public:
  ArrowOwner() = default;
  /// What a producer handed over: its table is empty from here on.
  explicit ArrowOwner(Table& source) noexcept : table_(std::exchange(source, Table{})) {}
  ArrowOwner(const ArrowOwner&) = delete;
  ArrowOwner& operator=(const ArrowOwner&) = delete;
  ArrowOwner(ArrowOwner&& other) noexcept : table_(std::exchange(other.table_, Table{})) {}
  ArrowOwner& operator=(ArrowOwner&&) = delete;
  ~ArrowOwner() {
    if (table_.release != nullptr) table_.release(&table_);
  }

  [[nodiscard]] Table* get() noexcept { return &table_; }
  Table* operator->() noexcept { return &table_; }
  Table& operator*() noexcept { return table_; }

 private:
  Table table_;
};

}  // namespace varlen::bindings
