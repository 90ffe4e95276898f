#include "varlen/support/instructions.hpp"

#include "rooms.hpp"

namespace varlen::bindings {

void bind_instructions(pybind11::module_& m) {
  m.def(
      "instruction_set", [] { return name_of(isa()); },
      "The set of instructions that the kernels use: \"baseline\", \"avx2\" or \"avx512\".\n\n"
      "The best that the machine has, settled at import; VARLEN_ISA in the environment bounds it from "
      "above.");
}

}  // namespace varlen::bindings
