// Measures what a call costs more under libclbin_layer.so, in nanoseconds: calls that the layer
// passes on or counts, on the first device. Starts itself with the layer and without it, in turn,
// and compares the medians. Floor: 2 % or 200 ns, whichever is more.
//
//     layer_calls LAYER [ROUNDS]
//
// OCL_ICD_VENDORS and RUSTICL_ENABLE choose the platform. Exit status 1 if the floor is missed.

#define CL_USE_DEPRECATED_OPENCL_1_2_APIS // clCreateCommandQueue, which every platform has
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int k_calls = 20000;
constexpr int k_launches = 2000;
constexpr int k_launches_at_once = 100; // before the next call waits for them
constexpr double k_floor_ns = 200;
constexpr double k_floor_share = 0.02;

double nanoseconds(int calls, const std::function<void()>& call) {
  for (int i = 0; i < calls / 10; ++i) {
    call();
  }
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) {
    call();
  }
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / calls;
}

void print(const char* name, double value) {
  std::printf("%s %.1f\n", name, value);
}

void measure_launches(cl_context context, cl_device_id device, cl_kernel kernel) {
  cl_int code = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
  const std::size_t size = 1;
  int enqueued = 0;
  print("clEnqueueNDRangeKernel", nanoseconds(k_launches, [&] {
          (void)clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &size, nullptr, 0, nullptr,
                                       nullptr);
          if (++enqueued % k_launches_at_once == 0) {
            (void)clFinish(queue);
          }
        }));
  (void)clReleaseCommandQueue(queue);
}

// What an application does between builds.
int measure() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int code = clGetPlatformIDs(1, &platform, nullptr);
  code |= clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  const char* source = "kernel void nothing(global int* a, int b) {}";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  code |= clBuildProgram(program, 0, nullptr, "", nullptr, nullptr);
  cl_kernel kernel = clCreateKernel(program, "nothing", &code);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, nullptr, &code);
  code |= clSetKernelArg(kernel, 0, sizeof(cl_mem), static_cast<const void*>(&buffer));
  if (code != CL_SUCCESS) {
    std::fprintf(stderr, "layer_calls: OpenCL error %d\n", code);
    return 2;
  }
  cl_uint count = 0;
  char name[32];
  const int value = 1;
  print("clSetKernelArg",
        nanoseconds(k_calls, [&] { (void)clSetKernelArg(kernel, 1, sizeof value, &value); }));
  print("clGetKernelInfo", nanoseconds(k_calls, [&] {
          (void)clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name,
                                static_cast<void*>(name), nullptr);
        }));
  print("clRetainKernel+clReleaseKernel", nanoseconds(k_calls, [&] {
          (void)clRetainKernel(kernel);
          (void)clReleaseKernel(kernel);
        }));
  print("clGetProgramInfo", nanoseconds(k_calls, [&] {
          (void)clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr);
        }));
  print("clRetainProgram+clReleaseProgram", nanoseconds(k_calls, [&] {
          (void)clRetainProgram(program);
          (void)clReleaseProgram(program);
        }));
  measure_launches(context, device, kernel);
  return 0;
}

using Measured = std::map<std::string, std::vector<double>>;

bool add_run(const std::string& command, Measured& measured) {
  std::FILE* const output = popen(command.c_str(), "r");
  char name[64];
  double value = 0;
  while (output != nullptr &&
         std::fscanf(output, "%63s %lf", static_cast<char*>(name), &value) == 2) {
    measured[static_cast<const char*>(name)].push_back(value);
  }
  return output != nullptr && pclose(output) == 0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    return measure();
  }
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  const std::string self = argv[0];
  Measured bare;
  Measured layered;
  for (int i = 0; i < rounds; ++i) {
    if (!add_run("env -u OPENCL_LAYERS " + self, bare) ||
        !add_run("OPENCL_LAYERS='" + std::string(argv[1]) + "' " + self, layered)) {
      return 2;
    }
  }
  bool is_met = true;
  std::printf("%-34s %10s %10s %8s\n", "median of ns a call", "without", "with", "more");
  for (const auto& [name, values] : bare) {
    const double before = median(values);
    const double after = median(layered[name]);
    const int calls = name.find('+') == std::string::npos ? 1 : 2;
    is_met = is_met && after - before <= std::max(calls * k_floor_ns, k_floor_share * before);
    std::printf("%-34s %10.0f %10.0f %8.0f\n", name.c_str(), before, after, after - before);
  }
  return is_met ? 0 : 1;
}
