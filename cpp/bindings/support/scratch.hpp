// Memory for one call that nobody has to set to zero first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace varlen::bindings {

template <class T>
class Scratch {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Scratch() = default;
  explicit Scratch(std::int64_t n) { make(n); }

  /// n items of no value; what was there is gone.
  void make(std::int64_t n) {
    size_ = static_cast<std::size_t>(n);
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(size_ * sizeof(T));
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(bytes_.get()); }
  [[nodiscard]] const T* data() const noexcept { return reinterpret_cast<const T*>(bytes_.get()); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
};

}  // namespace varlen::bindings
