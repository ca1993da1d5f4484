// Makes every call of OpenCL that takes or returns a program, and prints what it answers. Started
// with and without the layer; the lines must be equal.
//
//   api_probe PLATFORM FOLDER [SCENARIO…]
//
// PLATFORM is a part of the platform's name. FOLDER contains answer.h, and store.spv if there is IL
// to be tried. The last line is "end".

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS // clCreateCommandQueue and clCreateSampler, for 1.2
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS // clSetProgramReleaseCallback
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char* k_source = "kernel void add(global int* a, const int by, constant int* c) {\n"
                                 "  a[get_global_id(0)] += by + c[0] + STEP;\n"
                                 "}\n"
                                 "__attribute__((reqd_work_group_size(4, 1, 1)))\n"
                                 "kernel void twice(global int* restrict a, local int* scratch) {\n"
                                 "  scratch[get_local_id(0)] = a[get_global_id(0)];\n"
                                 "  a[get_global_id(0)] = 2 * scratch[get_local_id(0)];\n"
                                 "}\n";

struct Probe {
  cl_platform_id platform = nullptr;
  std::string platform_name;
  std::vector<cl_device_id> devices;
  cl_context context = nullptr;
  std::string folder;
};

bool is_nvidia(const Probe& probe) {
  return probe.platform_name.find("NVIDIA") != std::string::npos;
}

bool is_intel(const Probe& probe) {
  return probe.platform_name.find("Intel") != std::string::npos;
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void say(const std::string& what, long long value) {
  say(what + "=" + std::to_string(value));
}

std::string trimmed(std::string text) {
  text.resize(std::strlen(text.c_str()));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

template <typename Query>
std::string text_of(const Query& query) {
  std::size_t size = 0;
  const cl_int code = query(0, nullptr, &size);
  std::string text(size, '\0');
  if (code != CL_SUCCESS || query(size, text.data(), nullptr) != CL_SUCCESS) {
    return "error " + std::to_string(code);
  }
  return trimmed(text);
}

template <typename T, typename Query>
T value_of(const Query& query) {
  T value{};
  (void)query(sizeof(T), static_cast<void*>(&value), nullptr);
  return value;
}

auto about(cl_program program, cl_program_info name) {
  return [=](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetProgramInfo(program, name, size, value, size_ret);
  };
}
auto about(cl_program program, cl_device_id device, cl_program_build_info name) {
  return [=](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetProgramBuildInfo(program, device, name, size, value, size_ret);
  };
}
auto about(cl_kernel kernel, cl_kernel_info name) {
  return [=](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetKernelInfo(kernel, name, size, value, size_ret);
  };
}
auto about(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name) {
  return [=](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetKernelArgInfo(kernel, index, name, size, value, size_ret);
  };
}

std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

cl_program create(const Probe& probe, const char* source) {
  return clCreateProgramWithSource(probe.context, 1, &source, nullptr, nullptr);
}

cl_uint references(cl_program program) {
  return value_of<cl_uint>(about(program, CL_PROGRAM_REFERENCE_COUNT));
}

// Names of kernels in a defined order.
std::string kernel_names(cl_program program) {
  std::string names = text_of(about(program, CL_PROGRAM_KERNEL_NAMES));
  std::vector<std::string> list;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(';'), names.size());
    list.push_back(names.substr(0, end));
    names.erase(0, std::min(end + 1, names.size()));
  }
  std::sort(list.begin(), list.end());
  // rusticl 22.3 lists the kernels of earlier builds of the program again.
  list.erase(std::unique(list.begin(), list.end()), list.end());
  for (const std::string& name : list) {
    names += name + " ";
  }
  return names;
}

void say_build(const Probe& probe, cl_program program) {
  for (const cl_device_id device : probe.devices) {
    say("  status", value_of<cl_build_status>(about(program, device, CL_PROGRAM_BUILD_STATUS)));
    say("  options=" + text_of(about(program, device, CL_PROGRAM_BUILD_OPTIONS)));
    say("  type", value_of<cl_program_binary_type>(about(program, device, CL_PROGRAM_BINARY_TYPE)));
    const std::string log = text_of(about(program, device, CL_PROGRAM_BUILD_LOG));
    if (!is_nvidia(probe)) { // whose log is empty if the process has built the same before
      say("  log is empty", log.empty() ? 1 : 0);
    }
    say("  log has a warning", log.find("warning") != std::string::npos ? 1 : 0);
    std::size_t bytes = 0;
    say("  variables",
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
                              sizeof bytes, &bytes, nullptr));
  }
  say("  kernels=" + kernel_names(program));
  std::size_t count = 0;
  const cl_int code =
      clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, nullptr);
  if (probe.platform_name != "rusticl") { // as with the names
    say("  kernel count", code == CL_SUCCESS ? static_cast<long long>(count) : code);
  }
  cl_bool flag = 7;
  say("  constructors", clGetProgramInfo(program, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT,
                                         sizeof flag, &flag, nullptr));
  say("  references", references(program));
}

void say_program(const Probe& probe, cl_program program, const char* source) {
  say("  source is kept", text_of(about(program, CL_PROGRAM_SOURCE)) == trimmed(source) ? 1 : 0);
  say("  context is kept",
      value_of<cl_context>(about(program, CL_PROGRAM_CONTEXT)) == probe.context ? 1 : 0);
  say("  devices", value_of<cl_uint>(about(program, CL_PROGRAM_NUM_DEVICES)));
  std::vector<cl_device_id> devices(probe.devices.size());
  (void)clGetProgramInfo(program, CL_PROGRAM_DEVICES, devices.size() * sizeof(cl_device_id),
                         static_cast<void*>(devices.data()), nullptr);
  say("  devices are those of the context", devices == probe.devices ? 1 : 0);
  // Too small a place.
  char place = 0;
  say("  small", clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, 1, &place, nullptr));
  say("  unknown query", clGetProgramInfo(program, 0x7777, sizeof place, &place, nullptr));
}

void say_argument(cl_kernel kernel, cl_uint index) {
  cl_kernel_arg_address_qualifier address = 0;
  cl_kernel_arg_access_qualifier access = 0;
  cl_kernel_arg_type_qualifier type = 0;
  say("    codes " +
      std::to_string(clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                        sizeof address, &address, nullptr)) +
      " " +
      std::to_string(clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ACCESS_QUALIFIER,
                                        sizeof access, &access, nullptr)) +
      " " +
      std::to_string(clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof type,
                                        &type, nullptr)));
  say("    address", address);
  say("    access", access);
  say("    type qualifiers", static_cast<long long>(type));
  say("    type=" + text_of(about(kernel, index, CL_KERNEL_ARG_TYPE_NAME)));
  say("    name=" + text_of(about(kernel, index, CL_KERNEL_ARG_NAME)));
}

void say_kernel(const Probe& probe, cl_program program, cl_kernel kernel) {
  say("  function=" + text_of(about(kernel, CL_KERNEL_FUNCTION_NAME)));
  say("  program is kept",
      value_of<cl_program>(about(kernel, CL_KERNEL_PROGRAM)) == program ? 1 : 0);
  say("  context is kept",
      value_of<cl_context>(about(kernel, CL_KERNEL_CONTEXT)) == probe.context ? 1 : 0);
  say("  references", value_of<cl_uint>(about(kernel, CL_KERNEL_REFERENCE_COUNT)));
  if (probe.platform_name != "Oclgrind") { // which returns freed memory: doc/drivers.md
    say("  attributes=" + text_of(about(kernel, CL_KERNEL_ATTRIBUTES)));
  }
  const auto count = value_of<cl_uint>(about(kernel, CL_KERNEL_NUM_ARGS));
  say("  arguments", count);
  for (cl_uint i = 0; i < count; ++i) {
    say_argument(kernel, i);
  }
  cl_kernel_arg_address_qualifier address = 0; // drivers return different codes
  say("  no such argument", clGetKernelArgInfo(kernel, count, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
                                               sizeof address, &address, nullptr) != CL_SUCCESS);
  for (const cl_device_id device : probe.devices) {
    std::size_t required[3] = {};
    say("  required size",
        clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required,
                                 static_cast<void*>(required), nullptr));
    say("  required", static_cast<long long>(required[0]));
    std::size_t most = 0;
    (void)clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most,
                                   nullptr);
    say("  most", static_cast<long long>(most));
  }
}

