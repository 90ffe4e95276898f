// Which set of instructions the kernels use: the best that this machine has, settled when the library is
// loaded.
#pragma once

#include <cstdint>
#include <string_view>

namespace varlen {

/// Each holds those before it. The baseline is what the compiler was told: SSE2 on x86-64, NEON on aarch64.
enum class Isa : std::uint8_t { baseline, avx2, avx512 };

/// The set in use. VARLEN_ISA=baseline, avx2 or avx512 in the environment, read at load, bounds it from
/// above; any other value changes nothing.
[[nodiscard]] Isa isa() noexcept;

/// "baseline", "avx2" or "avx512".
[[nodiscard]] std::string_view name_of(Isa set) noexcept;

}  // namespace varlen
