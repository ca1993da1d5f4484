// Runs the compile mode on every platform of this machine.
#include "compile_case.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"
#include "worker/installed_devices.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

using clbin::format::BundleReader;
using ::testing::HasSubstr;

constexpr const char* k_program = R"(#include "point.clh"
__kernel void move_points(__global struct point* restrict points, const float dx, int n) {
  const int i = get_global_id(0);
  if (i < n) {
    points[i].x += dx;
  }
}
__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void tile(__global float* out, __local float* scratch) {
  const size_t l = get_local_id(1) * 16 + get_local_id(0);
  scratch[l] = (float)get_global_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = scratch[255 - l] * SCALE;
}
)";
constexpr const char* k_header = "struct point { float x; float y; };\n";
constexpr const char* k_other_program =
    "struct point { int a, b, c; };\n"
    "__kernel void other(__global struct point* p) { p[get_global_id(0)].a = 1; }\n";
constexpr const char* k_broken_program = "__kernel void broken(__global float* a) {\n"
                                         "  a[0] = missing;\n"
                                         "}\n";

class CompilePlatforms : public ::testing::Test {
protected:
  void SetUp() override {
    m_settings.executable = oclcc_program();
    const auto installed = worker::find_installed_devices(m_settings, worker::PropertyQuery::skip);
    if (!installed) {
      GTEST_SKIP() << installed.error().message;
    }
    m_devices = installed->devices;
    auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
    ASSERT_TRUE(folder) << folder.error().message;
    m_folder.emplace(std::move(*folder));
  }

  // Runs in a separate folder, with new temporary and cache folders.
  CompileOutcome run_in(const std::string& name, unsigned jobs,
                        const std::vector<std::string>& programs,
                        FailurePolicy failure = FailurePolicy::stop) {
    const std::filesystem::path folder = m_folder->path() / name;
    std::filesystem::create_directories(folder / "tmp");
    ::setenv("TMPDIR", (folder / "tmp").c_str(), 1);
    ::setenv("POCL_CACHE_DIR", (folder / "tmp" / "pocl cache").c_str(), 1);
    Options options;
    options.color = ColorMode::never;
    options.jobs = jobs;
    options.failure = failure;
    options.driver_options = {"-DSCALE=2"};
    std::ofstream(folder / "point.clh") << k_header;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder);
    for (const std::string& program : programs) {
      const std::string file = "p" + std::to_string(options.inputs.size()) + ".cl";
      std::ofstream(file) << program;
      options.inputs.push_back({file, std::filesystem::path(file).stem().string()});
    }
    options.output = "out.clbin";
    testing::internal::CaptureStderr();
    Reporter reporter(options.color, options.verbosity);
    CompileOutcome outcome;
    outcome.code = compile(options, m_settings, {}, reporter);
    outcome.messages = testing::internal::GetCapturedStderr();
    std::filesystem::current_path(before);
    return outcome;
  }

  [[nodiscard]] std::string bytes_in(const std::string& name) const {
    return clbin::test::file_text(m_folder->path() / name / "out.clbin");
  }

  [[nodiscard]] BundleReader open_in(const std::string& name) const {
    return sound_bundle(m_folder->path() / name / "out.clbin");
  }

  // Returns "device digest" for each entry.
  static std::vector<std::string> digests(const BundleReader& reader, const char* program) {
    const auto manifest = reader.read_manifest(*reader.find_group(program, "default"));
    EXPECT_TRUE(manifest) << manifest.error().message;
    std::vector<std::string> all;
    for (const auto& entry : manifest->entries) {
      all.push_back(entry.target.identity.device_name + " " + entry.raw_digest);
    }
    return all;
  }

  worker::WorkerSettings m_settings;
  std::vector<worker::DeviceDescription> m_devices;
  std::optional<clbin::base::TemporaryFolder> m_folder;
};

TEST_F(CompilePlatforms, MakeAnEntryEach) {
  const CompileOutcome outcome = run_in("a", 0, {k_program});
  ASSERT_EQ(outcome.code, ExitCode::success) << outcome.messages;
  EXPECT_EQ(outcome.messages, "");
  const BundleReader reader = open_in("a");
  const auto group = reader.find_group("p0", "default");
  ASSERT_TRUE(group) << group.error().message;
  for (const worker::DeviceDescription& device : m_devices) {
    clbin::format::Target target;
    target.identity = device.identity;
    const auto entries = reader.find_exact(*group, clbin::format::target_digest(target));
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 1U) << device.identity.device_name;
    EXPECT_THAT(entries->front().kernels, ::testing::ElementsAre("move_points", "tile"));
  }
}

