// Builds programs and queries the results. A function that fails releases what it has created.
#pragma once

#include "model/bundle.hpp"
#include "opencl/driver.hpp"

namespace clbin::opencl {

// The result of a build by the driver, whether or not it succeeded.
struct BuildOutcome {
  Program program;          // null unless `code` is CL_SUCCESS
  cl_int code = CL_SUCCESS; // returned by the create, compile, link or build call
  std::string stage;        // the call that returned it: "clBuildProgram"
  std::string log;          // without closing NUL and white space; may contain warnings on success
};

// Returns both build options, with a space between them.
[[nodiscard]] std::string joined_options(std::string_view first, std::string_view second);

// Returns whether the log of a successful build reports that the driver recompiled IR. Intel's
// driver can accept a binary for another device, build the IR in it, and report that only in the
// build log (doc/drivers.md, "Read in sources").
[[nodiscard]] bool reports_recompiling(std::string_view log) noexcept;
inline constexpr std::string_view k_recompiled_sentence =
    "the driver ignored the native code of the binary and recompiled its IR";

// Calls clBuildProgram. If the package has headers, calls clCompileProgram with embedded headers
// and clLinkProgram instead (OpenCL 1.2, section 5.6.3).
[[nodiscard]] BuildOutcome build_from_source(const Driver& driver, cl_context context,
                                             const std::vector<cl_device_id>& devices,
                                             const format::SourcePackage& source,
                                             const std::string& options);

// Passes the strings to clCreateProgramWithSource as they are, and calls clBuildProgram.
[[nodiscard]] BuildOutcome build_from_strings(const Driver& driver, cl_context context,
                                              const std::vector<cl_device_id>& devices,
                                              const std::vector<std::string_view>& strings,
                                              const std::string& options);

// Calls clCreateProgramWithBinary and clBuildProgram for one device. Succeeds if the program is not
// null, errcode and the binary status (set to CL_SUCCESS beforehand) are CL_SUCCESS, the build
// succeeds, and CL_PROGRAM_KERNEL_NAMES contains every name of `kernels`; if that query fails, each
// is created instead. The digest must have been checked, because PoCL crashes on damaged binaries.
[[nodiscard]] BuildOutcome build_from_binary(const Driver& driver, cl_context context,
                                             cl_device_id device, base::ByteView binary,
                                             const std::string& options,
                                             const std::vector<std::string>& kernels);

// Builds one program for several devices of the context, with one binary per device, in their
// order. Each must have been accepted alone before. Succeeds as build_from_binary does.
[[nodiscard]] BuildOutcome build_from_binaries(const Driver& driver, cl_context context,
                                               const std::vector<cl_device_id>& devices,
                                               const std::vector<base::ByteView>& binaries,
                                               const std::string& options,
                                               const std::vector<std::string>& kernels);

// Of SPIR-V, by its SpecId. A bool is one byte (OpenCL 3.0, clSetProgramSpecializationConstant).
struct SpecializationConstant {
  std::uint32_t id = 0;
  base::Bytes value;
};

// Creates the kernels. The outcome has no program, and the error of the first name that is none.
[[nodiscard]] tl::expected<std::vector<Kernel>, BuildOutcome>
create_kernels(const Driver& driver, cl_program program, const std::vector<std::string>& names);

// Calls clCreateProgramWithIL, sets the constants, and calls clBuildProgram. Succeeds as
// build_from_binary does. If a module requires a feature that a device does not accept
// (query_spirv_features), the driver does not see it: CL_INVALID_VALUE, with the feature in the
// log. Does not compare the version with CL_DEVICE_IL_VERSION.
[[nodiscard]] BuildOutcome
build_from_il(const Driver& driver, cl_context context, const std::vector<cl_device_id>& devices,
              base::ByteView il, const std::vector<SpecializationConstant>& constants,
              const std::string& options, const std::vector<std::string>& kernels);

// Returns the binary of `device` in a program that was built for it and possibly for other devices.
// If the program has only one device, returns its binary whatever `device` is, because PoCL's
// program of a sub-device lists the parent. opencl_call: a query failed. binary_refused: the driver
// returns an empty binary (doc/drivers.md, "Read in sources") or one of more than 1 GiB.
// invalid_argument: the program has several devices, and `device` is not one of them.
[[nodiscard]] base::Result<base::Bytes> program_binary(const Driver& driver, cl_program program,
                                                       cl_device_id device);

// In the order of format::AddressSpace and format::AccessQualifier.
inline constexpr cl_kernel_arg_address_qualifier k_address_qualifiers[]{
    CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL,
    CL_KERNEL_ARG_ADDRESS_CONSTANT};
inline constexpr cl_kernel_arg_access_qualifier k_access_qualifiers[]{
    CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_READ_ONLY, CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
    CL_KERNEL_ARG_ACCESS_READ_WRITE};

// Returns the first `count` arguments. std::nullopt if the driver keeps no information about them:
// then the first query fails.
[[nodiscard]] std::optional<std::vector<format::KernelArgument>>
reflect_arguments(const Driver& driver, cl_kernel kernel, cl_uint count);

struct ProgramReflection {
  std::vector<format::KernelReflection> kernels; // sorted by name
  // One message for each kernel that the driver cannot create, which then has only a name.
  std::vector<std::string> problems;
};

// For callers that recover from drivers that crash while they create a kernel.
struct KernelCreation {
  // Called with the name of a kernel before the driver creates it.
  std::function<void(const std::string& kernel)> before;
  // Kernels that are not created, with the reason. Each is reported as a problem.
  std::map<std::string, std::string> left_out;
};

// Whether the driver can create what it has built. rusticl before 25 crashes (doc/drivers.md).
[[nodiscard]] bool creates_kernels_safely(const format::DeviceIdentity& identity);
// Whether the driver can be asked for the binary of a program while kernels of that program, or of
// another of the same source and options, run. PoCL before 6 ends the process if one of them has a
// required work-group size (doc/drivers.md).
[[nodiscard]] bool returns_binaries_during_launches(const format::DeviceIdentity& identity);

// Returns every kernel of a program that was built from source with -cl-kernel-arg-info. Properties
// that the driver does not report are absent. opencl_call: the kernel names cannot be queried.
[[nodiscard]] base::Result<ProgramReflection> reflect_kernels(const Driver& driver,
                                                              cl_program program,
                                                              cl_device_id device,
                                                              const KernelCreation& creation = {});

// Returns CL_PROGRAM_KERNEL_NAMES (OpenCL 1.2) in the order of the driver, each once: rusticl 22.3
// lists those of a program that is built a second time twice. opencl_call: the query failed.
[[nodiscard]] base::Result<std::vector<std::string>> program_kernel_names(const Driver& driver,
                                                                          cl_program program);

// Returns the options of the last build for a device; empty if the driver does not tell them.
[[nodiscard]] std::string build_options(const Driver& driver, cl_program program,
                                        cl_device_id device);
// Returns the distinct build logs of the devices, without null terminators and trailing white
// space. Empty if the driver returns none: a missing log is never an error.
[[nodiscard]] std::string build_log(const Driver& driver, cl_program program,
                                    const std::vector<cl_device_id>& devices);

// Returns both ends of `log`, separated by a line that states how many bytes are missing; about
// `max_bytes` in all. Keeps lines whole unless they are very long. The error that ended a build is
// at the end of its log, after any number of warnings.
[[nodiscard]] std::string both_ends(std::string log, std::size_t max_bytes);

} // namespace clbin::opencl
