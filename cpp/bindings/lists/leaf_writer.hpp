// Where the leaves of nested lists go: carriers (bool, int64, uint64, float64) first, of which one grows into
// the next as the data asks for it, then the dtype that was asked for. No Python code runs here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "support/ndarray.hpp"
#include "varlen/numbers.hpp"

namespace varlen::bindings {

/// Which dtype the values shall have.
struct Want {
  bool narrow = false;           ///< the smallest that holds them; floats become float32
  std::optional<Number> number;  ///< this one, each value checked; nothing: NumPy's rules
};

/// A value that does not fit where it should go. The caller finds its path from the place.
struct Misfit {
  std::int64_t place = 0;  ///< among all leaves
  enum class Why : std::uint8_t { target, signs, float32, rounding } why = Why::target;
};

class LeafWriter {
 public:
  LeafWriter(std::int64_t total, Want want);

  [[nodiscard]] Number carrier() const noexcept { return carrier_; }
  [[nodiscard]] std::int64_t position() const noexcept { return stored_count_ + scratch_count_; }

  /// The first carrier: free to choose before anything was put.
  void begin(Number carrier);
  /// From now on leaves come as this carrier: bool -> int64 -> uint64 or float64.
  void become(Number carrier);

  /// Room for at least one leaf, at most `count`, as carriers; `take` says how many were written there.
  [[nodiscard]] std::int64_t room(std::int64_t count) {
    if (scratch_count_ == capacity_) flush();
    return count < capacity_ - scratch_count_ ? count : capacity_ - scratch_count_;
  }
  template <class T>
  [[nodiscard]] T* tail() noexcept {
    return reinterpret_cast<T*>(out_) + scratch_count_;
  }
  void take(std::int64_t count) noexcept { scratch_count_ += count; }

  /// Numbers from memory, `stride` bytes apart; grows the carrier where needed.
  void put(Number from, const std::byte* data, std::int64_t stride, std::int64_t count);

  /// One leaf in the carrier that is set.
  template <class T>
  void put_one(T value) {
    (void)room(1);
    *tail<T>() = value;
    take(1);
  }

  py::array finish();

 private:
  void flush();
  /// Refuses integers, the first of them leaf `place`, that floats nobody asked for would round.
  void refuse_rounded(Number from, const std::byte* data, std::int64_t stride, std::int64_t count,
                      std::int64_t place) const;
  void retarget(Number target);
  [[nodiscard]] py::array allocate(Number number) const;

  static constexpr std::int64_t kBlock = 1024;
  Want want_;
  std::int64_t total_;
  Number carrier_ = Number::i64;
  bool direct_;              // carriers are written straight into the result
  bool has_target_ = false;  // a narrow result needs no dtype before its first block
  Number target_ = Number::i64;
  Extent extent_;
  std::int64_t stored_count_ = 0;  // leaves in values_; in scratch_ are scratch_count_ more
  std::int64_t scratch_count_ = 0;
  std::int64_t capacity_;
  py::object values_;
  std::byte* out_ = nullptr;
  alignas(64) std::byte scratch_[kBlock * 8];
};

}  // namespace varlen::bindings
