// One step of an LSTM for the sequences that are still running; the products with the weights are made
// outside.
//
// A row of gates holds those that forget, those that let in, those that let out and the candidates, `width`
// each. Elements are float or double. Nothing overlaps. NaN goes through.
#pragma once

#include <cstddef>
#include <cstdint>

#include "varlen/cast.hpp"

namespace varlen {

struct LstmStep {
  Type type = Type::f32;
  std::int64_t rows = 0;
  std::int64_t width = 1;
  std::byte* gates = nullptr;         ///< what the inputs add to them; becomes what they are
  const std::byte* addend = nullptr;  ///< what the hidden state adds
  const std::byte* bias = nullptr;    ///< one row
  std::byte* cells = nullptr;         ///< the state, before and after
  std::byte* hidden = nullptr;        ///< likewise
  std::byte* cells_were = nullptr;    ///< the states before, kept for the way back; null: not kept
  std::byte* hidden_were = nullptr;
  std::byte* out = nullptr;  ///< the hidden state once more
};

void lstm_step(const LstmStep& step) noexcept;

struct LstmBack {
  Type type = Type::f32;
  std::int64_t rows = 0;
  std::int64_t width = 1;
  const std::byte* gates = nullptr;       ///< as lstm_step left them
  const std::byte* cells_were = nullptr;  ///< likewise
  const std::byte* d_out = nullptr;
  const std::byte* d_hidden = nullptr;  ///< of the state after the step, from the steps after it
  std::byte* d_cells = nullptr;         ///< likewise; becomes that of the state before
  std::byte* d_gates = nullptr;
};

void lstm_step_back(const LstmBack& job) noexcept;

}  // namespace varlen
