// A program like those of libclbin's users, for tests that inject driver faults. Loads the program
// "numbers" from a bundle, runs both kernels on every device, and prints each step on a line for
// host_run.hpp. Flushes each line before the next step, because it may be killed at any time.
//
//   host_program BUNDLE [--fallback never|always] [--build-options TEXT] [--all-devices]
//                [--sub-device] [--loads N]
//   host_program --build SOURCE …    builds a file with clbin_build instead, without a bundle
//   host_program --plain SOURCE …    builds a file with clBuildProgram, without libclbin
//
// Exit status: 0 if every load returned a program, 1 if one did not, 2 if it cannot start.

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS // clCreateCommandQueue, which every version has
#include <CL/cl.h>
#include <clbin/clbin.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int(CL_API_CALL*)(Handle)>;

enum class Way { load, build, plain };

struct Request {
  Way way = Way::load;
  std::string file; // the bundle, or the source
  clbin_fallback fallback = CLBIN_FALLBACK_IF_NEEDED;
  std::string build_options;
  bool all_devices = false;
  bool sub_device = false;
  int loads = 1;
};

void tell(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

[[noreturn]] void give_up(const std::string& reason) {
  std::fputs(fmt::format("host_program: {}\n", reason).c_str(), stderr);
  std::exit(2);
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Request parse(int count, char** words) {
  Request request;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const auto value = [&] {
      if (++i >= count) {
        give_up(fmt::format("'{}' needs a value", word));
      }
      return std::string(words[i]);
    };
    if (word == "--fallback") {
      request.fallback = value() == "never" ? CLBIN_FALLBACK_NEVER : CLBIN_FALLBACK_ALWAYS;
    } else if (word == "--build-options") {
      request.build_options = value();
    } else if (word == "--all-devices") {
      request.all_devices = true;
    } else if (word == "--sub-device") {
      request.sub_device = true;
    } else if (word == "--loads") {
      const std::string number = value();
      std::from_chars(number.data(), number.data() + number.size(), request.loads);
    } else if (word == "--build" || word == "--plain") {
      request.way = word == "--build" ? Way::build : Way::plain;
      request.file = value();
    } else {
      request.file = word;
    }
  }
  return request;
}

// Returns the devices of the first platform that has any.
std::vector<cl_device_id> find_devices() {
  std::array<cl_platform_id, 16> platforms{};
  cl_uint platform_count = 0;
  clGetPlatformIDs(platforms.size(), platforms.data(), &platform_count);
  for (cl_uint i = 0; i < std::min<cl_uint>(platform_count, platforms.size()); ++i) {
    std::array<cl_device_id, 16> devices{};
    cl_uint count = 0;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, devices.size(), devices.data(), &count) ==
            CL_SUCCESS &&
        count > 0) {
      return {devices.begin(), devices.begin() + std::min<cl_uint>(count, devices.size())};
    }
  }
  give_up("there is no OpenCL device");
}

cl_device_id part_of(cl_device_id device) {
  const std::array<cl_device_partition_property, 4> one_unit{
      CL_DEVICE_PARTITION_BY_COUNTS, 1, CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  cl_device_id part = nullptr;
  cl_uint count = 0;
  if (clCreateSubDevices(device, one_unit.data(), 1, &part, &count) != CL_SUCCESS) {
    give_up("the device cannot be divided");
  }
  return part;
}

// Returns the number 21 after the kernel changed it, or the call that failed.
std::string run_kernel(cl_context context, cl_device_id device, cl_program program,
                       const char* name) {
  cl_int number = 21;
  cl_int code = CL_SUCCESS;
  const Owned<cl_command_queue> queue(clCreateCommandQueue(context, device, 0, &code),
                                      clReleaseCommandQueue);
  const Owned<cl_mem> buffer(
      clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof number, &number, &code),
      clReleaseMemObject);
  const Owned<cl_kernel> kernel(clCreateKernel(program, name, &code), clReleaseKernel);
  if (kernel == nullptr) {
    return fmt::format("clCreateKernel={}", code);
  }
  cl_mem handle = buffer.get();
  clSetKernelArg(kernel.get(), 0, sizeof handle, static_cast<const void*>(&handle));
  const std::size_t one = 1;
  code = clEnqueueNDRangeKernel(queue.get(), kernel.get(), 1, nullptr, &one, &one, 0, nullptr,
                                nullptr);
  if (code != CL_SUCCESS) {
    return fmt::format("clEnqueueNDRangeKernel={}", code);
  }
  code = clEnqueueReadBuffer(queue.get(), buffer.get(), CL_TRUE, 0, sizeof number, &number, 0,
                             nullptr, nullptr);
  return code == CL_SUCCESS ? std::to_string(number) : fmt::format("clEnqueueReadBuffer={}", code);
}

clbin_report_info info_of(const clbin_report* report) {
  clbin_report_info info{};
  info.struct_size = sizeof info;
  clbin_report_get(report, &info);
  return info;
}

