// What is asked of streams and events where they are the host's: written down in its order, for tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace varlen::cuda::host {

/// Behind a copy, which was made when it was asked for.
struct Event {
  std::atomic<bool> has_come{false};
};

class CallLog {
 public:
  std::atomic<bool> holds_events{false};  ///< they come when somebody waits for them
  std::atomic<bool> is_kept{false};

  void note(std::string what) {
    if (!is_kept) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.push_back(std::move(what));
  }
  void note_of(const char* what, const void* stream) {
    if (is_kept) note(what + std::to_string(reinterpret_cast<std::uintptr_t>(stream)));
  }
  /// All since the last call.
  [[nodiscard]] std::vector<std::string> take() {
    is_kept = true;
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(all_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

inline CallLog& call_log() {
  static CallLog one;
  return one;
}

}  // namespace varlen::cuda::host
