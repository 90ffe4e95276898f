// A list that is nearly always short: its first N items lie in place, so that a call allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace varlen::bindings {

template <class T, std::size_t N = 8>
class Few {
 public:
  void push_back(const T& item) {
    if (size_ < N) {
      here_[size_++] = item;
      return;
    }
    if (there_.empty()) there_.assign(here_.begin(), here_.end());
    there_.push_back(item);
    ++size_;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const T* data() const noexcept { return size_ <= N ? here_.data() : there_.data(); }
  const T& operator[](std::size_t i) const noexcept { return data()[i]; }
  [[nodiscard]] const T& back() const noexcept { return data()[size_ - 1]; }

 private:
  std::array<T, N> here_{};
  std::vector<T> there_;
  std::size_t size_ = 0;
};

}  // namespace varlen::bindings
