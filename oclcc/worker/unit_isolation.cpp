#include "worker/unit_isolation.hpp"

#include "format/binary/binary_kind.hpp"
#include "matching/vendor_rules.hpp"
#include "worker/warm_up_module.hpp"

namespace oclcc::worker {

using clbin::format::DeviceFamily;

namespace {

// Intel's GPU platforms have a longer name ("Intel(R) OpenCL Graphics").
constexpr std::string_view k_intel_cpu_platform = "Intel(R) OpenCL";

bool is_intel_cpu_runtime(const clbin::format::DeviceIdentity& identity) {
  return clbin::format::device_family(identity) == DeviceFamily::intel &&
         identity.platform_name == k_intel_cpu_platform;
}

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
UnitIsolation unit_isolation(const clbin::format::DeviceIdentity& identity) noexcept {
  switch (clbin::format::device_family(identity)) {
  case DeviceFamily::pocl:
    return UnitIsolation::copy;
  case DeviceFamily::intel:
    return is_intel_cpu_runtime(identity) ? UnitIsolation::copy : UnitIsolation::process;
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

} // namespace oclcc::worker
