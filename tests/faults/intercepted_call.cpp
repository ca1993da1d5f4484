#include "faults/intercepted_call.hpp"

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>

namespace clbin::faults {

namespace {

std::string platform_name(cl_platform_id platform) {
  return text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return next().clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, size_ret);
  });
}

Subject::DeviceName names_of(cl_device_id device) {
  cl_platform_id platform = nullptr;
  (void)next().clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform,
                               static_cast<void*>(&platform), nullptr);
  return {platform_name(platform), text_of([&](std::size_t size, void* value, std::size_t* ret) {
            return next().clGetDeviceInfo(device, CL_DEVICE_NAME, size, value, ret);
          })};
}

std::string describe(Call call, const Subject& subject) {
  std::string text(to_string(call));
  if (subject.origin != ProgramOrigin::unknown) {
    text += fmt::format(" origin={}", to_string(subject.origin));
  }
  for (const auto& names : subject.devices) {
    text += fmt::format(" device='{} / {}'", names.platform, names.device);
  }
  return text;
}

// Resets handlers of sanitizers and drivers, which could turn a crash into an exit.
[[noreturn]] void crash(int signal_number) {
  (void)std::signal(signal_number, SIG_DFL);
  const rlimit no_core{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &no_core);
  (void)std::raise(signal_number);
  ::_exit(125); // reached if the signal is blocked; no test expects this status
}

[[noreturn]] void hang() {
  while (true) {
    ::pause();
  }
}

// Acts like a Rust panic that leaves a driver, such as rusticl: unwinds the frames of the caller,
// whose destructors run, and ends the process where it is caught.
[[noreturn]] void panic() {
  static _Unwind_Exception exception{};
  constexpr _Unwind_Exception_Class k_not_of_cpp = 0x434c42494e464c54;
  exception.exception_class = k_not_of_cpp;
  exception.exception_cleanup = [](_Unwind_Reason_Code, _Unwind_Exception*) { std::abort(); };
  (void)_Unwind_RaiseException(&exception);
  std::abort(); // nothing catches it
}

void allocate(std::uint64_t bytes) {
  auto* const memory = static_cast<volatile char*>(std::malloc(bytes));
  constexpr std::uint64_t k_page_bytes = 4096;
  for (std::uint64_t i = 0; memory != nullptr && i < bytes; i += k_page_bytes) {
    memory[i] = 1;
  }
}

// Injects the faults that let the call continue.
void disturb(Call call, const Subject& subject) {
  if (const auto rule = layer().state.match(Fault::allocate, call, subject)) {
    log_call(call, subject, to_string(rule->fault), 0);
    allocate(*rule->bytes);
  }
  if (const auto rule = layer().state.match(Fault::scribble, call, subject)) {
    log_call(call, subject, to_string(rule->fault), 0);
    [[maybe_unused]] const auto written =
        ::write(rule->file, rule->written.data(), rule->written.size());
  }
}

} // namespace

Layer& layer() {
  static Layer* const instance = new Layer;
  return *instance;
}

const cl_icd_dispatch& next() {
  return *layer().next;
}

Subject subject_of(const std::vector<cl_device_id>& devices, ProgramOrigin origin) {
  Subject subject{{}, origin};
  for (cl_device_id device : devices) {
    subject.devices.push_back(names_of(device));
  }
  return subject;
}

Subject subject_of_platform(cl_platform_id platform) {
  return {{{platform_name(platform), {}}}, ProgramOrigin::unknown};
}

Subject subject_of_context(cl_context context, ProgramOrigin origin) {
  return subject_of(
      list_of<cl_device_id>([&](std::size_t size, void* value, std::size_t* size_ret) {
        return next().clGetContextInfo(context, CL_CONTEXT_DEVICES, size, value, size_ret);
      }),
      origin);
}

Subject subject_of_program(cl_program program) {
  return subject_of(
      list_of<cl_device_id>([&](std::size_t size, void* value, std::size_t* size_ret) {
        return next().clGetProgramInfo(program, CL_PROGRAM_DEVICES, size, value, size_ret);
      }),
      layer().state.origin_of(program));
}

Subject subject_of_build(cl_program program, cl_uint count, const cl_device_id* devices) {
  if (count == 0 || devices == nullptr) {
    return subject_of_program(program);
  }
  return subject_of({devices, devices + count}, layer().state.origin_of(program));
}

void log_call(Call call, const Subject& subject, std::string_view outcome, cl_int code) {
  layer().log.write(fmt::format("{} -> {} code={}", describe(call, subject), outcome, code));
}

std::optional<Rule> before(Call call, const Subject& subject) {
  disturb(call, subject);
  if (const auto rule = layer().state.match(Fault::crash, call, subject)) {
    log_call(call, subject, to_string(rule->fault), rule->signal_number);
    crash(rule->signal_number);
  }
  if (const auto rule = layer().state.match(Fault::panic, call, subject)) {
    log_call(call, subject, to_string(rule->fault), 0);
    panic();
  }
  if (const auto rule = layer().state.match(Fault::hang, call, subject)) {
    log_call(call, subject, to_string(rule->fault), 0);
    hang();
  }
  auto rule = layer().state.match(Fault::fail, call, subject);
  if (rule.has_value()) {
    log_call(call, subject, to_string(rule->fault), *rule->code);
  }
  return rule;
}

void set_code(cl_int* place, cl_int code) {
  if (place != nullptr) {
    *place = code;
  }
}

cl_int give_bytes(const void* bytes, std::size_t size, std::size_t value_size, void* value,
                  std::size_t* size_ret) {
  if (value != nullptr) {
    if (value_size < size) {
      return CL_INVALID_VALUE;
    }
    std::memcpy(value, bytes, size);
  }
  if (size_ret != nullptr) {
    *size_ret = size;
  }
  return CL_SUCCESS;
}

cl_int give_text(const std::string& text, std::size_t value_size, void* value,
                 std::size_t* size_ret) {
  return give_bytes(text.c_str(), text.size() + 1, value_size, value, size_ret);
}

bool is_reversed(Call call, const Subject& subject) {
  return layer().state.match(Fault::reverse, call, subject).has_value();
}

} // namespace clbin::faults
