// Encrypted bundles on the drivers of this machine: what they load runs, and nothing of it is in
// the files of libclbin.
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include "clbin/opencl.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "format/bundle/encryption.hpp"
#include "support/bundle_samples.hpp"
#include "support/driver_bundle.hpp"
#include "support/secret_search.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace clbin {
namespace {

using base::Bytes;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* k_marker = "only_the_owner_reads_this_name";

std::string source_text() {
  return std::string("kernel void scale(global float* values) {\n"
                     "  const float ") +
         k_marker + " = 2.0f;\n  values[get_global_id(0)] *= " + k_marker + ";\n}\n";
}

// A bundle for one device, with a key of its own, and folders for everything that libclbin writes.
class EncryptedOnDrivers : public ::testing::Test {
protected:
  EncryptedOnDrivers() {
    base::fill_randomly(m_key);
    ::setenv("TMPDIR", (m_folder.path() / "tmp").c_str(), 1);
    ::setenv("HOME", (m_folder.path() / "home").c_str(), 1);
    ::setenv("CLBIN_CACHE_DIR", (m_folder.path() / "cache").c_str(), 1);
    for (const char* const name : {"tmp", "home", "cache"}) {
      std::filesystem::create_directories(m_folder.path() / name);
    }
  }

  // Sets m_path and m_entry.
  void make_bundle(const test::InstalledDevice& installed) {
    const opencl::Context context = test::make_context(installed);
    format::ProgramInput program;
    program.name = "scale";
    program.variants = {{"default", ""}};
    program.source = format::SourcePackage{{"scale.cl", "scale.cl", source_text()}, {}};
    program.entries = {test::build_entry(installed, context, *program.source, "")};
    m_entry = test::bytes_kept_in(program.entries[0].payload);
    format::WriteOptions options;
    options.encryption = format::encryption_with(base::ContentKey::from_bytes(m_key).value());
    const auto bytes = format::write_bundle({"test", {program}}, options);
    ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
    m_path = m_folder.path() / "kernels.clbin";
    std::ofstream(m_path, std::ios::binary) << base::as_text(*bytes);
    EXPECT_THAT(test::files_that_contain(m_folder.path(), some_of(m_entry)), IsEmpty());
  }

  [[nodiscard]] EncryptedOptions options() const {
    return EncryptedOptions([this](const KeyRequest&, clbin_key& key) {
      key.kind = CLBIN_KEY_CONTENT;
      std::memcpy(key.bytes, m_key.data(), sizeof(key.bytes));
      return 0;
    });
  }

  // What no other file contains: the middle of a binary, whose beginning may be common.
  static base::ByteView some_of(const Bytes& binary) {
    const std::size_t size = std::min<std::size_t>(binary.size(), 256);
    return base::ByteView(binary).subspan((binary.size() - size) / 2, size);
  }

  // Fails if a file of libclbin, or a report, contains a part of a kernel or the key.
  void expect_no_secret(const std::string& reports) const {
    EXPECT_THAT(reports, Not(HasSubstr(k_marker)));
    for (const char* const name : {"tmp", "cache", "home"}) {
      const std::filesystem::path folder = m_folder.path() / name;
      EXPECT_THAT(test::files_that_contain(
                      folder, std::as_bytes(std::span(k_marker, std::strlen(k_marker)))),
                  IsEmpty());
      EXPECT_THAT(test::files_that_contain(folder, some_of(m_entry)), IsEmpty());
      EXPECT_THAT(test::files_that_show(folder, m_key), IsEmpty());
    }
  }

  [[nodiscard]] std::vector<std::filesystem::path> stored_entries() const {
    std::vector<std::filesystem::path> found;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(m_folder.path() / "cache")) {
      if (file.path().extension() == ".clbin") {
        found.push_back(file.path());
      }
    }
    return found;
  }

  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "encrypted-").value();
  std::array<std::byte, 32> m_key{};
  std::filesystem::path m_path;
  Bytes m_entry;
};

float doubled(const cl::Context& context, const cl::Device& device, const cl::Program& program) {
  float value = 21.0F;
  const cl::Buffer values(context, CL_MEM_COPY_HOST_PTR, sizeof(value), &value);
  cl::Kernel kernel(program, "scale");
  EXPECT_EQ(kernel.setArg(0, values), CL_SUCCESS);
  cl_int code = CL_SUCCESS;
  // Oclgrind has no clCreateCommandQueueWithProperties, in which the ICD loader then never returns.
  const cl::CommandQueue queue(clCreateCommandQueue(context(), device(), 0, &code));
  EXPECT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(1)), CL_SUCCESS);
  EXPECT_EQ(queue.enqueueReadBuffer(values, CL_TRUE, 0, sizeof(value), &value), CL_SUCCESS);
  return value;
}

bool is_pocl(const test::InstalledDevice& installed) {
  return installed.name.starts_with("Portable Computing Language");
}

