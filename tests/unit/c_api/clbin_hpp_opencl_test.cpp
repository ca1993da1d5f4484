// clbin/opencl.hpp accepts cl::Context and cl::Device, and returns cl::Program. Runs on the drivers
// of this machine, through the ICD loader that the library opens itself.
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include "clbin/opencl.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "support/bundle_samples.hpp"
#include "support/project_folders.hpp"
#include "support/sample_bundle.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <utility>

namespace clbin {
namespace {

std::vector<cl::Device> all_devices() {
  std::vector<cl::Platform> platforms;
  (void)cl::Platform::get(&platforms);
  std::vector<cl::Device> result;
  for (const cl::Platform& platform : platforms) {
    std::vector<cl::Device> devices;
    (void)platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
    result.insert(result.end(), devices.begin(), devices.end());
  }
  return result;
}

TEST(ClbinHppWithOpenCl, LoadsIntoClProgram) {
  const std::vector<cl::Device> devices = all_devices();
  if (devices.empty()) {
    GTEST_SKIP() << "this machine has no OpenCL device";
  }
  const base::Bytes bytes = test::sample_bundle();
  const Bundle bundle = Bundle::from_memory(bytes);
  for (const cl::Device& device : devices) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    const cl::Context context(device);
    Report report;
    cl::Program program = bundle.load(context, device, "saxpy", LoadOptions(), &report);
    const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
    const bool has_entry = platform.getInfo<CL_PLATFORM_NAME>() == "NVIDIA CUDA"; // PTX for sm_70
    EXPECT_EQ(report.origin(), has_entry ? Origin::entry : Origin::source) << report.text();
    cl_int code = CL_SUCCESS;
    const cl::Kernel kernel(program, "saxpy", &code);
    EXPECT_EQ(code, CL_SUCCESS);
    // Drivers differ in whether a kernel counts as a reference.
    const cl::Program bare(context, "kernel void saxpy(global float* a) { *a = 1; }");
    EXPECT_EQ(bare.build(std::vector<cl::Device>{device}), CL_SUCCESS);
    const cl::Kernel bare_kernel(bare, "saxpy", &code);
    EXPECT_EQ(program.getInfo<CL_PROGRAM_REFERENCE_COUNT>(),
              bare.getInfo<CL_PROGRAM_REFERENCE_COUNT>());

    cl::Program several = bundle.load(context, std::vector<cl::Device>{device}, "saxpy");
    EXPECT_NE(several(), nullptr);
  }
}

// Also on PoCL, where loads store nothing. What it built is loaded without the text.
TEST(ClbinHppWithOpenCl, WarmsTheNextStart) {
  const base::TemporaryFolder scratch = base::TemporaryFolder::create({}, "clbin-test").value();
  const std::string folder = (scratch.path() / "cache").string();
  clbin_open_options options{};
  options.struct_size = sizeof(options);
  options.cache_dir = folder.c_str();
  auto input = format::unpack_bundle(test::must_open(test::sample_bundle())).value();
  input.programs.front().entries.clear();
  const base::Bytes bytes = test::must_write(input);
  for (const cl::Device& device : all_devices()) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    const cl::Context context(device);
    for (const bool is_first : {true, false}) {
      const Bundle bundle = Bundle::from_memory(bytes, &options);
      const Warmed warmed = bundle.warm(context(), device());
      EXPECT_EQ(warmed.built, is_first ? 2U : 0U);
      EXPECT_EQ(warmed.from_user_cache, is_first ? 0U : 2U);
    }
    const Bundle bundle = Bundle::from_memory(bytes, &options);
    Report report;
    const cl::Program program = bundle.load(context, device, "saxpy", LoadOptions(), &report);
    EXPECT_EQ(report.origin(), Origin::user_cache) << report.text();
    cl_int code = CL_SUCCESS;
    const cl::Kernel kernel(program, "saxpy", &code);
    EXPECT_EQ(code, CL_SUCCESS);
  }
}