// Runs a kernel with an int buffer as its first argument, and prints its elements.
void launch(const Probe& probe, cl_kernel kernel, const std::function<void()>& set_others,
            const std::size_t* local) {
  int data[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueue(probe.context, probe.devices[0], 0, &code);
  cl_mem buffer = clCreateBuffer(probe.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                 sizeof data, static_cast<void*>(data), &code);
  (void)clSetKernelArg(kernel, 0, sizeof(cl_mem), static_cast<const void*>(&buffer));
  set_others();
  const std::size_t global = 8;
  code = clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, local, 0, nullptr, nullptr);
  (void)clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof data, static_cast<void*>(data), 0,
                            nullptr, nullptr);
  std::string numbers;
  for (const int number : data) {
    numbers += " " + std::to_string(number);
  }
  say("  launch " + std::to_string(code) + ":" + numbers);
  (void)clReleaseMemObject(buffer);
  (void)clReleaseCommandQueue(queue);
}

void launch_add(const Probe& probe, cl_kernel kernel) {
  int three = 3;
  cl_int code = CL_SUCCESS;
  cl_mem constant = clCreateBuffer(probe.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                   sizeof three, &three, &code);
  launch(
      probe, kernel,
      [&] {
        const int by = 10;
        (void)clSetKernelArg(kernel, 1, sizeof by, &by);
        (void)clSetKernelArg(kernel, 2, sizeof(cl_mem), static_cast<const void*>(&constant));
      },
      nullptr);
  (void)clReleaseMemObject(constant);
}

void launch_twice(const Probe& probe, cl_kernel kernel) {
  const std::size_t local = 4;
  launch(
      probe, kernel, [&] { (void)clSetKernelArg(kernel, 1, 4 * sizeof(int), nullptr); }, &local);
}

void build_and_ask(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say_program(probe, program, k_source);
  say("  references", references(program));
  cl_int code = CL_SUCCESS;
  say("  kernel before the build is null",
      clCreateKernel(program, "add", &code) == nullptr ? 1 : 0);
  say("  build",
      clBuildProgram(program, 0, nullptr, "-DSTEP=100 -cl-kernel-arg-info", nullptr, nullptr));
  say_program(probe, program, k_source);
  say_build(probe, program);
  cl_kernel none = clCreateKernel(program, "missing", &code);
  say("  missing kernel", code);
  say("  missing kernel is null", none == nullptr ? 1 : 0);
  for (const char* name : {"add", "twice"}) {
    cl_kernel kernel = clCreateKernel(program, name, &code);
    say(std::string("  create ") + name, code);
    say_kernel(probe, program, kernel);
    if (std::strcmp(name, "add") == 0) { // before a launch: rusticl's queues release kernels later
      say("  references with a kernel", references(program));
    }
    std::strcmp(name, "add") == 0 ? launch_add(probe, kernel) : launch_twice(probe, kernel);
    (void)clReleaseKernel(kernel);
  }
  say("  release", clReleaseProgram(program));
}

void several_strings(const Probe& probe) {
  const char* strings[] = {"kernel void store(global int* a) XXX", "{ a[0] = STEP;", " }\n"};
  const std::size_t lengths[] = {33, 0, 0}; // without XXX
  cl_program program = clCreateProgramWithSource(probe.context, 3, strings, lengths, nullptr);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=7", nullptr, nullptr));
  say("  source=" + text_of(about(program, CL_PROGRAM_SOURCE)));
  say_build(probe, program);
  (void)clReleaseProgram(program);
}

// Lengths that count the zero byte at the end of the source, as x264's do.
void counted_zeros(const Probe& probe) {
  const char* strings[] = {"kernel void store(global int* a) {",
                           " a[get_global_id(0)] = STEP; }\n"};
  const std::string whole = std::string(strings[0]) + strings[1];
  const char* text = whole.c_str();
  const std::size_t length = whole.size() + 1;
  const std::size_t lengths[] = {0, std::strlen(strings[1]) + 1};
  cl_program programs[] = {clCreateProgramWithSource(probe.context, 1, &text, &length, nullptr),
                           clCreateProgramWithSource(probe.context, 2, strings, lengths, nullptr)};
  int step = 17;
  for (cl_program program : programs) {
    const std::string options = "-DSTEP=" + std::to_string(step++);
    say("  build", clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr));
    say("  source=" + text_of(about(program, CL_PROGRAM_SOURCE)));
    say_build(probe, program);
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, "store", &code);
    say("  create", code);
    launch(
        probe, kernel, [] {}, nullptr);
    (void)clReleaseKernel(kernel);
    (void)clReleaseProgram(program);
  }
}

void headers_in_folders(const Probe& probe) {
  cl_program program = create(probe, "#include \"answer.h\"\nkernel void store(global int* a) { "
                                     "a[get_global_id(0)] = ANSWER; }\n");
  const std::string options = "-I " + probe.folder + " -DSTEP=1";
  say("  build", clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "store", &code);
  say("  create", code);
  launch(
      probe, kernel, [] {}, nullptr);
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
}

void counts(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=2", nullptr, nullptr));
  say("  retain", clRetainProgram(program));
  say("  references", references(program));
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  say("  references", references(program));
  say("  retain kernel", clRetainKernel(kernel));
  say("  kernel references", value_of<cl_uint>(about(kernel, CL_KERNEL_REFERENCE_COUNT)));
  say("  release", clReleaseProgram(program));
  say("  release kernel", clReleaseKernel(kernel));
  say("  references", references(program));
  say("  release", clReleaseProgram(program));
  // The kernel outlives the program's references.
  say("  program is kept",
      value_of<cl_program>(about(kernel, CL_KERNEL_PROGRAM)) == program ? 1 : 0);
  if (!is_intel(probe)) { // whose program is gone already
    say("  kernels=" + kernel_names(program));
  }
  launch_add(probe, kernel);
  say("  release kernel", clReleaseKernel(kernel));
}

void all_kernels(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=5", nullptr, nullptr));
  cl_uint count = 0;
  say("  count code", clCreateKernelsInProgram(program, 0, nullptr, &count));
  say("  count", count);
  std::vector<cl_kernel> kernels(count);
  say("  create", clCreateKernelsInProgram(program, count, kernels.data(), nullptr));
  (void)clReleaseProgram(program);
  std::sort(kernels.begin(), kernels.end(), [](cl_kernel a, cl_kernel b) {
    return text_of(about(a, CL_KERNEL_FUNCTION_NAME)) < text_of(about(b, CL_KERNEL_FUNCTION_NAME));
  });
  for (cl_kernel kernel : kernels) {
    say_kernel(probe, program, kernel);
  }
  for (cl_kernel kernel : kernels) {
    say("  release", clReleaseKernel(kernel));
  }
}

struct Version {
  int major = 0;
  int minor = 0;
};

Version version_of(const Probe& probe) {
  const std::string text = text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetPlatformInfo(probe.platform, CL_PLATFORM_VERSION, size, value, size_ret);
  });
  Version version;
  (void)std::sscanf(text.c_str(), "OpenCL %d.%d", &version.major, &version.minor);
  return version;
}

bool is_at_least(const Probe& probe, int major, int minor) {
  const Version version = version_of(probe);
  return version.major > major || (version.major == major && version.minor >= minor);
}

// Whether the platform implements a function: some drivers crash or lack it.
bool clones_kernels(const Probe& probe) {
  return is_at_least(probe, 2, 1) && probe.platform_name.find("Portable") == std::string::npos;
}

