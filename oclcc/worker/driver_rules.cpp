#include "worker/driver_rules.hpp"

#include "matching/vendor_rules.hpp"
#include "worker/forks.hpp"

namespace oclcc::worker {

using clbin::format::DeviceFamily;

namespace {

// Intel's GPU platforms have a longer name ("Intel(R) OpenCL Graphics").
constexpr std::string_view k_intel_cpu_platform = "Intel(R) OpenCL";

bool is_intel_cpu_runtime(const clbin::format::DeviceIdentity& identity) {
  return clbin::format::device_family(identity) == DeviceFamily::intel &&
         identity.platform_name == k_intel_cpu_platform;
}

// PoCL's documentation of POCL_BINARY_SPECIALIZE_WG ("Tuning PoCL behavior with ENV variables"): a
// list of directory names in its cache. Measured on 3.1:
// - A launch without a global offset requires "X-Y-Z-goffs0-smallgrid" if the grid is narrower than
//   65535 work-items in each dimension, otherwise "X-Y-Z-goffs0"; one with an offset the same
//   without "-goffs0". If it is missing, PoCL compiles it in 0.3 to 0.8 s.
// - With two of them in one list, PoCL creates only the first: it mistakes the second for the same
//   function, which is already loaded. Another process, which has loaded nothing, adds the second
//   to its cache. The binary contains the directory.
// - A process reads the variable once, and its value applies to every kernel of the program.
constexpr std::string_view k_pocl_variable = "POCL_BINARY_SPECIALIZE_WG";
struct Flavour {
  std::string_view purpose;
  std::string_view suffix;
  bool has_offset;
};
constexpr Flavour k_pocl_flavours[] = {
    {"while specializing for large grids", "-goffs0", false},
    {"while specializing for small grids", "-goffs0-smallgrid", false},
    {"while specializing for large grids with an offset", "", true},
    {"while specializing for small grids with an offset", "-smallgrid", true},
};

std::string pocl_list(const std::set<GroupSize>& sizes, std::string_view suffix) {
  std::string list;
  for (const GroupSize& size : sizes) {
    list += fmt::format("{}{}-{}-{}{}", list.empty() ? "" : ",", size[0], size[1], size[2], suffix);
  }
  return list;
}

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

// Measured with programs that define equal struct names, built in both orders in one process:
// - PoCL 3.1: all contexts share one LLVMContext, which is destroyed with the last of them. LLVM
//   renames the types of a unit that is built while another context exists (%struct.foo.0). Without
//   another context, each unit loads the built-in library again: 740-890 ms instead of 290. A fork
//   of a process that has loaded it takes 300 ms, and the bytes are the same in any order.
// - Intel's CPU runtime 2026.2: numbers the calls of clang in a process and writes the number into
//   the binary. A fork starts from the same number each time. IL is not compiled by clang.
// - rusticl 22.3, Oclgrind 21.10, NVIDIA 580: the bytes are the same in any order if each unit has
//   a context. All except Oclgrind have threads that a fork would lack.
//
// Without forks, each unit of PoCL and of Intel's CPU runtime gets a process.
UnitIsolation unit_isolation(const clbin::format::DeviceIdentity& identity) noexcept {
  const UnitIsolation copy = has_forks() ? UnitIsolation::copy : UnitIsolation::process;
  switch (clbin::format::device_family(identity)) {
  case DeviceFamily::pocl:
    return copy;
  case DeviceFamily::intel:
    return is_intel_cpu_runtime(identity) ? copy : UnitIsolation::process;
  case DeviceFamily::rusticl:
  case DeviceFamily::oclgrind:
  case DeviceFamily::nvidia:
    return UnitIsolation::context;
  default:
    return UnitIsolation::process;
  }
}

WarmUp warm_up_for(const clbin::format::DeviceIdentity& identity) {
  const auto module = clbin::format::classify_binary(warm_up_module());
  return is_intel_cpu_runtime(identity) &&
                 clbin::matching::judge_il(module, identity).fit == clbin::matching::Fit::yes
             ? WarmUp::il
             : WarmUp::source;
}

std::vector<BinaryPass> first_launch_passes(DeviceFamily family, const std::set<GroupSize>& sizes,
                                            const std::set<GroupSize>& offset_sizes) {
  std::vector<BinaryPass> passes;
  if (!needs_specialization(family)) {
    return passes;
  }
  if (sizes.empty()) {
    passes.push_back({"while making the binary", std::string(k_pocl_variable), ""});
    return passes;
  }
  for (const auto& [purpose, suffix, has_offset] : k_pocl_flavours) {
    const std::set<GroupSize>& wanted = has_offset ? offset_sizes : sizes;
    if (!wanted.empty()) {
      passes.push_back(
          {std::string(purpose), std::string(k_pocl_variable), pocl_list(wanted, suffix)});
    }
  }
  return passes;
}

clbin::base::ByteView warm_up_module() noexcept {
  return std::as_bytes(std::span(k_words));
}

} // namespace oclcc::worker