void tell_report(const clbin_report* report) {
  for (std::size_t i = 0; i < info_of(report).attempt_count; ++i) {
    clbin_attempt attempt{};
    attempt.struct_size = sizeof attempt;
    clbin_report_attempt(report, i, &attempt);
    tell(fmt::format("attempt {}|{}|{}|{}|{}|{}|{}", static_cast<int>(attempt.decision),
                     static_cast<int>(attempt.origin), attempt.rule, attempt.stage, attempt.cl_code,
                     attempt.target, one_line(attempt.reason)));
  }
  std::string_view text = clbin_report_text(report);
  constexpr std::string_view k_warning = "  warning: ";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(k_warning)) {
      tell("warning " + std::string(line.substr(k_warning.size())));
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

struct FreeError {
  void operator()(clbin_error* error) const noexcept { clbin_error_free(error); }
};
struct FreeReport {
  void operator()(clbin_report* report) const noexcept { clbin_report_free(report); }
};
struct CloseBundle {
  void operator()(clbin_bundle* bundle) const noexcept { clbin_close(bundle); }
};

struct Place {
  cl_context context;
  std::vector<cl_device_id> devices;
};

struct FreeBuilder {
  void operator()(clbin_builder* builder) const noexcept { clbin_builder_free(builder); }
};

void run_kernels(const Place& place, cl_program program) {
  for (cl_device_id device : place.devices) {
    const auto run = [&](const char* kernel) {
      return run_kernel(place.context, device, program, kernel);
    };
    tell(fmt::format("computed {} {}", run("twice"), run("thrice")));
  }
}

// A clbin_load or clbin_build, with its last arguments.
using Load = std::function<clbin_status(const clbin_load_options*, cl_program*, clbin_report**,
                                        clbin_error**)>;

// Returns whether the load returned a program.
bool load_and_run(const Load& load, const Place& place, const Request& request) {
  clbin_load_options options{};
  options.struct_size = sizeof options;
  options.fallback = request.fallback;
  options.build_options = request.build_options.c_str();
  cl_program loaded = nullptr;
  clbin_report* made_report = nullptr;
  clbin_error* made_error = nullptr;
  const clbin_status status = load(&options, &loaded, &made_report, &made_error);
  const std::unique_ptr<clbin_report, FreeReport> report(made_report);
  const std::unique_ptr<clbin_error, FreeError> error(made_error);
  const Owned<cl_program> program(loaded, clReleaseProgram);
  tell_report(report.get());
  if (status != CLBIN_SUCCESS) {
    tell(fmt::format("error {} {}", clbin_status_name(status),
                     one_line(clbin_error_message(error.get()))));
    return false;
  }
  tell(fmt::format("loaded {}", static_cast<int>(info_of(report.get()).origin)));
  run_kernels(place, program.get());
  return true;
}

// As an application that does not know of libclbin. Returns whether the build succeeded.
bool build_and_run(const std::string& text, const Place& place, const Request& request) {
  const char* string = text.c_str();
  cl_int code = CL_SUCCESS;
  const Owned<cl_program> program(
      clCreateProgramWithSource(place.context, 1, &string, nullptr, &code), clReleaseProgram);
  if (program != nullptr) {
    code = clBuildProgram(program.get(), static_cast<cl_uint>(place.devices.size()),
                          place.devices.data(), request.build_options.c_str(), nullptr, nullptr);
  }
  if (code != CL_SUCCESS) {
    tell(fmt::format("error {} clBuildProgram", code));
    return false;
  }
  run_kernels(place, program.get());
  return true;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    give_up(fmt::format("cannot open '{}'", path));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

// Calls `once` as often as the request asks. Returns whether each call succeeded.
bool repeat(const Request& request, const std::function<bool()>& once) {
  bool is_good = true;
  for (int i = 0; i < request.loads; ++i) {
    tell("load");
    is_good = once() && is_good;
  }
  return is_good;
}

bool run_bundle(const Place& place, const Request& request) {
  clbin_bundle* opened = nullptr;
  clbin_error* made_error = nullptr;
  const clbin_status status = clbin_open(request.file.c_str(), nullptr, &opened, &made_error);
  const std::unique_ptr<clbin_bundle, CloseBundle> bundle(opened);
  const std::unique_ptr<clbin_error, FreeError> error(made_error);
  if (status != CLBIN_SUCCESS) {
    give_up(clbin_error_message(error.get()));
  }
  const Load load = [&](const clbin_load_options* options, cl_program* program,
                        clbin_report** report, clbin_error** load_error) {
    return clbin_load(bundle.get(), place.context, place.devices.data(), place.devices.size(),
                      "numbers", options, program, report, load_error);
  };
  return repeat(request, [&] { return load_and_run(load, place, request); });
}

bool run_source(const Place& place, const Request& request) {
  const std::string text = text_of(request.file);
  if (request.way == Way::plain) {
    return repeat(request, [&] { return build_and_run(text, place, request); });
  }
  clbin_builder* created = nullptr;
  if (clbin_builder_create(nullptr, &created, nullptr) != CLBIN_SUCCESS) {
    give_up("clbin_builder_create failed");
  }
  const std::unique_ptr<clbin_builder, FreeBuilder> builder(created);
  const char* string = text.c_str();
  clbin_source source{};
  source.struct_size = sizeof source;
  source.strings = &string;
  source.string_count = 1;
  const Load load = [&](const clbin_load_options* options, cl_program* program,
                        clbin_report** report, clbin_error** load_error) {
    return clbin_build(builder.get(), place.context, place.devices.data(), place.devices.size(),
                       &source, options, program, report, load_error);
  };
  return repeat(request, [&] { return load_and_run(load, place, request); });
}

} // namespace

int main(int count, char** words) {
  const Request request = parse(count, words);
  std::vector<cl_device_id> devices = find_devices();
  if (!request.all_devices) {
    devices.resize(1);
  }
  if (request.sub_device) {
    devices[0] = part_of(devices[0]);
  }
  cl_int code = CL_SUCCESS;
  const Owned<cl_context> context(clCreateContext(nullptr, static_cast<cl_uint>(devices.size()),
                                                  devices.data(), nullptr, nullptr, &code),
                                  clReleaseContext);
  if (context == nullptr) {
    give_up(fmt::format("clCreateContext failed with {}", code));
  }
  const Place place{context.get(), devices};
  const bool is_good =
      request.way == Way::load ? run_bundle(place, request) : run_source(place, request);
  return is_good ? 0 : 1;
}