// Measured on no device of this machine: what was measured on another one counts.
TEST(ClbinHppWithOpenCl, RecommendsAnNdRange) {
  auto input = format::unpack_bundle(test::must_open(test::sample_bundle())).value();
  format::ProgramInput& program = input.programs.front();
  program.source.reset();
  for (std::uint32_t dimensions = 1; dimensions <= 3; ++dimensions) {
    format::Measurement& one = program.measurements.emplace_back(
        test::sample_measurement(program.variants.front().name, "another", 1000));
    one.kernel = "saxpy";
    one.dimensions = dimensions;
    one.global_size = {64, dimensions > 1 ? 64U : 1U, dimensions > 2 ? 64U : 1U};
    one.local_size = {4, dimensions > 1 ? 2U : 1U, 1};
  }
  const base::Bytes bytes = test::must_write(input);
  const Bundle bundle = Bundle::from_memory(bytes);
  const auto sizes = [&](const cl::Device& device, const cl::NDRange& global) {
    const cl::NDRange local =
        recommended_size(bundle, device, "saxpy", "saxpy", global, program.variants.front().name);
    const auto* const first = static_cast<const cl::size_type*>(local);
    return std::vector<std::size_t>(first, first + local.dimensions());
  };
  for (const cl::Device& device : all_devices()) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    EXPECT_EQ(sizes(device, cl::NDRange(8)), std::vector<std::size_t>({4}));
    EXPECT_EQ(sizes(device, cl::NDRange(8, 8)), std::vector<std::size_t>({4, 2}));
    EXPECT_EQ(sizes(device, cl::NDRange(8, 8, 8)), std::vector<std::size_t>({4, 2, 1}));
    EXPECT_EQ(sizes(device, cl::NDRange(9)), std::vector<std::size_t>());
  }
}

TEST(ClbinHppWithOpenCl, BuildsIntoClProgramAndServesItFromTheUserCache) {
  const std::string text = "kernel void add_one(global float* a) { a[0] += 1; }\n";
  for (const cl::Device& device : all_devices()) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    const cl::Context context(device);
    const bool is_pocl =
        cl::Platform(device.getInfo<CL_DEVICE_PLATFORM>()).getInfo<CL_PLATFORM_NAME>() ==
        "Portable Computing Language";
    for (const Origin origin : {Origin::source, is_pocl ? Origin::source : Origin::user_cache}) {
      const Builder builder;
      Report report;
      const cl::Program program =
          builder.build(context, device, {text, "-cl-kernel-arg-info"}, LoadOptions(), &report);
      EXPECT_EQ(report.origin(), origin) << report.text();
      cl_int code = CL_SUCCESS;
      const cl::Kernel kernel(program, "add_one", &code);
      EXPECT_EQ(code, CL_SUCCESS);
    }
    EXPECT_NE(build(context, device, text)(), nullptr);
  }
}

// Contains one entry with SPIR-V 1.0 of kernel void add(global float* a, global const float* b),
// a[i] = b[i] + 1.0f.
base::Bytes il_bundle(std::optional<format::SourcePackage> source = std::nullopt) {
  const auto il =
      base::read_whole_file(test::tests_folder() / "unit/format/binaries/kernel.spv", 1U << 20U);
  EXPECT_TRUE(il.has_value());
  format::EntryInput entry;
  entry.variant = "default";
  entry.target.origin = format::TargetOrigin::offline;
  entry.target.spec = "spirv:1.0";
  entry.target.identity.address_bits = 64;
  entry.payload = il.value_or(base::Bytes());
  entry.kernels.emplace_back().name = "add";
  format::BundleInput input;
  input.producer = "test";
  format::ProgramInput& program = input.programs.emplace_back();
  program.name = "add";
  program.variants = {{"default", ""}};
  program.source = std::move(source);
  program.entries = {entry};
  const auto written = format::write_bundle(input, {});
  EXPECT_TRUE(written.has_value()) << written.error().message;
  return written.value_or(base::Bytes());
}

