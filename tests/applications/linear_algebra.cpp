// Two routines of CLBlast, which concatenates its sources at run time. All values are small
// integers, so that every device prints the same numbers.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <clblast_c.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace {

constexpr std::size_t k_count = 1024; // elements of a vector

void require(cl_int code, const char* call) {
  if (code != CL_SUCCESS) {
    std::fprintf(stderr, "%s failed: %d\n", call, code);
    std::exit(1);
  }
}

struct Device {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

Device open_device() {
  cl_platform_id platform = nullptr;
  require(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  cl_device_id device = nullptr;
  require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "clGetDeviceIDs");
  cl_int code = CL_SUCCESS;
  Device result;
  result.context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  require(code, "clCreateContext");
  result.queue = clCreateCommandQueue(result.context, device, 0, &code);
  require(code, "clCreateCommandQueue");
  return result;
}

std::vector<float> repeated(int modulus) {
  std::vector<float> values(k_count);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % static_cast<std::size_t>(modulus));
  }
  return values;
}

cl_mem buffer_of(const Device& device, std::vector<float> values) {
  cl_int code = CL_SUCCESS;
  cl_mem buffer = clCreateBuffer(device.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                 values.size() * sizeof(float), values.data(), &code);
  require(code, "clCreateBuffer");
  return buffer;
}

void print(const char* routine, const Device& device, cl_mem buffer, std::size_t count) {
  std::vector<float> values(count);
  require(clEnqueueReadBuffer(device.queue, buffer, CL_TRUE, 0, count * sizeof(float),
                              values.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  std::printf("%s %.0f\n", routine, std::accumulate(values.begin(), values.end(), 0.0));
}

} // namespace

int main() {
  Device device = open_device();
  cl_mem a = buffer_of(device, repeated(7));
  cl_mem b = buffer_of(device, repeated(5));
  cl_mem c = buffer_of(device, repeated(1));
  require(CLBlastSaxpy(k_count, 2.0F, a, 0, 1, b, 0, 1, &device.queue, nullptr), "CLBlastSaxpy");
  print("saxpy", device, b, k_count);
  require(CLBlastSasum(k_count, c, 0, b, 0, 1, &device.queue, nullptr), "CLBlastSasum");
  print("sasum", device, c, 1);
  for (cl_mem buffer : {a, b, c}) {
    clReleaseMemObject(buffer);
  }
  clReleaseCommandQueue(device.queue);
  clReleaseContext(device.context);
}