void cloned_kernel(const Probe& probe) {
  if (!clones_kernels(probe)) {
    return;
  }
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=6", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  cl_kernel clone = clCloneKernel(kernel, &code);
  say("  clone", code);
  if (clone != nullptr) {
    say("  release kernel", clReleaseKernel(kernel));
    say("  release", clReleaseProgram(program));
    say_kernel(probe, program, clone);
    launch_add(probe, clone);
    say("  release clone", clReleaseKernel(clone));
    return;
  }
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
}

struct Called {
  std::atomic<int> times{0};
  std::atomic<cl_program> program{nullptr};
};

void CL_CALLBACK note_call(cl_program program, void* data) {
  auto* const called = static_cast<Called*>(data);
  called->program = program;
  ++called->times;
}

void wait_for(const Called& called) {
  for (int i = 0; i < 500 && called.times == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void callbacks(const Probe& probe) {
  cl_program program = create(probe, k_source);
  Called called;
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=8", note_call, &called));
  wait_for(called);
  say("  called", called.times.load());
  say("  program is kept", called.program.load() == program ? 1 : 0);
  say_build(probe, program);
  say("  data without callback", clBuildProgram(program, 0, nullptr, "-DSTEP=8", nullptr, &called));
  (void)clReleaseProgram(program);
}

void failing_build(const Probe& probe) {
  cl_program program = create(probe, "kernel void broken(global int* a) { a[0] = missing; }\n");
  say("  build", clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  say_build(probe, program);
  cl_int code = CL_SUCCESS;
  say("  kernel is null", clCreateKernel(program, "broken", &code) == nullptr ? 1 : 0);
  say("  code", code);
  (void)clReleaseProgram(program);
}

void wrong_arguments(const Probe& probe) {
  cl_program program = create(probe, k_source);
  cl_device_id none = nullptr;
  say("  count without devices", clBuildProgram(program, 1, nullptr, "-DSTEP=3", nullptr, nullptr));
  say("  devices without count",
      clBuildProgram(program, 0, probe.devices.data(), "-DSTEP=3", nullptr, nullptr));
  if (is_intel(probe)) { // the others crash
    say("  null device", clBuildProgram(program, 1, &none, "-DSTEP=3", nullptr, nullptr));
  }
  (void)clReleaseProgram(program);
}

void one_of_the_devices(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 1, &probe.devices.back(), "-DSTEP=9", nullptr, nullptr));
  say_build(probe, program);
  std::vector<std::size_t> sizes(probe.devices.size());
  say("  sizes", clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES,
                                  sizes.size() * sizeof(std::size_t), sizes.data(), nullptr));
  for (const std::size_t size : sizes) {
    say("  has a binary", size != 0 ? 1 : 0);
  }
  (void)clReleaseProgram(program);
}

// A build whose arguments are rejected leaves the program as it was.
void rejected_build_after_a_build(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=24", nullptr, nullptr));
  const cl_device_id twice[] = {probe.devices[0], probe.devices[0]};
  int data = 0;
  say("  a device twice", clBuildProgram(program, 2, static_cast<const cl_device_id*>(twice),
                                         "-DSTEP=25", nullptr, nullptr));
  say("  count without devices",
      clBuildProgram(program, 1, nullptr, "-DSTEP=25", nullptr, nullptr));
  say("  devices without count",
      clBuildProgram(program, 0, probe.devices.data(), "-DSTEP=25", nullptr, nullptr));
  say("  data without callback", clBuildProgram(program, 0, nullptr, "-DSTEP=25", nullptr, &data));
  say_build(probe, program);
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  say("  create", code);
  launch_add(probe, kernel);
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
}

// The devices of the platform, or parts of its only device. Not of rusticl 22.3, which crashes when
// parts are created (doc/drivers.md).
std::vector<cl_device_id> several_devices(const Probe& probe) {
  if (probe.devices.size() > 1 || probe.platform_name == "rusticl") {
    return probe.devices;
  }
  const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_uint count = 0;
  if (clCreateSubDevices(probe.devices[0],
                         static_cast<const cl_device_partition_property*>(equally), 0, nullptr,
                         &count) != CL_SUCCESS) {
    return probe.devices;
  }
  std::vector<cl_device_id> parts(count);
  (void)clCreateSubDevices(probe.devices[0],
                           static_cast<const cl_device_partition_property*>(equally), count,
                           parts.data(), nullptr);
  parts.resize(std::min<std::size_t>(count, 2));
  return parts;
}

// Builds a program for one device, then for another one.
void build_one_after_another(const Probe& probe, const std::vector<std::string>& options) {
  Probe both = probe;
  both.devices = several_devices(probe);
  if (both.devices.size() < 2) {
    return;
  }
  cl_int code = CL_SUCCESS;
  both.context = clCreateContext(nullptr, static_cast<cl_uint>(both.devices.size()),
                                 both.devices.data(), nullptr, nullptr, &code);
  cl_program program = create(both, k_source);
  for (std::size_t i = 0; i < options.size(); ++i) {
    say("  build",
        clBuildProgram(program, 1, &both.devices[i], options[i].c_str(), nullptr, nullptr));
    say_build(both, program);
  }
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  say("  create", code);
  for (const cl_device_id device : both.devices) {
    Probe one = both;
    one.devices = {device};
    launch_add(one, kernel);
  }
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
  (void)clReleaseContext(both.context);
}

void one_device_after_another(const Probe& probe) {
  build_one_after_another(probe, {"-DSTEP=21", "-DSTEP=21"});
}

void other_options_for_another_device(const Probe& probe) {
  build_one_after_another(probe, {"-DSTEP=22", "-DSTEP=23"});
}

void built_again(const Probe& probe) {
  cl_program program = create(probe, k_source);
  cl_int code = CL_SUCCESS;
  for (const char* options : {"-DSTEP=20", "-DSTEP=30", "-DSTEP=20"}) {
    say("  build", clBuildProgram(program, 0, nullptr, options, nullptr, nullptr));
    say_build(probe, program);
    if (probe.platform_name != "rusticl") { // its queues release kernels some time later
      cl_kernel kernel = clCreateKernel(program, "add", &code);
      launch_add(probe, kernel);
      (void)clReleaseKernel(kernel);
    }
  }
  say("  failing", clBuildProgram(program, 0, nullptr, "-DSTEP=missing", nullptr, nullptr) != 0);
  if (!is_intel(probe)) { // where no build succeeds any more
    // rusticl returns the options of an earlier build. NVIDIA's driver does not reach the second
    // device, and keeps for it the results of the last build that it did itself.
    if (probe.platform_name != "rusticl" && (!is_nvidia(probe) || probe.devices.size() == 1)) {
      say_build(probe, program);
    }
    say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=20", nullptr, nullptr));
    say_build(probe, program);
  }
  (void)clReleaseProgram(program);
}

void built_again_with_a_kernel(const Probe& probe) {
  if (probe.platform_name == "Oclgrind") {
    return; // its kernels refer to the build that it has freed
  }
  cl_program program = create(probe, k_source);
  cl_int code = CL_SUCCESS;
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=20", nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=30", nullptr, nullptr));
  say_build(probe, program);
  launch_add(probe, kernel);
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
}

