#include "varlen/lstm.hpp"

#include "table.hpp"

#define VARLEN_LOOPS "cpu/lstm/loops.inc"
#include "support/each_target.hpp"

namespace varlen {
namespace {

const LstmTable& lstm_table() noexcept {
  return VARLEN_BEST(kLstm);
}

/// body(rows), by threads where there are enough: an element costs some forty exps' worth of bytes.
template <class Body>
void by_rows(std::int64_t rows, std::int64_t width, Body body) noexcept {
  const std::int64_t chunks = std::min(rows, chunks_for(rows * width * 64));
  parallel(chunks, [&](std::int64_t c) { body(Range{rows * c / chunks, rows * (c + 1) / chunks}); });
}

}  // namespace

void lstm_step(const LstmStep& step) noexcept {
  const LstmTable& table = lstm_table();
  const auto run = step.type == Type::f32 ? table.step32 : table.step64;
  by_rows(step.rows, step.width, [&](Range share) { run(step, share); });
}

void lstm_step_back(const LstmBack& job) noexcept {
  const LstmTable& table = lstm_table();
  const auto run = job.type == Type::f32 ? table.back32 : table.back64;
  by_rows(job.rows, job.width, [&](Range share) { run(job, share); });
}

}  // namespace varlen
