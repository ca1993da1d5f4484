// Compares reflection without a driver with the answers of drivers for the same source.
#include "format/binary/binary_kernels.hpp"
#include "opencl/driver.hpp"
#include "opencl/program_build.hpp"
#include "support/installed_devices.hpp"
#include "support/project_folders.hpp"
#include "support/reflection_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <unistd.h>

namespace clbin::opencl {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::filesystem::path binaries() {
  return test::tests_folder() / "unit/format/binaries";
}

// NVIDIA's driver 580 makes PTX of tests/unit/format/binaries/arguments.cl that its own assembler
// refuses (doc/drivers.md).
bool is_refused_by_own_assembler(const test::InstalledDevice& installed,
                                 const BuildOutcome& outcome) {
  return installed.name.starts_with("NVIDIA") && outcome.code == CL_BUILD_PROGRAM_FAILURE &&
         outcome.log.find("ptxas application ptx input") != std::string::npos;
}

// Returns std::nullopt, and prints why, if the driver cannot build the source because of a known
// bug.
std::optional<std::vector<format::KernelReflection>>
kernels_of_driver(const test::InstalledDevice& installed, const format::SourcePackage& source) {
  const Context context = test::make_context(installed);
  const BuildOutcome outcome =
      build_from_source(installed.driver, context.get(), {installed.device}, source,
                        "-cl-std=CL1.2 -cl-kernel-arg-info");
  if (is_refused_by_own_assembler(installed, outcome)) {
    fmt::print("not compared: {} refuses its own PTX of {}\n", installed.name,
               source.main.include_name);
    return std::nullopt;
  }
  EXPECT_EQ(outcome.code, CL_SUCCESS) << cl_error_name(outcome.code) << "\n" << outcome.log;
  auto reflection = reflect_kernels(installed.driver, outcome.program.get(), installed.device, {});
  EXPECT_TRUE(reflection.has_value()) << reflection.error().message;
  if (!reflection) {
    return std::vector<format::KernelReflection>{};
  }
  return std::move(reflection->kernels);
}

// Other drivers spell CL_KERNEL_ATTRIBUTES differently ("__attribute__((…))", commas).
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
    const auto told = kernels_of_driver(
        installed, {{"arguments.cl", "arguments.cl", file_text(binaries() / "arguments.cl")}, {}});
    if (!told) {
      continue;
    }
    for (const Sample& sample : k_samples) {
      SCOPED_TRACE(sample.file);
      const std::string bytes = file_text(binaries() / sample.file);
      const auto read = sample.read(base::as_bytes(bytes));
      ASSERT_TRUE(read.has_value()) << read.error().message;
      expect_equal(*read, *told, installed);
    }
  }
}

// A folder that is removed with its contents.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "clbin_XXXXXX").string();
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    m_path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return m_path; }

private:
  std::filesystem::path m_path;
};

bool runs(const std::string& command) {
  return std::system(fmt::format("{{ {}; }} >/dev/null 2>&1", command).c_str()) == 0;
}

// Of the headers that oclcc contains.
std::filesystem::path include_folder() {
  return test::kernels_folder().parent_path() / "libclbin/include";
}

std::string compile_to_spirv(const std::filesystem::path& file,
                             const std::filesystem::path& folder) {
  const std::string bitcode = (folder / "kernels.bc").string();
  const std::string spirv = (folder / "kernels.spv").string();
  // Without LLVM's passes, because llvm-spirv-15 cannot translate every instruction that they
  // generate.
  EXPECT_TRUE(runs(fmt::format("clang-15 -target spir64 -cl-std=CL1.2 -cl-kernel-arg-info "
                               "-Xclang -finclude-default-header -Xclang -disable-llvm-passes "
                               "-emit-llvm -I '{}' -c '{}' -o '{}'",
                               include_folder().string(), file.string(), bitcode)))
      << file;
  EXPECT_TRUE(
      runs(fmt::format("llvm-spirv-15 --spirv-max-version=1.2 "
                       "--preserve-ocl-kernel-arg-type-metadata-through-string '{}' -o '{}'",
                       bitcode, spirv)))
      << file;
  return file_text(spirv);
}

// Returns the kernel files of this project, each with all headers.
std::vector<format::SourcePackage> kernel_files() {
  const std::string matrix = "clbin/matrix.clh";
  std::vector<format::SourceFile> headers = {
      {matrix, matrix, file_text(include_folder() / matrix)}};
  std::vector<format::SourcePackage> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::kernels_folder())) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".clh") {
      headers.push_back({name, name, file_text(entry.path())});
    } else if (entry.path().extension() == ".cl") {
      files.push_back({{name, name, file_text(entry.path())}, {}});
    }
  }
  for (format::SourcePackage& file : files) {
    file.headers = headers;
  }
  return files;
}

TEST(OfflineReflection, ReadsFromSpirvOfEveryKernelFileWhatDriversAnswer) {
  if (!runs("clang-15 --version && llvm-spirv-15 --version")) {
    GTEST_SKIP() << "needs clang-15 and llvm-spirv-15";
  }
  const TemporaryFolder folder;
  const std::vector<format::SourcePackage> files = kernel_files();
  ASSERT_FALSE(files.empty());
  CLBIN_FOR_EACH_DEVICE(installed) {
    if (!installed.name.starts_with("Portable Computing Language")) {
      continue; // the other devices are compared above; each file takes a second on each of them
    }
    for (const format::SourcePackage& file : files) {
      SCOPED_TRACE(file.main.include_name);
      const std::string spirv =
          compile_to_spirv(test::kernels_folder() / file.main.include_name, folder.path());
      const auto read = read_spirv_kernels(base::as_bytes(spirv));
      ASSERT_TRUE(read.has_value()) << read.error().message;
      EXPECT_FALSE(read->empty());
      const auto told = kernels_of_driver(installed, file);
      ASSERT_TRUE(told.has_value());
      expect_equal(*read, *told, installed);
    }
  }
}

} // namespace
} // namespace clbin::opencl
