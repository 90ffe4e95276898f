// What the two builds of the loops over gates share.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "varlen/copy.hpp"
#include "varlen/lstm.hpp"
#include "varlen/pool.hpp"
#include "varlen/views.hpp"

namespace varlen {

struct LstmTable {
  void (*step32)(const LstmStep&, Range) noexcept;
  void (*step64)(const LstmStep&, Range) noexcept;
  void (*back32)(const LstmBack&, Range) noexcept;
  void (*back64)(const LstmBack&, Range) noexcept;
};

namespace baseline {
extern const LstmTable kLstm;
}  // namespace baseline

namespace avx2 {
extern const LstmTable kLstm;
}  // namespace avx2

}  // namespace varlen