void binaries(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=40", nullptr, nullptr));
  std::vector<std::size_t> sizes(probe.devices.size());
  std::size_t bytes = 0;
  say("  sizes", clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES,
                                  sizes.size() * sizeof(std::size_t), sizes.data(), &bytes));
  say("  bytes", static_cast<long long>(bytes));
  std::vector<std::vector<unsigned char>> texts;
  std::vector<unsigned char*> places;
  for (const std::size_t size : sizes) {
    texts.emplace_back(size);
    say("  has a binary", size != 0 ? 1 : 0);
  }
  for (auto& text : texts) {
    places.push_back(text.data());
  }
  say("  binaries",
      clGetProgramInfo(program, CL_PROGRAM_BINARIES, places.size() * sizeof(unsigned char*),
                       static_cast<void*>(places.data()), nullptr));
  (void)clReleaseProgram(program);
  if (probe.devices.size() != 1) {
    return; // Oclgrind and PoCL refuse several
  }
  const unsigned char* binary = texts[0].data();
  cl_int code = CL_SUCCESS;
  cl_program loaded = clCreateProgramWithBinary(probe.context, 1, probe.devices.data(),
                                                sizes.data(), &binary, nullptr, &code);
  say("  load", code);
  say("  build", clBuildProgram(loaded, 0, nullptr, "", nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(loaded, "add", &code);
  say("  program is kept",
      value_of<cl_program>(about(kernel, CL_KERNEL_PROGRAM)) == loaded ? 1 : 0);
  launch_add(probe, kernel);
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(loaded);
}

void separate_compilation(const Probe& probe) {
  cl_program main = create(probe, "#include \"step.h\"\nint stepped(int x);\n"
                                  "kernel void add(global int* a, const int by, constant int* c) "
                                  "{ a[get_global_id(0)] += by + c[0] + STEP; }\n");
  cl_program header = create(probe, "#define STEP 50\n");
  const char* name = "step.h";
  say("  compile", clCompileProgram(main, 0, nullptr, "", 1, &header, &name, nullptr, nullptr));
  for (const cl_device_id device : probe.devices) {
    say("  status", value_of<cl_build_status>(about(main, device, CL_PROGRAM_BUILD_STATUS)));
    say("  type", value_of<cl_program_binary_type>(about(main, device, CL_PROGRAM_BINARY_TYPE)));
  }
  cl_int code = CL_SUCCESS;
  cl_program linked =
      clLinkProgram(probe.context, 0, nullptr, "", 1, &main, nullptr, nullptr, &code);
  say("  link", code);
  (void)clReleaseProgram(main);
  (void)clReleaseProgram(header);
  if (linked == nullptr) {
    return;
  }
  say_build(probe, linked);
  cl_kernel kernel = clCreateKernel(linked, "add", &code);
  say("  create", code);
  if (kernel != nullptr) {
    say("  program is kept",
        value_of<cl_program>(about(kernel, CL_KERNEL_PROGRAM)) == linked ? 1 : 0);
    launch_add(probe, kernel);
    (void)clReleaseKernel(kernel);
  }
  (void)clReleaseProgram(linked);
}

// A program that was built whole is then compiled.
void compiled_after_a_build(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=60", nullptr, nullptr));
  say("  compile",
      clCompileProgram(program, 0, nullptr, "-DSTEP=61", 0, nullptr, nullptr, nullptr, nullptr));
  for (const cl_device_id device : probe.devices) {
    say("  status", value_of<cl_build_status>(about(program, device, CL_PROGRAM_BUILD_STATUS)));
    say("  type", value_of<cl_program_binary_type>(about(program, device, CL_PROGRAM_BINARY_TYPE)));
    say("  options=" + text_of(about(program, device, CL_PROGRAM_BUILD_OPTIONS)));
  }
  say("  references", references(program));
  (void)clReleaseProgram(program);
}

void release_callback(const Probe& probe) {
  if (!is_at_least(probe, 2, 2)) {
    return;
  }
  cl_program program = create(probe, k_source);
  Called called;
  const cl_int code = clSetProgramReleaseCallback(program, note_call, &called);
  say("  set", code);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=70", nullptr, nullptr));
  cl_int created = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "add", &created);
  say("  called", called.times.load());
  (void)clReleaseProgram(program);
  (void)clReleaseKernel(kernel);
  say("  called in the end", called.times.load());
  say("  program is kept", called.program.load() == program ? 1 : 0);
}

using CreateWithIl = cl_program(CL_API_CALL*)(cl_context, const void*, std::size_t, cl_int*);

void build_il(const Probe& probe, CreateWithIl create_with_il) {
  const std::string il = file_text(probe.folder + "/store.spv");
  const std::string versions = text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetDeviceInfo(probe.devices[0], CL_DEVICE_IL_VERSION, size, value, size_ret);
  });
  if (il.empty() || versions.find("SPIR-V") == std::string::npos) {
    return;
  }
  say("IL " + versions);
  cl_int code = CL_SUCCESS;
  for (const int constant : {0, 90}) {
    cl_program program = create_with_il(probe.context, il.data(), il.size(), &code);
    say("  create", code);
    if (program == nullptr) {
      return;
    }
    if (constant != 0) {
      say("  constant", clSetProgramSpecializationConstant(program, 3, sizeof constant, &constant));
      say("  unknown constant", clSetProgramSpecializationConstant(program, 77, sizeof constant,
                                                                   &constant) != CL_SUCCESS);
    }
    say("  build", clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
    say_build(probe, program);
    std::size_t size = 0;
    say("  IL is kept", clGetProgramInfo(program, CL_PROGRAM_IL, 0, nullptr, &size));
    say("  IL bytes", static_cast<long long>(size));
    cl_kernel kernel = clCreateKernel(program, "store", &code);
    say("  kernel", code);
    if (kernel != nullptr) {
      say_kernel(probe, program, kernel);
      launch(
          probe, kernel, [] {}, nullptr);
      (void)clReleaseKernel(kernel);
    }
    (void)clReleaseProgram(program);
  }
}

void intermediate_language(const Probe& probe) {
  build_il(probe, clCreateProgramWithIL);
}

template <typename Function>
Function function_of(const Probe& probe, const char* name) {
  return reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(probe.platform, name));
}

void intermediate_language_by_name(const Probe& probe) {
  const auto by_platform = function_of<CreateWithIl>(probe, "clCreateProgramWithILKHR");
  say("  by name", by_platform != nullptr ? 1 : 0);
  if (by_platform != nullptr) {
    build_il(probe, by_platform);
  }
}

