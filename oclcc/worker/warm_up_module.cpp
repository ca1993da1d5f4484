#include "worker/warm_up_module.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace oclcc::worker {

namespace {

// The first word of an instruction of `words` words (SPIR-V specification, 2.3).
constexpr std::uint32_t instruction(std::uint32_t words, std::uint32_t opcode) {
  return words << 16U | opcode;
}

// IDs: 1 void, 2 void(), 3 the function, 4 its label. Consumers accept words in the byte order of
// this machine, which the magic number shows.
// clang-format off
constexpr std::array<std::uint32_t, 31> k_words{
    0x07230203,                                       // magic number
    0x00010000,                                       // version 1.0
    0,                                                // generator
    5,                                                // bound of the IDs
    0,                                                // reserved
    instruction(2, 17), 4,                            // OpCapability Addresses
    instruction(2, 17), 6,                            // OpCapability Kernel
    instruction(3, 14), 2, 2,                         // OpMemoryModel Physical64 OpenCL
    instruction(5, 15), 6, 3, 0x6d726177, 0x0070755f, // OpEntryPoint Kernel %3 "warm_up"
    instruction(2, 19), 1,                            // %1 = OpTypeVoid
    instruction(3, 33), 2, 1,                         // %2 = OpTypeFunction %1
    instruction(5, 54), 1, 3, 0, 2,                   // %3 = OpFunction %1 None %2
    instruction(2, 248), 4,                           // %4 = OpLabel
    instruction(1, 253),                              // OpReturn
    instruction(1, 56),                               // OpFunctionEnd
};
// clang-format on

} // namespace

clbin::base::ByteView warm_up_module() noexcept {
  return std::as_bytes(std::span(k_words));
}

} // namespace oclcc::worker
