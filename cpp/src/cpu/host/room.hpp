// Parts of one scratch, each aligned to what any kernel asks for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"

namespace varlen::host {

constexpr std::int64_t kAlignment = 64;

/// Bytes that a part takes.
constexpr std::int64_t part(std::int64_t bytes) noexcept {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// What gradients of a float type are worked out in.
constexpr Type compute_type(Type type) noexcept {
  return type == Type::f64 ? Type::f64 : Type::f32;
}

class Room {
 public:
  explicit Room(std::byte* scratch) noexcept : next_(scratch) {}

  [[nodiscard]] std::byte* take(std::int64_t bytes) noexcept {
    std::byte* const begin = next_;
    next_ += part(bytes);
    return begin;
  }

  /// `count` elements as another type: the elements themselves where it is theirs.
  [[nodiscard]] const std::byte* as(Type type, const std::byte* elements, std::int64_t count,
                                    Type from) noexcept {
    const Convert how = cast_of(from, type);
    if (how.run == nullptr) return elements;
    std::byte* const wide = take(count * size_of(type));
    cast(how, elements, count, wide);
    return wide;
  }

 private:
  std::byte* next_;
};

/// What Room::as takes.
inline std::int64_t part_as(Type type, std::int64_t count, Type from) noexcept {
  return cast_of(from, type).run == nullptr ? 0 : part(count * size_of(type));
}

}  // namespace varlen::host