// Variables and functions of a program, by the extensions of Intel's drivers.
void variables_and_functions(const Probe& probe) {
  const auto variable_pointer =
      function_of<cl_int(CL_API_CALL*)(cl_device_id, cl_program, const char*, std::size_t*,
                                       void**)>(probe, "clGetDeviceGlobalVariablePointerINTEL");
  const auto function_pointer =
      function_of<cl_int(CL_API_CALL*)(cl_device_id, cl_program, const char*, cl_ulong*)>(
          probe, "clGetDeviceFunctionPointerINTEL");
  const auto read = function_of<cl_int(CL_API_CALL*)(
      cl_command_queue, cl_program, const char*, cl_bool, std::size_t, std::size_t, void*, cl_uint,
      const cl_event*, cl_event*)>(probe, "clEnqueueReadGlobalVariableINTEL");
  const auto write = function_of<cl_int(CL_API_CALL*)(
      cl_command_queue, cl_program, const char*, cl_bool, std::size_t, std::size_t, const void*,
      cl_uint, const cl_event*, cl_event*)>(probe, "clEnqueueWriteGlobalVariableINTEL");
  say("  all by name", variable_pointer != nullptr && function_pointer != nullptr &&
                           read != nullptr && write != nullptr);
  if (variable_pointer == nullptr || function_pointer == nullptr || read == nullptr ||
      write == nullptr) {
    return;
  }
  const char* source = "global int counter = 5;\n"
                       "kernel void store(global int* a) { a[get_global_id(0)] = counter; }\n";
  cl_program program = create(probe, source);
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueue(probe.context, probe.devices[0], 0, &code);
  say("  build", clBuildProgram(program, 0, nullptr, "-cl-std=CL2.0", nullptr, nullptr));
  say_build(probe, program);
  std::size_t size = 0;
  void* place = nullptr;
  for (const char* name : {"counter", "missing"}) {
    say("  variable", variable_pointer(probe.devices[0], program, name, &size, &place));
    say("  bytes", static_cast<long long>(size));
    say("  has a place", place != nullptr ? 1 : 0);
  }
  cl_ulong address = 0;
  for (const char* name : {"store", "missing"}) {
    say("  function", function_pointer(probe.devices[0], program, name, &address));
    say("  has an address", address != 0 ? 1 : 0);
  }
  int value = 0;
  say("  read",
      read(queue, program, "counter", CL_TRUE, sizeof value, 0, &value, 0, nullptr, nullptr));
  say("  value", value);
  value = 7;
  say("  write",
      write(queue, program, "counter", CL_TRUE, sizeof value, 0, &value, 0, nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(program, "store", &code);
  launch(
      probe, kernel, [] {}, nullptr);
  (void)clReleaseKernel(kernel);
  (void)clReleaseCommandQueue(queue);
  (void)clReleaseProgram(program);
}

// Launched by clEnqueueTask, and by the functions that the driver gives by name: each takes the
// kernel that the application holds.
void tasks(const Probe& probe) {
  auto* task = function_of<decltype(&clEnqueueTask)>(probe, "clEnqueueTask");
  auto* enqueue = function_of<decltype(&clEnqueueNDRangeKernel)>(probe, "clEnqueueNDRangeKernel");
  say("  by name", (task != nullptr ? 1 : 0) + (enqueue != nullptr ? 2 : 0));
  cl_program program = create(probe, "kernel void store(global int* a) { a[0] += STEP; }\n");
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=81", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "store", &code);
  cl_command_queue queue = clCreateCommandQueue(probe.context, probe.devices[0], 0, &code);
  int stored = 0;
  cl_mem buffer = clCreateBuffer(probe.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                 sizeof stored, static_cast<void*>(&stored), &code);
  (void)clSetKernelArg(kernel, 0, sizeof(cl_mem), static_cast<const void*>(&buffer));
  say("  task", clEnqueueTask(queue, kernel, 0, nullptr, nullptr));
  if (task != nullptr) {
    say("  task by name", task(queue, kernel, 0, nullptr, nullptr));
  }
  if (enqueue != nullptr) {
    const std::size_t one = 1;
    say("  by name", enqueue(queue, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr));
  }
  (void)clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof stored, &stored, 0, nullptr, nullptr);
  say("  stored", stored);
  (void)clReleaseMemObject(buffer);
  (void)clReleaseCommandQueue(queue);
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
}

// A program that was built, and can then be served, is linked.
void linked_after_a_build(const Probe& probe) {
  if (is_nvidia(probe)) {
    return; // the driver aborts: "Invalid bitcode signature"
  }
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=82", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  cl_program linked =
      clLinkProgram(probe.context, 0, nullptr, "", 1, &program, nullptr, nullptr, &code);
  say("  link", code);
  say("  is null", linked == nullptr ? 1 : 0);
  if (linked != nullptr) {
    say("  kernels=" + kernel_names(linked));
    (void)clReleaseProgram(linked);
  }
  say_build(probe, program);
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  say("  create", code);
  launch_add(probe, kernel);
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
}

void functions_by_name(const Probe& probe) {
  using Build = cl_int(CL_API_CALL*)(cl_program, cl_uint, const cl_device_id*, const char*,
                                     void(CL_CALLBACK*)(cl_program, void*), void*);
  using CreateKernel = cl_kernel(CL_API_CALL*)(cl_program, const char*, cl_int*);
  const auto build = reinterpret_cast<Build>(
      clGetExtensionFunctionAddressForPlatform(probe.platform, "clBuildProgram"));
  const auto create_kernel = reinterpret_cast<CreateKernel>(
      clGetExtensionFunctionAddressForPlatform(probe.platform, "clCreateKernel"));
  say("  build by name", build != nullptr ? 1 : 0);
  say("  kernel by name", create_kernel != nullptr ? 1 : 0);
  say("  unknown name is null",
      clGetExtensionFunctionAddressForPlatform(probe.platform, "clNoSuchFunction") == nullptr);
  cl_program program = create(probe, k_source);
  cl_int code = CL_SUCCESS;
  say("  build", build != nullptr
                     ? build(program, 0, nullptr, "-DSTEP=80", nullptr, nullptr)
                     : clBuildProgram(program, 0, nullptr, "-DSTEP=80", nullptr, nullptr));
  cl_kernel kernel = create_kernel != nullptr ? create_kernel(program, "add", &code)
                                              : clCreateKernel(program, "add", &code);
  say("  create", code);
  launch_add(probe, kernel);
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
}

std::string build_in_thread(const Probe& probe, int number) {
  std::string answers;
  cl_program program = create(probe, k_source);
  const std::string options = "-DSTEP=" + std::to_string(1000 + number % 4);
  answers += std::to_string(clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  for (const char* name : {"add", "twice"}) {
    cl_kernel kernel = clCreateKernel(program, name, &code);
    answers += " " + std::to_string(code);
    answers += " " + std::to_string(clRetainKernel(kernel));
    answers +=
        value_of<cl_program>(about(kernel, CL_KERNEL_PROGRAM)) == program ? " kept" : " lost";
    answers += " " + std::to_string(clReleaseKernel(kernel));
    answers += " " + std::to_string(clReleaseKernel(kernel));
  }
  answers += " " + kernel_names(program);
  answers += " " + std::to_string(references(program));
  answers += " " + std::to_string(clReleaseProgram(program));
  return answers;
}

void eight_threads(const Probe& probe) {
  if (probe.platform_name == "Oclgrind") {
    return; // crashes in threads that it did not create
  }
  std::vector<std::string> answers(8);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back(
        [&, i] { answers[static_cast<std::size_t>(i)] = build_in_thread(probe, i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& line : answers) {
    say("  " + line);
  }
}

void write_answer(const Probe& probe, int answer) {
  std::ofstream(probe.folder + "/answer.h") << "#define ANSWER " << answer << "\n";
}

// Only if it is named. A header is changed after the build and before the launch.
void changed_header(const Probe& probe) {
  cl_program program = create(probe, "#include \"answer.h\"\nkernel void store(global int* a) { "
                                     "a[get_global_id(0)] = ANSWER; }\n");
  const std::string options = "-I " + probe.folder;
  say("  build", clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr));
  write_answer(probe, 43);
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "store", &code);
  launch(
      probe, kernel, [] {}, nullptr);
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
  write_answer(probe, 42);
}

struct Shape {
  cl_uint dimensions;
  std::size_t global[3];
  std::size_t offset[3];
};

// Prints the local size that the driver chooses for the shape.
void launch_shape(cl_command_queue queue, cl_kernel kernel, cl_mem buffer, const Shape& shape) {
  const bool has_offset = shape.offset[0] != 0;
  const cl_int code =
      clEnqueueNDRangeKernel(queue, kernel, shape.dimensions, has_offset ? shape.offset : nullptr,
                             shape.global, nullptr, 0, nullptr, nullptr);
  int local[3] = {};
  (void)clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof local, static_cast<void*>(local), 0,
                            nullptr, nullptr);
  const std::string chosen = std::to_string(shape.dimensions) + " " + std::to_string(local[0]) +
                             " " + std::to_string(local[1]) + " " + std::to_string(local[2]);
  say("  chosen " + std::to_string(code) + ": " + chosen);
  const bool is_wide = *std::max_element(shape.global, shape.global + 3) >= 65535;
  say("  launched " + std::to_string(code) + ": " + chosen + (has_offset ? " offset" : "") +
      (is_wide ? " wide" : ""));
}

// Only if it is named, because drivers compile for each size. Local sizes are NULL.
void chosen_sizes(const Probe& probe) {
  cl_program program = create(probe, "kernel void sizes(global int* a) {\n"
                                     "  const size_t x = get_global_id(0) - get_global_offset(0);\n"
                                     "  const size_t y = get_global_id(1) - get_global_offset(1);\n"
                                     "  const size_t z = get_global_id(2) - get_global_offset(2);\n"
                                     "  for (int i = 0; i < 3 && x == 0 && y == 0 && z == 0; ++i)\n"
                                     "    a[i] = get_local_size(i);\n"
                                     "}\n");
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=98", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "sizes", &code);
  cl_command_queue queue = clCreateCommandQueue(probe.context, probe.devices[0], 0, &code);
  cl_mem buffer = clCreateBuffer(probe.context, CL_MEM_READ_WRITE, 3 * sizeof(int), nullptr, &code);
  (void)clSetKernelArg(kernel, 0, sizeof(cl_mem), static_cast<const void*>(&buffer));
  // Small and large, prime, in two and three dimensions, wider than PoCL's small grids, and with an
  // offset.
  constexpr Shape k_shapes[] = {
      {1, {1}, {}},          {1, {7}, {}},         {1, {1009}, {}},       {1, {8191}, {}},
      {1, {4096}, {}},       {1, {100000}, {}},    {2, {640, 360}, {}},   {2, {37, 41}, {}},
      {2, {1, 5000}, {}},    {3, {12, 10, 6}, {}}, {3, {64, 64, 64}, {}}, {1, {2048}, {16}},
      {2, {48, 20}, {3, 5}}, {1, {2048}, {}},      {1, {131072}, {}},
  };
  for (const Shape& shape : k_shapes) {
    launch_shape(queue, kernel, buffer, shape);
  }
  (void)clReleaseMemObject(buffer);
  (void)clReleaseCommandQueue(queue);
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
}

// Only if it is named. More launches than the layer waits for before it stores a program of PoCL.
void many_launches(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=96", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "add", &code);
  for (int i = 0; i < 20; ++i) {
    launch_add(probe, kernel);
  }
  (void)clReleaseKernel(kernel);
  (void)clReleaseProgram(program);
}

// Only if it is named. Applications that never release a program: CLBlast, ViennaCL.
void kept_programs(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=93", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  launch_add(probe, clCreateKernel(program, "add", &code)); // waits
  launch_twice(probe, clCreateKernel(program, "twice", &code));
  launch_twice(probe, clCreateKernel(program, "twice", &code));
  say("  program references", references(program));
}

// Only if it is named. Each thread keeps a program of its own, and one that all build.
void kept_programs_in_threads(const Probe& probe) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&probe, i] {
      for (const int step : {1100 + i, 1200}) {
        cl_program program = create(probe, k_source);
        const std::string options = "-DSTEP=" + std::to_string(step);
        (void)clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr);
        cl_int code = CL_SUCCESS;
        cl_kernel kernel = clCreateKernel(program, "twice", &code);
        cl_command_queue queue = clCreateCommandQueue(probe.context, probe.devices[0], 0, &code);
        cl_mem buffer =
            clCreateBuffer(probe.context, CL_MEM_READ_WRITE, 8 * sizeof(int), nullptr, &code);
        (void)clSetKernelArg(kernel, 0, sizeof(cl_mem), static_cast<const void*>(&buffer));
        (void)clSetKernelArg(kernel, 1, 4 * sizeof(int), nullptr);
        const std::size_t global = 8;
        const std::size_t local = 4;
        (void)clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr,
                                     nullptr);
        (void)clFinish(queue);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// Runs for a while, on one of PoCL's threads.
