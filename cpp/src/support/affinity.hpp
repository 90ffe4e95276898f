// Which cores threads are on, and where a sleeping one wakes up. Linux likes to wake a thread on the core of
// its waker, the more so in a virtual machine, where an idle core looks taken away; there it waits for the
// waker to finish, some milliseconds. Elsewhere all of this does nothing.
#pragma once

#ifdef __linux__
#include <sched.h>
#include <sys/types.h>
#endif

namespace varlen {

/// Cores that are at work on something.
class Cores {
 public:
  /// The core of the calling thread.
  void add_this() noexcept;

 private:
  friend class Affinity;
#ifdef __linux__
  cpu_set_t set_{};
#endif
};

/// The cores that one thread may use, for whoever wakes it.
class Affinity {
 public:
  /// By the thread itself, before it sleeps.
  void note() noexcept;

  /// By the waker, before it wakes: any of its cores but those, if it has others.
  void avoid(const Cores& busy) noexcept;

  /// By the thread itself, when it is awake: all its cores again.
  void restore() noexcept;

 private:
#ifdef __linux__
  pid_t thread_ = 0;
  cpu_set_t cores_{};
  bool is_known_ = false;
  bool is_moved_ = false;
#endif
};

}  // namespace varlen
