// A joint to rectangles and masks: what there is to make, and how each is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varlen/model/joint.hpp"
#include "varlen/pad.hpp"

namespace varlen {

/// All keys of a view, and a mask for each dim that has some. Bounds that were not
/// checked are copied first.
class DensePlan {
 public:
  struct Entry {
    std::string name;  ///< the key's, or dimK/mask
    int dim = 0;
    std::size_t column = 0;  ///< of a key
    bool mask = false;
  };

  /// max_sizes: most slots of each axis, below 0 as many as there are. empty_keys: keys without a leaf too.
  /// cut: which end of a sequence goes.
  DensePlan(const Joint& joint, const std::vector<std::int64_t>& max_sizes, Side cut, bool masks,
            bool empty_keys);

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  /// Slots of every axis.
  [[nodiscard]] const std::vector<std::int64_t>& sizes() const noexcept { return sizes_; }
  /// (rows, slots, ...): one number a dim, without the shape of a row.
  [[nodiscard]] std::vector<std::int64_t> shape(int dim) const;

  /// Writes an entry. how.fill is one row of a key.
  void write(const Entry& entry, const Padding& how, std::byte* out) const noexcept;

 private:
  [[nodiscard]] bool has_entry(int dim, bool empty_keys) const noexcept;

  Joint joint_;
  std::vector<std::int64_t> sizes_;
  std::vector<Entry> entries_;
};

}  // namespace varlen
