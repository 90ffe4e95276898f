// What stands for graphs and for errors of the runtime on the host: between `begin` and `end` nothing runs
// that is put on a stream, but is kept, and every `replay` runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace varlen::cuda::host {

class Graph {
 public:
  [[nodiscard]] std::uint64_t capture() const noexcept { return is_open_ ? number_ : 0; }

  void begin() {
    steps_.clear();
    is_open_ = true;
    ++number_;
  }
  void end() noexcept { is_open_ = false; }
  void put(std::function<void()> step) {
    if (is_open_) {
      steps_.push_back(std::move(step));
    } else {
      step();
    }
  }
  void replay() const {
    for (const auto& step : steps_) step();
  }

 private:
  bool is_open_ = false;
  std::uint64_t number_ = 0;
  std::vector<std::function<void()>> steps_;
};

inline Graph& graph() {
  static Graph one;
  return one;
}

/// How often somebody waited for a stream.
inline std::int64_t& waits() noexcept {
  static std::int64_t count = 0;
  return count;
}

/// What the next launch fails with; 0 for none.
inline int& next_error() noexcept {
  static int error = 0;
  return error;
}
inline int take_error() noexcept {
  return next_error() == 0 ? 0 : std::exchange(next_error(), 0);
}

}  // namespace varlen::cuda::host