float sum_by(const cl::Context& context, const cl::Device& device, const cl::Program& program) {
  float values[2] = {0.0F, 41.0F};
  const cl::Buffer sum(context, CL_MEM_COPY_HOST_PTR, sizeof(float), &values[0]);
  const cl::Buffer addend(context, CL_MEM_COPY_HOST_PTR, sizeof(float), &values[1]);
  cl::Kernel kernel(program, "add");
  (void)kernel.setArg(0, sum);
  (void)kernel.setArg(1, addend);
  const cl::CommandQueue queue(context, device);
  EXPECT_EQ(queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1)), CL_SUCCESS);
  EXPECT_EQ(queue.enqueueReadBuffer(sum, CL_TRUE, 0, sizeof(float), &values[0]), CL_SUCCESS);
  return values[0];
}

// Only Intel's CPU runtime accepts IL. Others do not get it.
TEST(ClbinHppWithOpenCl, BuildsIlWhereTheDeviceTakesIt) {
  const base::Bytes bytes = il_bundle();
  const Bundle bundle = Bundle::from_memory(bytes);
  bool is_built = false;
  for (const cl::Device& device : all_devices()) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    const cl::Context context(device);
    Report report;
    const std::string versions = device.getInfo<CL_DEVICE_IL_VERSION>();
    if (versions.find("SPIR-V_1.0") == std::string::npos) {
      EXPECT_THROW((void)bundle.load(context, device, "add", LoadOptions(), &report), Error);
      EXPECT_EQ(report.origin(), Origin::none) << report.text();
      continue;
    }
    const cl::Program program = bundle.load(context, device, "add", LoadOptions(), &report);
    EXPECT_EQ(report.origin(), Origin::il) << report.text();
    EXPECT_FLOAT_EQ(sum_by(context, device, program), 42.0F);
    is_built = true;
  }
  if (!is_built) {
    GTEST_SKIP() << "no device here accepts SPIR-V 1.0";
  }
}

// The source differs from the IL, which shows what was built.
TEST(ClbinHppWithOpenCl, BuildsTheIlOfABundleForTheSameSource) {
  const std::string text = "kernel void add(global float* a, global const float* b) { *a = 7; }\n";
  const base::Bytes bytes = il_bundle(format::SourcePackage{{"add.cl", "add.cl", text}, {}});
  const Bundle bundle = Bundle::from_memory(bytes);
  bool is_built = false;
  for (const cl::Device& device : all_devices()) {
    SCOPED_TRACE(device.getInfo<CL_DEVICE_NAME>());
    const cl::Context context(device);
    const std::string versions = device.getInfo<CL_DEVICE_IL_VERSION>();
    const bool accepts_il = versions.find("SPIR-V_1.0") != std::string::npos;
    // PoCL 6 accepts IL. PoCL caches its own builds, so that libclbin does not use its user cache.
    const std::string platform =
        cl::Platform(device.getInfo<CL_DEVICE_PLATFORM>()).getInfo<CL_PLATFORM_NAME>();
    const Origin second =
        platform == "Portable Computing Language" ? Origin::il : Origin::user_cache;
    for (const Origin origin : {Origin::il, second}) {
      const Builder builder;
      builder.add_bundle(bundle);
      Report report;
      const cl::Program program = builder.build(context, device, text, LoadOptions(), &report);
      if (!accepts_il) {
        EXPECT_NE(report.origin(), Origin::il) << report.text();
        continue;
      }
      EXPECT_EQ(report.origin(), origin) << report.text();
      EXPECT_FLOAT_EQ(sum_by(context, device, program), 42.0F);
    }
    is_built = is_built || accepts_il;
  }
  if (!is_built) {
    GTEST_SKIP() << "no device here accepts SPIR-V 1.0";
  }
}

} // namespace
} // namespace clbin
