// Builds programs and asks what came out. One device a call; each function releases what it made
// when it fails.
#pragma once

#include "base/byte_codec.hpp"
#include "format/bundle/bundle.hpp"
#include "format/bundle/source_package.hpp"
#include "opencl/cl_handles.hpp"
#include "opencl/driver.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace clbin::opencl {

// A build that the driver carried out, whether or not it succeeded.
struct BuildOutcome {
  Program program;          // null unless `code` is CL_SUCCESS
  cl_int code = CL_SUCCESS; // what create, compile, link or build answered
  std::string stage;        // the call that answered it: "clBuildProgram"
  std::string log; // trimmed of the closing NUL and white space; may hold warnings on success
};

// Intel's driver can accept a binary for another device, build the IR in it, and report that only
// in the build log (doc/drivers.md, "Read in sources"). Whether the log of a successful build does.
[[nodiscard]] bool tells_of_recompiling(std::string_view log) noexcept;
inline constexpr std::string_view k_recompiled_sentence =
    "the driver did not use the binary but built the IR in it";

// clBuildProgram, or clCompileProgram with embedded headers and clLinkProgram where the package has
// headers (OpenCL 1.2, section 5.6.3).
[[nodiscard]] BuildOutcome build_from_source(const Driver& driver, cl_context context,
                                             const std::vector<cl_device_id>& devices,
                                             const format::SourcePackage& source,
                                             const std::string& options);

// clCreateProgramWithBinary and clBuildProgram for one device. Succeeds if the program exists,
// errcode and binary status (set beforehand) are CL_SUCCESS, the build succeeds, and every name of
// `kernels` is in CL_PROGRAM_KERNEL_NAMES (where that query fails, is created). Bytes must have
// passed their digest: PoCL crashes on damaged ones.
[[nodiscard]] BuildOutcome build_from_binary(const Driver& driver, cl_context context,
                                             cl_device_id device, base::ByteView binary,
                                             const std::string& options,
                                             const std::vector<std::string>& kernels);

// The same for several devices of the context at once; one binary a device, in their order, each
// proved alone before.
[[nodiscard]] BuildOutcome build_from_binaries(const Driver& driver, cl_context context,
                                               const std::vector<cl_device_id>& devices,
                                               const std::vector<base::ByteView>& binaries,
                                               const std::string& options,
                                               const std::vector<std::string>& kernels);

// A specialisation constant of SPIR-V, by its SpecId; booleans are one byte (OpenCL 3.0,
// clSetProgramSpecializationConstant).
struct SpecializationConstant {
  std::uint32_t id = 0;
  base::Bytes value;
};

// clCreateProgramWithIL, the constants, and clBuildProgram for one device, by the same rule as
// build_from_binary. Only for a device that lists the language's version (CL_DEVICE_IL_VERSION):
// drivers crash on modules that they do not know (doc/drivers.md, "Intel's CPU runtime").
[[nodiscard]] BuildOutcome build_from_il(const Driver& driver, cl_context context,
                                         cl_device_id device, base::ByteView il,
                                         const std::vector<SpecializationConstant>& constants,
                                         const std::string& options,
                                         const std::vector<std::string>& kernels);

// The binary of `device` in a program that was built for it, and perhaps for others. opencl_call;
// binary_refused when the driver returns an empty one (doc/drivers.md, "Read in sources"). Of a
// program of one device that one is meant, whatever `device` is: PoCL's program of a sub-device
// lists its parent.
[[nodiscard]] base::Result<base::Bytes> program_binary(const Driver& driver, cl_program program,
                                                       cl_device_id device);

struct ProgramReflection {
  std::vector<format::KernelReflection> kernels; // sorted by name
  // One for each kernel that the driver lists but cannot make: such a kernel has a name only.
  std::vector<std::string> problems;
};

// For callers that survive drivers which crash when they create a kernel.
struct KernelCreation {
  // Called with the name of a kernel before the driver creates it.
  std::function<void(const std::string& kernel)> before;
  // Kernels that are not created, each with the reason: they become problems.
  std::map<std::string, std::string> left_out;
};

// Every kernel of a program built from source with -cl-kernel-arg-info. What the driver cannot tell
// stays absent. opencl_call.
[[nodiscard]] base::Result<ProgramReflection> reflect_kernels(const Driver& driver,
                                                              cl_program program,
                                                              cl_device_id device,
                                                              const KernelCreation& creation = {});

} // namespace clbin::opencl
