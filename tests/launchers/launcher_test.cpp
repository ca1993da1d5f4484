// Checks the results of the launchers in launched.hpp on every device.
#include "launched.hpp"
#include "support/project_folders.hpp"

#include <array>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace {

namespace kernels_of = kernels::launched;

struct Params {
  cl_float scale;
  cl_int shift;
};

std::vector<cl::Device> all_devices() {
  std::vector<cl::Platform> platforms;
  (void)cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> own;
    (void)platform.getDevices(CL_DEVICE_TYPE_ALL, &own);
    devices.insert(devices.end(), own.begin(), own.end());
  }
  return devices;
}

// A device, and the kernels built for it.
struct Machine {
  explicit Machine(const cl::Device& device)
      : context(device), queue(context, device), program(context, source()) {
    EXPECT_EQ(program.build(device), CL_SUCCESS);
  }

  static std::string source() {
    std::ifstream file(clbin::test::tests_folder() / "launchers/launched.cl");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  template <typename T>
  clbin::Buffer<T> buffer(const std::vector<T>& values) {
    clbin::Buffer<T> made(context, CL_MEM_READ_WRITE, values.size());
    EXPECT_EQ(queue.enqueueWriteBuffer(made, CL_TRUE, 0, values.size() * sizeof(T), values.data()),
              CL_SUCCESS);
    return made;
  }

  template <typename T>
  std::vector<T> read(const clbin::Buffer<T>& from, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(queue.enqueueReadBuffer(from, CL_TRUE, 0, count * sizeof(T), values.data()),
              CL_SUCCESS);
    return values;
  }

  cl::Context context;
  cl::CommandQueue queue;
  cl::Program program;
};

class Launchers : public testing::Test {
protected:
  void SetUp() override {
    if (m_devices.empty()) {
      GTEST_SKIP() << "there is no OpenCL device";
    }
  }
  std::vector<cl::Device> m_devices = all_devices();
};

TEST_F(Launchers, HandOverBuffersAndNumbers) {
  for (const cl::Device& device : m_devices) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    Machine machine(device);
    const auto x = machine.buffer<cl_float>({1, 2, 3, 4});
    const auto y = machine.buffer<cl_float>({10, 20, 30, 40});
    kernels_of::saxpy saxpy(machine.program);
    const cl::Event first = saxpy(machine.queue, {cl::NDRange(4)}, 2.0F, x, y);
    saxpy(machine.queue, {.global = cl::NDRange(2), .offset = cl::NDRange(1), .wait_for = {first}},
          1.0F, x, y);
    EXPECT_EQ(machine.read(y, 4), (std::vector<cl_float>{12, 26, 39, 48}));
  }
}

TEST_F(Launchers, HandOverVectors) {
  for (const cl::Device& device : m_devices) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    Machine machine(device);
    clbin::Buffer<cl_float4> out(machine.context, CL_MEM_READ_WRITE, 1);
    const cl_float4 v = {{1, 2, 3, 4}};
    const cl_uchar16 bytes = {{0, 7}};
    kernels_of::vectors vectors(machine.program);
    vectors(machine.queue, {cl::NDRange(1)}, v, bytes, 10U, out);
    const cl_float4 got = machine.read(out, 1)[0];
    EXPECT_EQ((std::array{got.s[0], got.s[1], got.s[2], got.s[3]}),
              (std::array<cl_float, 4>{17, 27, 37, 47}));
  }
}

TEST_F(Launchers, HandOverStructs) {
  for (const cl::Device& device : m_devices) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    Machine machine(device);
    const auto all = machine.buffer<Params>({{0, 0}, {0, 0}});
    kernels_of::structs structs(machine.program);
    structs(machine.queue, {cl::NDRange(2)}, Params{1.5F, 3}, all);
    EXPECT_EQ(machine.read(all, 2)[1].scale, 1.5F);
    EXPECT_EQ(machine.read(all, 2)[1].shift, 3);
  }
}

TEST_F(Launchers, LaunchInTheRequiredWorkGroups) {
  for (const cl::Device& device : m_devices) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    Machine machine(device);
    std::vector<cl_int> numbers(16);
    for (int i = 0; i < 16; ++i) {
      numbers[static_cast<std::size_t>(i)] = i;
    }
    const auto in = machine.buffer(numbers);
    const auto out = machine.buffer<cl_int>({0, 0});
    kernels_of::sums sums(machine.program);
    sums(machine.queue, {cl::NDRange(16)}, in, clbin::Local<cl_int>{8}, out);
    EXPECT_EQ(machine.read(out, 2), (std::vector<cl_int>{28, 92}));
  }
}

TEST_F(Launchers, HandOverImagesAndSamplers) {
  for (const cl::Device& device : m_devices) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    if (device.getInfo<CL_DEVICE_IMAGE_SUPPORT>() == CL_FALSE) {
      continue;
    }
    Machine machine(device);
    std::array<float, 4> pixel = {1, 2, 3, 4};
    const cl::Image2D in(machine.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                         cl::ImageFormat(CL_RGBA, CL_FLOAT), 1, 1, 0, pixel.data());
    const cl::Sampler how(machine.context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST);
    clbin::Buffer<cl_float4> out(machine.context, CL_MEM_READ_WRITE, 1);
    kernels_of::image image(machine.program);
    image(machine.queue, {cl::NDRange(1)}, in, how, out);
    EXPECT_EQ(machine.read(out, 1)[0].s[3], 4.0F);
  }
}

TEST_F(Launchers, HaveNamesThatCppTakes) {
  for (const cl::Device& device : m_devices) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    Machine machine(device);
    const auto sum = machine.buffer<cl_ulong>({0});
    const auto term = machine.buffer<cl_int>({40});
    kernels_of::new_ add(machine.program);
    add(machine.queue, {cl::NDRange(1)}, sum, term, cl_long{2});
    EXPECT_EQ(machine.read(sum, 1)[0], 42U);
  }
}

std::string thrown_by(const std::function<void()>& function) {
  try {
    function();
  } catch (const clbin::Error& error) {
    return std::to_string(error.opencl_code()) + ": " + error.what();
  }
  return "nothing";
}

TEST_F(Launchers, ThrowWithTheCodeOfTheFailedCall) {
  for (const cl::Device& device : m_devices) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    Machine machine(device);
    cl::Program other(machine.context, "kernel void saxpy(float a) {}");
    ASSERT_EQ(other.build(device), CL_SUCCESS);
    EXPECT_EQ(thrown_by([&] { kernels_of::saxpy launcher(other); }),
              "0: kernel 'saxpy' has 1 arguments, its launcher has 3");
    EXPECT_EQ(thrown_by([&] { kernels_of::sums launcher(other); }),
              "-46: cannot create kernel 'sums': -46");
    const auto out = machine.buffer<cl_int>({0, 0});
    kernels_of::sums sums(machine.program);
    EXPECT_EQ(
        thrown_by([&] {
          sums(machine.queue, {cl::NDRange(8), cl::NDRange(4)}, out, clbin::Local<cl_int>{8}, out);
        }),
        "-54: clEnqueueNDRangeKernel failed: -54");
  }
}

} // namespace
