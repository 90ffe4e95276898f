// Memory with an owner. Large blocks are made of those that died lately, because a first touch costs several
// times the writing; some of them are kept for that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
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

/// n items of no value yet.
template <class T>
class Scratch {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Scratch() = default;
  explicit Scratch(std::int64_t n) { make(n); }

  /// What was there is gone.
  void make(std::int64_t n) {
    memory_ = buffer_of(n, sizeof(T));
    size_ = static_cast<std::size_t>(n);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T* data() noexcept { return memory_.as<T>(); }
  [[nodiscard]] const T* data() const noexcept { return memory_.as<T>(); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  /// The memory, for somebody else.
  [[nodiscard]] Buffer memory() && noexcept { return std::move(memory_); }

 private:
  Buffer memory_;
  std::size_t size_ = 0;
};

/// Bytes of an output `name` of this shape; `usage` counts those of the call. An Error where they do not fit
/// 63 bits or take `usage` over max_bytes (below 0: no limit).
std::int64_t padded_bytes(std::string_view name, std::int64_t element_bytes, const std::int64_t* shape,
                          std::size_t axes, std::int64_t max_bytes, std::int64_t& usage);

/// Gives back to the system what is kept; how many bytes that was.
std::int64_t release_memory() noexcept;

/// The memory of this machine.
[[nodiscard]] std::int64_t physical_bytes() noexcept;

}  // namespace varlen