TEST_F(CompilePlatforms, ReflectEveryKernel) {
  ASSERT_EQ(run_in("a", 0, {k_program}).code, ExitCode::success);
  const BundleReader reader = open_in("a");
  const auto manifest = reader.read_manifest(*reader.find_group("p0", "default"));
  ASSERT_TRUE(manifest) << manifest.error().message;
  for (const auto& entry : manifest->entries) {
    SCOPED_TRACE(entry.target.identity.device_name);
    ASSERT_EQ(entry.kernels.size(), 2U);
    const auto& kernel = entry.kernels[0];
    ASSERT_TRUE(kernel.arguments);
    ASSERT_EQ(kernel.arguments->size(), 3U);
    EXPECT_EQ(kernel.arguments->at(0).name, "points");
    EXPECT_EQ(kernel.arguments->at(0).address_space, clbin::format::AddressSpace::global);
    EXPECT_EQ(kernel.arguments->at(1).name, "dx");
    EXPECT_EQ(kernel.arguments->at(1).type_name, "float");
    EXPECT_EQ(entry.kernels[1].required_work_group_size, (std::array<std::uint64_t, 3>{16, 16, 1}));
  }
}

TEST_F(CompilePlatforms, GiveTheSameBytesInAnotherFolderWithOtherCachesAndJobs) {
  ASSERT_EQ(run_in("first", 1, {k_program, k_other_program}).code, ExitCode::success);
  ASSERT_EQ(run_in("second folder", 4, {k_program, k_other_program}).code, ExitCode::success);
  EXPECT_EQ(bytes_in("first").size(), bytes_in("second folder").size());
  EXPECT_TRUE(bytes_in("first") == bytes_in("second folder"));
}

// A worker must build the same binary after other builds as a fresh worker does.
TEST_F(CompilePlatforms, GiveTheSameBinaryAloneAndAfterOthers) {
  ASSERT_EQ(run_in("alone", 1, {k_program}).code, ExitCode::success);
  ASSERT_EQ(run_in("after", 1, {k_program, k_other_program, k_program}).code, ExitCode::success);
  const BundleReader alone = open_in("alone");
  const BundleReader after = open_in("after");
  EXPECT_EQ(digests(after, "p0"), digests(alone, "p0"));
  EXPECT_EQ(digests(after, "p2"), digests(alone, "p0"));
}

// PoCL remembers loaded kernels: the second of two equal programs once had no code.
TEST_F(CompilePlatforms, GiveTheSameBinaryWhateverEqualProgramsWereBuiltBefore) {
  const std::string commented = std::string("// not the same text\n") + k_program;
  ASSERT_EQ(run_in("alone", 1, {commented}).code, ExitCode::success);
  ASSERT_EQ(run_in("after", 1, {k_program, commented}).code, ExitCode::success);
  EXPECT_EQ(digests(open_in("after"), "p1"), digests(open_in("alone"), "p0"));
}

TEST_F(CompilePlatforms, ReportAnErrorAtTheUsersPathAndLeaveTheOutputAlone) {
  std::filesystem::create_directory(m_folder->path() / "a");
  std::ofstream(m_folder->path() / "a" / "out.clbin") << "old";
  const CompileOutcome outcome = run_in("a", 0, {k_broken_program});
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages,
              HasSubstr("p0.cl:2:10: error: use of undeclared identifier 'missing'"));
  EXPECT_EQ(bytes_in("a"), "old");
}

bool is_clang_based(const worker::DeviceDescription& device) {
  const auto family = clbin::format::device_family(device.identity);
  return family == clbin::format::DeviceFamily::pocl ||
         family == clbin::format::DeviceFamily::rusticl ||
         family == clbin::format::DeviceFamily::oclgrind;
}

// clang's own test of its crash handling crashes every compiler that is based on it.
TEST_F(CompilePlatforms, CostOnlyTheUnitWhenACompilerReallyCrashes) {
  const CompileOutcome outcome =
      run_in("a", 2, {"#pragma clang __debug crash\n__kernel void f() {}\n", k_other_program},
             FailurePolicy::keep_going);
  std::size_t crashed = 0;
  for (const worker::DeviceDescription& device : m_devices) {
    if (is_clang_based(device)) {
      ++crashed;
      EXPECT_THAT(outcome.messages, HasSubstr("oclcc: error: p0.cl: the compiler of '" +
                                              device.identity.device_name + "' crashed (signal "));
    }
  }
  if (crashed == 0) {
    GTEST_SKIP() << "no compiler of this machine is made from clang";
  }
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  const BundleReader reader = open_in("a");
  const auto group = reader.find_group("p1", "default");
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(group->entry_count, m_devices.size());
}

TEST_F(CompilePlatforms, KeepGoingWithTheProgramsThatCompile) {
  const CompileOutcome outcome =
      run_in("a", 0, {k_broken_program, k_other_program}, FailurePolicy::keep_going);
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  const BundleReader reader = open_in("a");
  EXPECT_EQ(reader.group_count(), 1U);
  EXPECT_TRUE(reader.find_group("p1", "default"));
}

TEST_F(CompilePlatforms, LeaveNoTemporaryFileBehind) {
  ASSERT_EQ(run_in("a", 0, {k_program}).code, ExitCode::success);
  EXPECT_TRUE(std::filesystem::is_empty(m_folder->path() / "a" / "tmp"));
}

} // namespace
} // namespace oclcc