constexpr const char* k_slow_source =
    "__attribute__((reqd_work_group_size(1, 1, 1))) kernel void slow(global volatile int* a) {\n"
    "  for (int i = 0; i < TIMES; ++i) { a[0] += 1; }\n"
    "}\n"
    "kernel void quick(global int* a) { a[get_global_id(0)] += 1; }\n";

// Returns the queue when the kernel runs, or has ended.
cl_command_queue start(const Probe& probe, cl_kernel kernel) {
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueue(probe.context, probe.devices[0], 0, &code);
  cl_mem buffer = clCreateBuffer(probe.context, CL_MEM_READ_WRITE, sizeof(int), nullptr, &code);
  (void)clSetKernelArg(kernel, 0, sizeof(cl_mem), static_cast<const void*>(&buffer));
  const std::size_t one = 1;
  cl_event event = nullptr;
  say("  start", clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, &event));
  (void)clFlush(queue);
  cl_int status = CL_QUEUED; // of a driver that compiles the kernel now
  while (status > CL_RUNNING) {
    (void)clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  }
  (void)clReleaseEvent(event);
  (void)clReleaseMemObject(buffer);
  return queue;
}

// Only if it is named. Waits for a kernel, and releases a program, while another kernel runs.
void kept_while_running(const Probe& probe) {
  cl_program kept = create(probe, k_slow_source);
  cl_program released = create(probe, k_slow_source);
  say("  build", clBuildProgram(kept, 0, nullptr, "-DTIMES=500000000", nullptr, nullptr));
  say("  build", clBuildProgram(released, 0, nullptr, "-DTIMES=1", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  cl_kernel slow = clCreateKernel(kept, "slow", &code);
  cl_command_queue running = start(probe, slow);
  (void)clFinish(start(probe, clCreateKernel(kept, "quick", &code)));
  cl_kernel quick = clCreateKernel(released, "quick", &code);
  (void)clFinish(start(probe, quick));
  say("  release", clReleaseKernel(quick));
  say("  release", clReleaseProgram(released));
  say("  finish", clFinish(running));
}

// Only if it is named. From then on, the layer cannot see every launch.
void asks_for_command_buffers(const Probe& probe) {
  say("  command buffers", clGetExtensionFunctionAddressForPlatform(
                               probe.platform, "clEnqueueCommandBufferKHR") != nullptr);
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=97", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(program, "twice", &code);
  for (int i = 0; i < 20; ++i) {
    launch_twice(probe, kernel);
  }
  say("  release", clReleaseKernel(kernel));
  say("  release", clReleaseProgram(program));
}

// Only if it is named. Launches one kernel again and again, and waits only at the end.
void repeated_without_waits(const Probe& probe) {
  cl_program program = create(probe, k_slow_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DTIMES=50000000", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  cl_kernel slow = clCreateKernel(program, "slow", &code);
  cl_command_queue queue = start(probe, slow);
  const std::size_t one = 1;
  for (int i = 0; i < 20; ++i) {
    (void)clEnqueueNDRangeKernel(queue, slow, 1, nullptr, &one, &one, 0, nullptr, nullptr);
  }
  say("  finish", clFinish(queue));
}

// Only if it is named. The process ends while another thread waits for a launch that has ended,
// which is when the layer stores the program.
void exit_while_waiting(const Probe& probe) {
  static std::atomic<bool> has_ended{false};
  std::thread([&probe] {
    cl_program program = create(probe, k_source);
    (void)clBuildProgram(program, 0, nullptr, "-DSTEP=92", nullptr, nullptr);
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, "twice", &code);
    cl_command_queue queue = clCreateCommandQueue(probe.context, probe.devices[0], 0, &code);
    cl_mem buffer =
        clCreateBuffer(probe.context, CL_MEM_READ_WRITE, 8 * sizeof(int), nullptr, &code);
    (void)clSetKernelArg(kernel, 0, sizeof(cl_mem), static_cast<const void*>(&buffer));
    (void)clSetKernelArg(kernel, 1, 4 * sizeof(int), nullptr);
    const std::size_t global = 8;
    const std::size_t local = 4;
    cl_event event = nullptr;
    (void)clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, &local, 0, nullptr, &event);
    (void)clFlush(queue);
    cl_int status = CL_QUEUED;
    while (status > CL_COMPLETE) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      (void)clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                           nullptr);
    }
    has_ended = true;
    (void)clFinish(queue);
    std::this_thread::sleep_for(std::chrono::hours(1));
  }).detach();
  while (!has_ended) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  say("end");
  std::exit(0);
}

cl_int build_twice(const Probe& probe, cl_program program) {
  const cl_device_id twice[] = {probe.devices[0], probe.devices[0]};
  return clBuildProgram(program, 2, static_cast<const cl_device_id*>(twice), "-DSTEP=97", nullptr,
                        nullptr);
}

// Only if it is named.
void device_twice(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  a device twice", build_twice(probe, program));
  (void)clReleaseProgram(program);
}

// Only if it is named. Mode strict builds nothing, whatever the driver accepts.
void odd_calls(const Probe& probe) {
  cl_program program = create(probe, k_source);
  int data = 0;
  say("  data without callback", clBuildProgram(program, 0, nullptr, "-DSTEP=97", nullptr, &data));
  say("  a device twice", build_twice(probe, program));
  cl_int code = CL_SUCCESS;
  cl_program linked =
      clLinkProgram(probe.context, 0, nullptr, "", 1, &program, nullptr, nullptr, &code);
  say("  link", code);
  say("  is null", linked == nullptr ? 1 : 0);
  (void)clReleaseProgram(program);
}

