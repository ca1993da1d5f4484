// The interface to OpenCL. Every call goes through this table, so that tests can use a scripted
// driver and products start without OpenCL installed.
#pragma once

#include "base/result.hpp"

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <functional>

namespace clbin::opencl {

using base::ErrorCode;
using base::Result;

// A function that libclbin_layer.so hands out through clGetExtensionFunctionAddress under this
// name, so that it neither stores nor records programs of encrypted bundles. It may be called
// between the creation of a program and its first build; the layer then passes on all calls for the
// program. Layers and drivers without it return null for the name. Both libraries may be of
// different versions: neither the name nor the type ever changes.
using KeepNothingOf = void(CL_API_CALL*)(cl_program program);
inline constexpr const char* k_keep_nothing_of = "clbinKeepNothingOf";
// Likewise, tells the layer what people call the program, which it then records. Copies the text.
using LabelProgram = void(CL_API_CALL*)(cl_program program, const char* label);
inline constexpr const char* k_label_program = "clbinLabelProgram";

// What a table of functions is for.
enum class TableUse : std::uint8_t {
  identity,   // to ask a device for its identity
  programs,   // also to load and build programs
  launches,   // also to launch kernels
  everything, // also to list devices and to create contexts
};

// The functions that libclbin calls, without "cl": X(NAME, USE, NEED). USE is the first use that
// calls it. Those that are needed to launch are required of a table for launches, and not of one
// for everything.
#define CLBIN_DRIVER_FUNCTIONS(X)                                                                  \
  X(GetPlatformInfo, identity, required)                                                           \
  X(GetDeviceInfo, identity, required)                                                             \
  X(GetContextInfo, programs, required)                                                            \
  X(CreateProgramWithSource, programs, required)                                                   \
  X(CreateProgramWithBinary, programs, required)                                                   \
  X(BuildProgram, programs, required)                                                              \
  X(CompileProgram, programs, optional)                   /* OpenCL 1.2 */                         \
  X(LinkProgram, programs, optional)                      /* OpenCL 1.2 */                         \
  X(CreateProgramWithIL, programs, optional)              /* OpenCL 2.1 */                         \
  X(SetProgramSpecializationConstant, programs, optional) /* OpenCL 2.2 */                         \
  X(GetProgramInfo, programs, required)                                                            \
  X(GetProgramBuildInfo, programs, required)                                                       \
  X(RetainProgram, programs, required)                                                             \
  X(ReleaseProgram, programs, required)                                                            \
  X(CreateKernel, programs, required)                                                              \
  X(ReleaseKernel, programs, required)                                                             \
  X(GetKernelInfo, programs, required)                                                             \
  X(GetKernelArgInfo, programs, optional) /* OpenCL 1.2 */                                         \
  X(GetKernelWorkGroupInfo, programs, required)                                                    \
  X(SetKernelArg, launches, to_launch)                                                             \
  X(ReleaseCommandQueue, launches, to_launch)                                                      \
  X(CreateBuffer, launches, to_launch)                                                             \
  X(ReleaseMemObject, launches, to_launch)                                                         \
  X(EnqueueWriteBuffer, launches, to_launch)                                                       \
  X(EnqueueReadBuffer, launches, to_launch)                                                        \
  X(EnqueueNDRangeKernel, launches, to_launch)                                                     \
  X(Finish, launches, to_launch)                                                                   \
  X(WaitForEvents, launches, to_launch)                                                            \
  X(GetEventInfo, launches, to_launch)                                                             \
  X(GetEventProfilingInfo, launches, to_launch)                                                    \
  X(ReleaseEvent, launches, to_launch)                                                             \
  X(CreateImage, launches, optional) /* OpenCL 1.2 */                                              \
  X(ReleaseSampler, launches, optional)                                                            \
  X(EnqueueReadImage, launches, optional)                                                          \
  X(EnqueueWriteImage, launches, optional)                                                         \
  X(GetPlatformIDs, everything, required)                                                          \
  X(GetDeviceIDs, everything, required)                                                            \
  X(CreateContext, everything, required)                                                           \
  X(ReleaseContext, everything, required)

// Entry points. resolve_driver sets those of its use, except optional ones, which may be null.
struct Driver {
#define CLBIN_MEMBER(name, use, need) decltype(&::cl##name) name = nullptr; // NOLINT(*-parentheses)
  CLBIN_DRIVER_FUNCTIONS(CLBIN_MEMBER)
#undef CLBIN_MEMBER
  // Deprecated since OpenCL 2.0, but every driver has it. Of TableUse::launches.
  cl_command_queue(CL_API_CALL* CreateCommandQueue)(cl_context, cl_device_id,
                                                    cl_command_queue_properties, cl_int*) = nullptr;
  // Likewise.
  cl_sampler(CL_API_CALL* CreateSampler)(cl_context, cl_bool, cl_addressing_mode, cl_filter_mode,
                                         cl_int*) = nullptr;
  void*(CL_API_CALL* GetExtensionFunctionAddress)(const char* name) = nullptr; // optional
  // Called for each program of source or IL, once created. Null unless made by for_secret_programs.
  opencl::KeepNothingOf KeepNothingOf = nullptr;
  // Likewise, with the label. Null unless made by for_labelled_programs.
  opencl::LabelProgram LabelProgram = nullptr;
  const char* label = nullptr;
};

// Returns the address of a function such as "clGetPlatformIDs", or nullptr.
using Resolve = std::function<void*(const char* name)>;
// Fills the table by calling `resolve` for the functions of `use` alone. no_opencl names the first
// required function that is missing in `source`, "the OpenCL library".
[[nodiscard]] base::Result<Driver> resolve_driver(const Resolve& resolve,
                                                  TableUse use = TableUse::everything,
                                                  std::string_view source = "the OpenCL library");
// no_opencl names the first function of TableUse::launches that the table lacks.
[[nodiscard]] base::Result<void> require_launches(const Driver& driver);
// The functions of a library that dlopen has returned, as resolve_driver.
[[nodiscard]] base::Result<Driver> driver_of_library(void* library, TableUse use);

// Returns the table for programs that no layer may store or record. KeepNothingOf is null if no
// layer has that function. Asks for the function by clGetExtensionFunctionAddress, although that is
// deprecated: without a layer, ICD loaders answer it themselves for a name that does not end with
// the suffix of a driver. The function for a platform would call the driver, which may lack it.
[[nodiscard]] Driver for_secret_programs(const Driver& driver);
// As for_secret_programs, for programs with a label, which is borrowed.
[[nodiscard]] Driver for_labelled_programs(const Driver& driver, const char* label);

// Opens the ICD loader (libOpenCL.so.1) at run time. The library stays mapped until the process
// exits, because drivers cannot safely be unloaded. no_opencl: the loader cannot be opened, or
// lacks a required function; if it is not installed, the message names its package. Thread-safe.
[[nodiscard]] base::Result<Driver> open_icd_driver();

template <typename T>
struct Releaser {
  cl_int(CL_API_CALL* release)(T) = nullptr;
  Releaser() = default;
  Releaser(cl_int(CL_API_CALL* function)(T)) : release(function) {} // NOLINT: implicit by design
  void operator()(T object) const noexcept { (void)release(object); }
};
// Owns an OpenCL object, and stores its release function.
template <typename T>
using Handle = std::unique_ptr<std::remove_pointer_t<T>, Releaser<T>>;
using Context = Handle<cl_context>;
using Program = Handle<cl_program>;
using Kernel = Handle<cl_kernel>;

// Returns "CL_INVALID_BINARY (-42)"; "unknown error (-9999)" if the specification lacks the code.
[[nodiscard]] std::string cl_error_name(cl_int code);
// Returns opencl_call: "clGetProgramInfo(CL_PROGRAM_BINARIES) failed: CL_OUT_OF_RESOURCES (-5)".
// `query` is empty, or what the function was asked.
[[nodiscard]] tl::unexpected<base::Error> call_failed(std::string_view function,
                                                      std::string_view query, cl_int code);

} // namespace clbin::opencl
