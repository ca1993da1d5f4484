// Builds programs and asks what came out. One device a call; each function releases what it made
// when it fails.
#pragma once

#include "base/byte_codec.hpp"
#include "format/bundle.hpp"
#include "format/source_package.hpp"
#include "opencl/cl_handles.hpp"
#include "opencl/driver.hpp"

#include <string>
#include <vector>

namespace clbin::opencl {

// A build that the driver carried out, whether or not it succeeded.
struct BuildOutcome {
  Program program;          // null unless `code` is CL_SUCCESS
  cl_int code = CL_SUCCESS; // what create, compile, link or build answered
  std::string stage;        // the call that answered it: "clBuildProgram"
  std::string log; // trimmed of the closing NUL and white space; may hold warnings on success
};

// clBuildProgram, or clCompileProgram with embedded headers and clLinkProgram where the package has
// headers (OpenCL 1.2, section 5.6.3).
[[nodiscard]] BuildOutcome build_from_source(const Driver& driver, cl_context context,
                                             const std::vector<cl_device_id>& devices,
                                             const format::SourcePackage& source,
                                             const std::string& options);

// clCreateProgramWithBinary and clBuildProgram for one device, by the rule of design.md ("The
// ladder"): the program exists, errcode and binary status (set beforehand) are CL_SUCCESS, the
// build succeeds, and every name of `kernels` is in CL_PROGRAM_KERNEL_NAMES (where that query
// fails, is created). Bytes must have passed their digest: PoCL crashes on damaged ones.
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

// The device binary of a program built for exactly one device. opencl_call; binary_refused when the
// driver hands out an empty one (peers.md (d)5).
[[nodiscard]] base::Result<base::Bytes> program_binary(const Driver& driver, cl_program program);

// Every kernel of a program built from source with -cl-kernel-arg-info, sorted by name. What the
// driver cannot tell stays absent. opencl_call.
[[nodiscard]] base::Result<std::vector<format::KernelReflection>>
reflect_kernels(const Driver& driver, cl_program program, cl_device_id device);

} // namespace clbin::opencl