// Only if it is named. Mode strict refuses it.
void refused_build(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=98", nullptr, nullptr));
  say("  log=" + text_of(about(program, probe.devices[0], CL_PROGRAM_BUILD_LOG)));
  (void)clReleaseProgram(program);
}

// Launches whose data can be recorded, or cannot, and what each leaves.
constexpr const char* k_data_source =
    "kernel void scale(global float* a, global const float* b, const float by, local float* s) {\n"
    "  s[get_local_id(0)] = b[get_global_id(0)];\n"
    "  a[get_global_id(0)] += by * s[get_local_id(0)];\n"
    "}\n"
    "kernel void count(global int* a, global int* none) {\n"
    "  a[get_global_id(0)] += none == 0 ? 1 : 2;\n"
    "}\n"
    "kernel void add(global int* a, global int* b) {\n"
    "  a[get_global_id(0)] += b[get_global_id(0)] + 1;\n"
    "}\n";
constexpr const char* k_image_source =
    "kernel void mirror(read_only image2d_t from, write_only image2d_t to, sampler_t s) {\n"
    "  const int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  write_imagef(to, at, read_imagef(from, s, (int2)(get_image_width(from) - 1 - at.x, "
    "at.y)));\n"
    "}\n";
constexpr std::size_t k_items = 64;

class DataProbe {
public:
  DataProbe(const Probe& probe, cl_command_queue_properties properties)
      : m_probe(probe),
        m_queue(clCreateCommandQueue(probe.context, probe.devices[0], properties, nullptr)) {}
  ~DataProbe() { (void)clReleaseCommandQueue(m_queue); }
  DataProbe(const DataProbe&) = delete;
  DataProbe& operator=(const DataProbe&) = delete;

  cl_kernel kernel(const char* source, const char* name) {
    cl_program program = create(m_probe, source);
    (void)clBuildProgram(program, 1, m_probe.devices.data(), "", nullptr, nullptr);
    cl_kernel made = clCreateKernel(program, name, nullptr);
    (void)clReleaseProgram(program); // the kernel keeps it
    return made;
  }
  template <typename T>
  cl_mem buffer(T first, cl_mem_flags flags = CL_MEM_READ_WRITE) {
    std::vector<T> items(k_items);
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i] = first + static_cast<T>(i);
    }
    return clCreateBuffer(m_probe.context, flags | CL_MEM_COPY_HOST_PTR, k_items * sizeof(T),
                          items.data(), nullptr);
  }
  template <typename T>
  static void set(cl_kernel kernel, cl_uint index, T value) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a handle is the value
    (void)clSetKernelArg(kernel, index, sizeof value, static_cast<const void*>(&value));
  }
  cl_int launch(cl_kernel kernel, std::size_t items, cl_event after = nullptr,
                cl_event* event = nullptr) {
    return clEnqueueNDRangeKernel(m_queue, kernel, 1, nullptr, &items, nullptr,
                                  after == nullptr ? 0 : 1, after == nullptr ? nullptr : &after,
                                  event);
  }
  template <typename T>
  void tell(const char* what, cl_mem memory) {
    (void)clFinish(m_queue);
    std::vector<T> items(k_items);
    (void)clEnqueueReadBuffer(m_queue, memory, CL_TRUE, 0, k_items * sizeof(T), items.data(), 0,
                              nullptr, nullptr);
    double sum = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
      sum += static_cast<double>(items[i]) * static_cast<double>(i + 1);
    }
    say(what, static_cast<long long>(sum));
  }
  [[nodiscard]] cl_command_queue queue() const { return m_queue; }

private:
  const Probe& m_probe;
  cl_command_queue m_queue;
};

void launches_with_buffers(const Probe& probe) {
  DataProbe data(probe, 0);
  cl_kernel scale = data.kernel(k_data_source, "scale");
  cl_mem a = data.buffer(1.0F);
  cl_mem b = data.buffer(2.0F);
  DataProbe::set(scale, 0, a);
  DataProbe::set(scale, 1, b);
  DataProbe::set(scale, 2, 0.5F);
  (void)clSetKernelArg(scale, 3, k_items * sizeof(float), nullptr);
  for (int i = 0; i < 3; ++i) { // is recorded once
    say("  scale", data.launch(scale, k_items));
  }
  data.tell<float>("  scaled", a);
  cl_kernel count = data.kernel(k_data_source, "count");
  cl_mem counts = data.buffer(cl_int{1});
  DataProbe::set(count, 0, counts);
  DataProbe::set(count, 1, cl_mem{nullptr});
  for (std::size_t items = 1; items < k_items; items += 8) { // more sizes than are recorded
    (void)data.launch(count, items);
  }
  data.tell<cl_int>("  counted", counts);
  for (cl_mem memory : {a, b, counts}) {
    (void)clReleaseMemObject(memory);
  }
  (void)clReleaseKernel(scale);
  (void)clReleaseKernel(count);
}

void launches_with_images(const Probe& probe) {
  const auto has_images =
      value_of<cl_bool>([&](std::size_t size, void* value, std::size_t* size_ret) {
        return clGetDeviceInfo(probe.devices[0], CL_DEVICE_IMAGE_SUPPORT, size, value, size_ret);
      });
  if (has_images == CL_FALSE) {
    return;
  }
  DataProbe data(probe, 0);
  cl_kernel mirror = data.kernel(k_image_source, "mirror");
  const cl_image_format format{CL_RGBA, CL_FLOAT};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = 4;
  description.image_height = 4;
  std::vector<float> pixels(k_items);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>(i);
  }
  cl_mem from = clCreateImage(probe.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format,
                              &description, pixels.data(), nullptr);
  cl_mem to =
      clCreateImage(probe.context, CL_MEM_WRITE_ONLY, &format, &description, nullptr, nullptr);
  cl_sampler sampler =
      clCreateSampler(probe.context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, nullptr);
  DataProbe::set(mirror, 0, from);
  DataProbe::set(mirror, 1, to);
  DataProbe::set(mirror, 2, sampler);
  const std::size_t global[] = {4, 4};
  say("  mirror", clEnqueueNDRangeKernel(data.queue(), mirror, 2, nullptr, global, nullptr, 0,
                                         nullptr, nullptr));
  const std::size_t origin[3] = {};
  const std::size_t region[] = {4, 4, 1};
  (void)clEnqueueReadImage(data.queue(), to, CL_TRUE, origin, region, 0, 0, pixels.data(), 0,
                           nullptr, nullptr);
  say("  first", static_cast<long long>(pixels[0]));
  (void)clReleaseMemObject(from);
  (void)clReleaseMemObject(to);
  (void)clReleaseSampler(sampler);
  (void)clReleaseKernel(mirror);
}

// Those that would compute something else when they are repeated, or wait for the application.
void launches_that_are_left_out(const Probe& probe) {
  DataProbe data(probe, 0);
  cl_kernel add = data.kernel(k_data_source, "add");
  cl_mem a = data.buffer(cl_int{1});
  DataProbe::set(add, 0, a);
  DataProbe::set(add, 1, a); // the same memory
  say("  add", data.launch(add, 1));
  cl_mem b = data.buffer(cl_int{1}, CL_MEM_HOST_NO_ACCESS);
  DataProbe::set(add, 1, b);
  say("  add", data.launch(add, 2));
  cl_mem c = data.buffer(cl_int{1});
  DataProbe::set(add, 1, c);
  const std::size_t offset = 8;
  const std::size_t items = 8;
  say("  add with an offset",
      clEnqueueNDRangeKernel(data.queue(), add, 1, &offset, &items, nullptr, 0, nullptr, nullptr));
  data.tell<cl_int>("  added", a);
  for (cl_mem memory : {a, b, c}) {
    (void)clReleaseMemObject(memory);
  }
  (void)clReleaseKernel(add);
}

