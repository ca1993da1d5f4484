// A driver that behaves as a test scripts it, and remembers every call. Tests use it for behaviour
// that is rare in real drivers, or incorrect (doc/drivers.md, "Read in sources").
#pragma once

#include "model/device.hpp"
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
  refuse_with_program,           // clvk, AMD: error code, but also a program that must be released
  refuse_with_status_success,    // NEO: error code, but the status says success
  refuse_by_status_only,         // success and a program, but the status is bad
  refuse_without_error,          // success and status success, but no program
  refuse_at_build,               // AMD, NVIDIA: clBuildProgram reports the error
  lose_kernels,                  // all succeed, but CL_PROGRAM_KERNEL_NAMES is empty
  hide_kernel_names,             // accepted; CL_PROGRAM_KERNEL_NAMES fails
  hide_kernel_names_and_kernels, // likewise, and no kernel can be created
  refuse_at_kernel,              // Mali: all succeed, but no kernel can be created
  kill_process                   // on creation
};

struct BinaryScript {
  BinaryAnswer answer = BinaryAnswer::accept;
  std::vector<std::string> kernels; // the kernels of the program
  std::string log;
  cl_int build_code = CL_BUILD_PROGRAM_FAILURE; // for refuse_at_build
};

// How clCreateProgramWithBinary answers for more than one device.
enum class TogetherAnswer { accept, refuse_at_create, refuse_at_build, kill_process };

struct SourceScript {
  cl_int code = CL_SUCCESS; // of clBuildProgram or clCompileProgram
  std::vector<std::string> kernels;
  std::string log;
  std::string binary{}; // the answer to CL_PROGRAM_BINARIES
  // The answers for the second device, the third and so on; `binary` for further devices.
  std::vector<std::string> more_binaries{};
};

// One object is one driver. Its handles refer to it, so several drivers may exist at once.
// OpenCL's functions and add_context are thread-safe. All other functions, which script the driver
// or return its records, must be called from one thread only.
class FakeDriver {
public:
  FakeDriver();
  ~FakeDriver();
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  // Adds a device that answers with `identity`, and with the architecture "sm_90" to NVIDIA's
  // queries.
  cl_device_id add_device(const format::DeviceIdentity& identity);
  cl_device_id add_sub_device(cl_device_id parent);
  // Not released by the caller: exists as long as the driver.
  cl_context add_context(const std::vector<cl_device_id>& devices);

  // clSetProgramSpecializationConstant rejects this constant.
  static constexpr cl_uint k_unknown_constant = 99;

  // Scripts a binary or IL with these bytes. A binary without a script is rejected, like foreign
  // bytes.
  void script_binary(const std::string& binary, BinaryScript script);
  void script_together(TogetherAnswer answer);
  void script_source(SourceScript script);
  // Makes clGetDeviceInfo return these bytes instead, whatever the type of the value.
  void script_device_value(cl_device_id device, cl_device_info name, std::string bytes);
  // Makes clGetDeviceInfo return this code.
  void script_device_failure(cl_device_id device, cl_device_info name, cl_int code);

  [[nodiscard]] const opencl::Driver& functions() const;
  // For clbin_load_options; `resolve_user_data` is the FakeDriver.
  static void* resolve(const char* name, void* user_data);

  // Returns the calls in order: "create_binary ABC", "create_source", "create_il of 52 bytes",
  // "set_constant 3 01", "build -DX=1", "compile", "link", "create_kernel k", "launch k" (which
  // changes no buffer).
  [[nodiscard]] const std::vector<std::string>& calls() const;
  // Returns the texts that clCreateProgramWithSource received, in order, one per call.
  [[nodiscard]] const std::vector<std::string>& sources() const;
  void forget_calls();
  // Objects that were created and not yet released.
  [[nodiscard]] int live_programs() const;
  [[nodiscard]] int live_kernels() const;
  [[nodiscard]] int live_launch_objects() const; // queues, buffers and events

  struct State;

private:
  std::unique_ptr<State> m_state;
};

} // namespace clbin::test
