// What is read of kernels without a driver, compared with what drivers answer for the same source.
#include "format/amd_metadata.hpp"
#include "format/intel_ze_info.hpp"
#include "format/spirv_module.hpp"
#include "opencl/cl_error.hpp"
#include "opencl/program_build.hpp"
#include "opencl/program_info.hpp"
#include "support/installed_devices.hpp"
#include "support/reflection_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace clbin::opencl {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::filesystem::path binaries() {
  return std::filesystem::path(CLBIN_TEST_DATA) / "unit/format/binaries";
}

std::vector<format::KernelReflection> kernels_of_driver(const test::InstalledDevice& installed) {
  const Context context = test::make_context(installed);
  const format::SourcePackage source{
      {"arguments.cl", "arguments.cl", file_text(binaries() / "arguments.cl")}, {}};
  const BuildOutcome outcome =
      build_from_source(installed.driver, context.get(), {installed.device}, source,
                        "-cl-std=CL1.2 -cl-kernel-arg-info");
  EXPECT_EQ(outcome.code, CL_SUCCESS) << cl_error_name(outcome.code) << "\n" << outcome.log;
  auto reflection = reflect_kernels(installed.driver, outcome.program.get(), installed.device, {});
  EXPECT_TRUE(reflection.has_value()) << reflection.error().message;
  return reflection ? std::move(reflection->kernels) : std::vector<format::KernelReflection>{};
}

// Other drivers spell CL_KERNEL_ATTRIBUTES in ways of their own ("__attribute__((…))", commas).
bool has_plain_attributes(const test::InstalledDevice& installed) {
  return installed.name.starts_with("Intel");
}

void expect_equal(const std::vector<format::KernelReflection>& read,
                  const std::vector<format::KernelReflection>& told,
                  const test::InstalledDevice& installed) {
  ASSERT_EQ(read.size(), told.size());
  for (std::size_t index = 0; index < told.size(); ++index) {
    SCOPED_TRACE(told[index].name);
    EXPECT_EQ(read[index].name, told[index].name);
    EXPECT_EQ(read[index].argument_count, told[index].argument_count);
    EXPECT_EQ(read[index].required_work_group_size, told[index].required_work_group_size);
    if (has_plain_attributes(installed)) {
      EXPECT_EQ(read[index].attributes, told[index].attributes);
    }
    EXPECT_EQ(test::argument_texts(read[index]), test::argument_texts(told[index]));
  }
}

using KernelReader = base::Result<std::vector<format::KernelReflection>> (*)(base::ByteView);

base::Result<std::vector<format::KernelReflection>> read_spirv_kernels(base::ByteView bytes) {
  CLBIN_TRY_ASSIGN(format::SpirvModule module, format::read_spirv_module(bytes));
  return std::move(module.kernels);
}

struct Sample {
  const char* file;
  KernelReader read;
};

TEST(OfflineReflection, ReadsFromBinariesWhatDriversAnswerForTheSource) {
  constexpr std::array k_samples{
      Sample{"arguments.spv", read_spirv_kernels},
      Sample{"arguments.gfx906.v4.o", format::read_amd_kernels},
      Sample{"arguments.tgllp.zebin", format::read_zebin_kernels},
  };
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const auto told = kernels_of_driver(installed);
    for (const Sample& sample : k_samples) {
      SCOPED_TRACE(sample.file);
      const std::string bytes = file_text(binaries() / sample.file);
      const auto read = sample.read(base::as_bytes(bytes));
      ASSERT_TRUE(read.has_value()) << read.error().message;
      expect_equal(*read, told, installed);
    }
  }
}

} // namespace
} // namespace clbin::opencl
