// A list that is nearly always short: its first N items lie in place, so that a call allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace varlen {

template <class T, std::size_t N = 4>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SmallVector() = default;
  SmallVector(std::initializer_list<T> items) { append(items.begin(), items.end()); }
  SmallVector(const T* first, const T* last) { append(first, last); }
  SmallVector(std::size_t count, const T& item) {
    for (std::size_t i = 0; i < count; ++i) push_back(item);
  }

  void push_back(const T& item) {
    if (size_ < N) {
      array_[size_++] = item;
      return;
    }
    if (vector_.empty()) vector_.assign(array_.begin(), array_.end());
    vector_.push_back(item);
    ++size_;
  }
  void append(const T* first, const T* last) {
    for (; first != last; ++first) push_back(*first);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* data() noexcept { return size_ <= N ? array_.data() : vector_.data(); }
  [[nodiscard]] const T* data() const noexcept { return size_ <= N ? array_.data() : vector_.data(); }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] const T& back() const noexcept { return data()[size_ - 1]; }

 private:
  std::array<T, N> array_;  // no values of their own beyond size_
  std::vector<T> vector_;
  std::size_t size_ = 0;
};

}  // namespace varlen
