// Memory with an owner. Large blocks are made of those that died lately, because a first touch costs several
// times the writing; some of them are kept for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace varlen {

/// From here on blocks are whole pages, and are used again.
inline constexpr std::int64_t kLarge = std::int64_t{256} << 10;

/// Uninitialised memory of one's own; large blocks are aligned to a page. std::bad_alloc where there is none.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t bytes);
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        room_(std::exchange(other.room_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    return *this;
  }
  ~Buffer();

  [[nodiscard]] std::byte* data() noexcept { return data_; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::int64_t size() const noexcept { return size_; }

  /// The same memory as numbers.
  template <class T>
  [[nodiscard]] T* as() noexcept {
    return reinterpret_cast<T*>(data_);
  }
  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0;
  std::int64_t room_ = 0;  ///< of a large block
};

/// Memory for n numbers; Error where the bytes of it do not fit 63 bits.
[[nodiscard]] Buffer buffer_of(std::int64_t n, std::int64_t width);

/// Gives back to the system what is kept; how many bytes that was.
std::int64_t release_memory() noexcept;

/// The memory of this machine.
[[nodiscard]] std::int64_t physical_bytes() noexcept;

}  // namespace varlen
