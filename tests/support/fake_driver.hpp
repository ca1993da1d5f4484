// A driver that does what a test tells it to, and remembers every call: for what real drivers do
// rarely, or only when they lie (doc/drivers.md, "Read in sources").
#pragma once

#include "format/identity/device_identity.hpp"
#include "opencl/driver.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace clbin::test {

// How clCreateProgramWithBinary and clBuildProgram answer for one binary.
enum class BinaryAnswer {
  accept,
  refuse,                        // PoCL: error code, no program, bad status
  refuse_with_program,           // clvk, AMD: error code, but a program to be released
  refuse_with_status_success,    // NEO: error code, but the status says success
  refuse_by_status_only,         // success and a program, but the status is bad
  refuse_without_error,          // success and status success, but no program
  refuse_at_build,               // AMD, NVIDIA: clBuildProgram is where it shows
  lose_kernels,                  // all succeed, but CL_PROGRAM_KERNEL_NAMES is empty
  hide_kernel_names,             // accepted; CL_PROGRAM_KERNEL_NAMES fails
  hide_kernel_names_and_kernels, // likewise, and no kernel can be created
  kill_process                   // at create
};

struct BinaryScript {
  BinaryAnswer answer = BinaryAnswer::accept;
  std::vector<std::string> kernels; // what the program then holds
  std::string log;
  cl_int build_code = CL_BUILD_PROGRAM_FAILURE; // of refuse_at_build
};

// How clCreateProgramWithBinary answers for more than one device.
enum class TogetherAnswer { accept, refuse_at_create, refuse_at_build, kill_process };

struct SourceScript {
  cl_int code = CL_SUCCESS; // of clBuildProgram or clCompileProgram
  std::vector<std::string> kernels;
  std::string log;
  std::string binary{}; // what CL_PROGRAM_BINARIES then gives
  // What it gives for the second device, the third and so on; `binary` where there are fewer.
  std::vector<std::string> more_binaries{};
};

// One object is one driver; its handles know it, so several may live at once. OpenCL's functions
// and add_context may be called from many threads; what scripts the driver or asks what it did,
// from one, alone.
class FakeDriver {
public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  // A device that answers with `identity`; the architecture "sm_90" through NVIDIA's queries.
  cl_device_id add_device(const format::DeviceIdentity& identity);
  cl_device_id add_sub_device(cl_device_id parent);
  // Released by nobody: lives as long as the driver.
  cl_context add_context(const std::vector<cl_device_id>& devices);

  // clSetProgramSpecializationConstant refuses it.
  static constexpr cl_uint k_unknown_constant = 99;

  // By the binary's bytes, or those of IL. A binary without a script is refused, as foreign bytes
  // are.
  void script_binary(const std::string& binary, BinaryScript script);
  void script_together(TogetherAnswer answer);
  void script_source(SourceScript script);
  // A value that clGetDeviceInfo gives instead, byte for byte, whatever its type.
  void script_device_value(cl_device_id device, cl_device_info name, std::string bytes);
  // An answer of clGetDeviceInfo.
  void script_device_failure(cl_device_id device, cl_device_info name, cl_int code);

  [[nodiscard]] const opencl::Driver& functions() const;
  // For clbin_load_options_set_resolver; `user_data` is the FakeDriver.
  static void* resolve(const char* name, void* user_data);

  // "create_binary ABC", "create_source", "create_il of 52 bytes", "set_constant 3 01", "build
  // -DX=1", "compile", "link", "create_kernel k"; in order.
  [[nodiscard]] const std::vector<std::string>& calls() const;
  // The texts that clCreateProgramWithSource was given, in order; always one a call.
  [[nodiscard]] const std::vector<std::string>& sources() const;
  void forget_calls();
  // Created and not yet released.
  [[nodiscard]] int live_programs() const;
  [[nodiscard]] int live_kernels() const;

  struct State;

private:
  std::unique_ptr<State> m_state;
};

} // namespace clbin::test