TEST_F(EncryptedOnDrivers, RunsAndLeavesNothingInTheFilesOfLibclbin) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    make_bundle(installed);
    const cl::Device device(installed.device, true);
    const cl::Context context(device);
    std::string reports;
    {
      const Bundle bundle = Bundle::open(m_path.string(), options());
      const auto load = [&](const LoadOptions& load_options, Origin origin) {
        Report report;
        const cl::Program program = bundle.load(context, device, "scale", load_options, &report);
        EXPECT_EQ(report.origin(), origin) << report.text();
        EXPECT_FLOAT_EQ(doubled(context, device, program), 42.0F);
        reports += report.text() + report.json();
      };
      load(LoadOptions(), Origin::entry);
      load(std::move(LoadOptions().build_options("-DRUN_TIME=1")), Origin::source);
      load(std::move(LoadOptions().fallback(Fallback::always)), Origin::source);

      clbin_builder_options settings{};
      settings.struct_size = sizeof(settings);
      settings.cache = CLBIN_SWITCH_ON;
      settings.cache_on_pocl = CLBIN_SWITCH_ON;
      const Builder builder(&settings);
      builder.add_bundle(bundle);
      for (const char* const options_of_build : {"", "-DRUN_TIME=1"}) {
        const std::string text = source_text(); // a Source borrows it
        const Source source(text, options_of_build);
        Report report;
        const cl::Program program = builder.build(context, device, source, LoadOptions(), &report);
        EXPECT_EQ(report.origin(), *options_of_build == '\0' ? Origin::entry : Origin::source);
        EXPECT_FLOAT_EQ(doubled(context, device, program), 42.0F);
        reports += report.text() + report.json();
      }
    }
    EXPECT_THAT(stored_entries(), IsEmpty());
    EXPECT_TRUE(std::filesystem::exists(m_folder.path() / "cache" / "attempts"));
    expect_no_secret(reports);
  }
}

TEST_F(EncryptedOnDrivers, StoresWhatItBuildsIfTheCallerSaysSo) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    make_bundle(installed);
    const cl::Device device(installed.device, true);
    const cl::Context context(device);
    const std::size_t before = stored_entries().size();
    LoadOptions load_options;
    load_options.build_options("-DRUN_TIME=1");
    for (const Origin origin : {Origin::source, is_pocl(installed) ? Origin::source //
                                                                   : Origin::user_cache}) {
      const Bundle bundle = Bundle::open(m_path.string(), options().allow_decrypted_builds());
      Report report;
      const cl::Program program = bundle.load(context, device, "scale", load_options, &report);
      EXPECT_EQ(report.origin(), origin) << report.text();
      EXPECT_FLOAT_EQ(doubled(context, device, program), 42.0F);
    }
    EXPECT_EQ(stored_entries().size(), before + (is_pocl(installed) ? 0U : 1U));
    EXPECT_THAT(test::files_that_show(m_folder.path(), m_key), IsEmpty());
  }
}

// Runs with libclbin_layer.so, in the mode that is the parameter. The ICD loader reads the
// environment once in a process: each test needs its own.
class EncryptedUnderTheLayer : public EncryptedOnDrivers,
                               public ::testing::WithParamInterface<const char*> {
protected:
  EncryptedUnderTheLayer() {
    std::filesystem::create_directories(m_folder.path() / "record");
    ::setenv("OPENCL_LAYERS", CLBIN_LAYER_LIBRARY, 1);
    ::setenv("CLBIN_LAYER_MODE", GetParam(), 1);
    ::setenv("CLBIN_LAYER_RECORD", (m_folder.path() / "record").c_str(), 1);
    ::setenv("CLBIN_LAYER_LOG", (m_folder.path() / "log").c_str(), 1);
    ::setenv("CLBIN_CACHE_POCL", "1", 1);
  }

  // Without entries, because the layer would store what a driver builds for them.
  void make_bundle_of_source() {
    format::ProgramInput program;
    program.name = "scale";
    program.variants = {{"default", ""}};
    program.source = format::SourcePackage{{"scale.cl", "scale.cl", source_text()}, {}};
    format::WriteOptions options;
    options.encryption = format::encryption_with(base::ContentKey::from_bytes(m_key).value());
    const auto bytes = format::write_bundle({"test", {program}}, options);
    ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
    m_path = m_folder.path() / "encrypted";
    std::ofstream(m_path, std::ios::binary) << base::as_text(*bytes);
  }

  // The bundles that the layer has written.
  [[nodiscard]] std::size_t bundles_of_layer() const {
    const std::filesystem::recursive_directory_iterator files(m_folder.path());
    return static_cast<std::size_t>(
        std::count_if(begin(files), end(files), [](const std::filesystem::directory_entry& file) {
          return file.path().extension() == ".clbin";
        }));
  }

  [[nodiscard]] std::uintmax_t log_bytes() const {
    return std::filesystem::file_size(m_folder.path() / "log");
  }

  [[nodiscard]] std::vector<std::filesystem::path> files_with_marker() const {
    return test::files_that_contain(m_folder.path(),
                                    std::as_bytes(std::span(k_marker, std::strlen(k_marker))));
  }
};

TEST_P(EncryptedUnderTheLayer, LeavesNothingInTheFilesOfTheLayer) {
  make_bundle_of_source();
  const Bundle bundle = Bundle::open(m_path.string(), options());
  const Builder builder;
  builder.add_bundle(bundle);
  const std::string text = source_text();
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    const cl::Device device(installed.device, true);
    const cl::Context context(device);
    const std::size_t bundles = bundles_of_layer();
    const std::uintmax_t logged = log_bytes();
    const auto with_marker = files_with_marker();
    EXPECT_FLOAT_EQ(doubled(context, device, bundle.load(context, device, "scale")), 42.0F);
    EXPECT_FLOAT_EQ(doubled(context, device, builder.build(context, device, Source(text))), 42.0F);
    EXPECT_EQ(bundles_of_layer(), bundles);
    EXPECT_EQ(log_bytes(), logged);
    EXPECT_EQ(files_with_marker(), with_marker);
    // The layer keeps the same source if it does not know that an encrypted bundle contains it.
    {
      cl::Program program(context, text);
      EXPECT_EQ(program.build(device), CL_SUCCESS);
      EXPECT_FLOAT_EQ(doubled(context, device, program), 42.0F);
    }
    EXPECT_EQ(bundles_of_layer(), bundles + 1);
    EXPECT_GT(log_bytes(), logged);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, EncryptedUnderTheLayer, ::testing::Values("cache", "record"));

} // namespace
} // namespace clbin
