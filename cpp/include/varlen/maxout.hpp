// The largest of every few numbers: the activation of a maxout layer.
#pragma once

#include <cstdint>

namespace varlen {

/// x (n, pieces) to best (n), the largest of each row, and which (n), its place: the first of equals. A place
/// gives way only to one that compares larger, so a NaN stays or is passed over as in Thinc's kernel, which
/// goes from the back for three pieces and from the front otherwise. float or double; 1 <= pieces < 2^31,
/// n * pieces numbers fit memory. Outputs do not overlap x.
template <class T>
void maxout(const T* x, std::int64_t n, std::int64_t pieces, T* best, std::int32_t* which) noexcept;

}  // namespace varlen