// Each launch depends on the one before through its event alone, if the driver has such queues.
void launches_out_of_order(const Probe& probe) {
  DataProbe data(probe, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  if (data.queue() == nullptr) {
    return;
  }
  cl_kernel add = data.kernel(k_data_source, "add");
  cl_mem a = data.buffer(cl_int{1});
  cl_mem b = data.buffer(cl_int{1});
  DataProbe::set(add, 0, a);
  DataProbe::set(add, 1, b);
  cl_event first = nullptr;
  cl_event second = nullptr;
  say("  first", data.launch(add, k_items, nullptr, &first));
  DataProbe::set(add, 0, b);
  DataProbe::set(add, 1, a);
  say("  second", data.launch(add, k_items / 2, first, &second));
  (void)clWaitForEvents(1, &second);
  data.tell<cl_int>("  a", a);
  data.tell<cl_int>("  b", b);
  (void)clReleaseEvent(first);
  (void)clReleaseEvent(second);
  (void)clReleaseMemObject(a);
  (void)clReleaseMemObject(b);
  (void)clReleaseKernel(add);
}

// A launch that waits for an event that the application completes only afterwards.
void launch_that_waits(const Probe& probe) {
  DataProbe data(probe, 0);
  cl_kernel add = data.kernel(k_data_source, "add");
  cl_mem a = data.buffer(cl_int{1});
  cl_mem b = data.buffer(cl_int{1});
  DataProbe::set(add, 0, a);
  DataProbe::set(add, 1, b);
  cl_event go = clCreateUserEvent(probe.context, nullptr);
  say("  add", data.launch(add, k_items, go));
  (void)clSetUserEventStatus(go, CL_COMPLETE);
  data.tell<cl_int>("  added", a);
  (void)clReleaseEvent(go);
  (void)clReleaseMemObject(a);
  (void)clReleaseMemObject(b);
  (void)clReleaseKernel(add);
}

// Only if it is named. A launch behind one that takes longer than the layer waits.
void launch_behind_a_long_one(const Probe& probe) {
  DataProbe data(probe, 0);
  cl_kernel spin = data.kernel("kernel void spin(global int* a, const long n) {\n"
                               "  for (long i = 0; i < n; ++i) { *(volatile global int*)a = i; }\n"
                               "}\n",
                               "spin");
  cl_mem a = data.buffer(cl_int{1});
  DataProbe::set(spin, 0, a);
  DataProbe::set(spin, 1, cl_long{1} << 40U);
  say("  spin", data.launch(spin, 1));
  cl_kernel count = data.kernel(k_data_source, "count");
  DataProbe::set(count, 0, a);
  DataProbe::set(count, 1, cl_mem{nullptr});
  say("  count", data.launch(count, 1));
  say("end");
  std::_Exit(0);
}

// Only if it is named. Drivers differ in what they compile.
void zero_within(const Probe& probe) {
  const char* strings[] = {"#define A 1\n", "kernel void store(global int* a) { a[0] = A; }\n"};
  const std::size_t lengths[] = {std::strlen(strings[0]) + 1, 0};
  cl_program program = clCreateProgramWithSource(probe.context, 2, strings, lengths, nullptr);
  say("  build", clBuildProgram(program, 0, nullptr, "", nullptr, nullptr));
  (void)clReleaseProgram(program);
}

// Only if it is named.
void killed(const Probe& probe) {
  cl_program program = create(probe, k_source);
  say("  build", clBuildProgram(program, 0, nullptr, "-DSTEP=95", nullptr, nullptr));
  cl_int code = CL_SUCCESS;
  launch_twice(probe, clCreateKernel(program, "twice", &code));
  (void)std::raise(SIGKILL);
}

enum class Run : std::uint8_t { always, if_named };

struct Scenario {
  const char* name;
  void (*run)(const Probe&);
  Run when = Run::always;
};

constexpr Scenario k_scenarios[] = {
    {"build_and_ask", build_and_ask},
    {"several_strings", several_strings},
    {"counted_zeros", counted_zeros},
    {"headers_in_folders", headers_in_folders},
    {"counts", counts},
    {"all_kernels", all_kernels},
    {"cloned_kernel", cloned_kernel},
    {"callbacks", callbacks},
    {"failing_build", failing_build},
    {"wrong_arguments", wrong_arguments},
    {"one_of_the_devices", one_of_the_devices},
    {"rejected_build_after_a_build", rejected_build_after_a_build},
    {"one_device_after_another", one_device_after_another},
    {"other_options_for_another_device", other_options_for_another_device},
    {"built_again", built_again},
    {"built_again_with_a_kernel", built_again_with_a_kernel},
    {"binaries", binaries},
    {"separate_compilation", separate_compilation},
    {"compiled_after_a_build", compiled_after_a_build},
    {"release_callback", release_callback},
    {"intermediate_language", intermediate_language},
    {"intermediate_language_by_name", intermediate_language_by_name},
    {"variables_and_functions", variables_and_functions},
    {"tasks", tasks},
    {"linked_after_a_build", linked_after_a_build},
    {"functions_by_name", functions_by_name},
    {"eight_threads", eight_threads},
    {"launches_with_buffers", launches_with_buffers},
    {"launches_with_images", launches_with_images},
    {"launches_that_are_left_out", launches_that_are_left_out},
    {"launches_out_of_order", launches_out_of_order},
    {"launch_that_waits", launch_that_waits},
    {"launch_behind_a_long_one", launch_behind_a_long_one, Run::if_named},
    {"changed_header", changed_header, Run::if_named},
    {"chosen_sizes", chosen_sizes, Run::if_named},
    {"many_launches", many_launches, Run::if_named},
    {"device_twice", device_twice, Run::if_named},
    {"odd_calls", odd_calls, Run::if_named},
    {"refused_build", refused_build, Run::if_named},
    {"zero_within", zero_within, Run::if_named},
    {"kept_programs", kept_programs, Run::if_named},
    {"kept_programs_in_threads", kept_programs_in_threads, Run::if_named},
    {"kept_while_running", kept_while_running, Run::if_named},
    {"asks_for_command_buffers", asks_for_command_buffers, Run::if_named},
    {"repeated_without_waits", repeated_without_waits, Run::if_named},
    {"exit_while_waiting", exit_while_waiting, Run::if_named},
    {"killed", killed, Run::if_named},
};

bool find_platform(Probe& probe, const std::string& part) {
  cl_platform_id platforms[16] = {};
  cl_uint count = 0;
  (void)clGetPlatformIDs(16, static_cast<cl_platform_id*>(platforms), &count);
  for (cl_uint i = 0; i < count; ++i) {
    const std::string name = text_of([&](std::size_t size, void* value, std::size_t* size_ret) {
      return clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, size, value, size_ret);
    });
    if (name.find(part) == std::string::npos) {
      continue;
    }
    cl_uint devices = 0;
    if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 0, nullptr, &devices) == CL_SUCCESS &&
        devices != 0) {
      probe.platform = platforms[i];
      probe.platform_name = name;
      probe.devices.resize(devices);
      (void)clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, devices, probe.devices.data(),
                           nullptr);
      return true;
    }
  }
  return false;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    return 2;
  }
  Probe probe;
  probe.folder = argv[2];
  if (!find_platform(probe, argv[1])) {
    say("no platform");
    return 0;
  }
  cl_int code = CL_SUCCESS;
  probe.context = clCreateContext(nullptr, static_cast<cl_uint>(probe.devices.size()),
                                  probe.devices.data(), nullptr, nullptr, &code);
  for (const Scenario& scenario : k_scenarios) {
    const bool is_named = std::any_of(argv + 3, argv + argc, [&](const char* name) {
      return std::strcmp(name, scenario.name) == 0;
    });
    if (is_named || (argc == 3 && scenario.when == Run::always)) {
      say(scenario.name);
      scenario.run(probe);
    }
  }
  (void)clReleaseContext(probe.context);
  say("end");
  return 0;
}
