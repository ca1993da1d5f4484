// The compile mode for offline targets, with scripts instead of compilers: every fault, on any
// machine.
#include "compile.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {
namespace {

namespace fs = std::filesystem;
using clbin::format::BundleReader;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Outcome {
  ExitCode code = ExitCode::success;
  std::string messages;
};

class OfflineCompile : public ::testing::Test {
protected:
  void SetUp() override {
    m_before = fs::current_path();
    fs::current_path(m_folder.path());
    m_options.output = "out.clbin";
    m_options.color = ColorMode::never;
    m_options.targets = {"spirv:1.2"};
    m_settings.executable = "/nonexistent/worker"; // a driver that starts is an error
    add_tool("clang", "cat kernel.cl > \"$(echo \"$@\" | sed 's/.*-o \\([^ ]*\\).*/\\1/')\"");
    add_tool("llvm-spirv", k_translates);
    add_tool("spirv-val", "exit 0");
    std::ofstream("k.cl") << "kernel void k() {}\n";
    m_options.inputs = {{"k.cl", "k"}};
  }
  void TearDown() override { fs::current_path(m_before); }

  // Takes the module of the fixtures, which has kernels.
  static constexpr const char* k_translates =
      "cp '" CLBIN_TEST_DATA "/unit/format/binaries/arguments.spv' kernel.spv";

  void add_tool(const std::string& name, const std::string& script) {
    const fs::path file = m_folder.path() / ("tool-" + name);
    std::ofstream(file) << "#!/bin/bash\n[ \"$1\" = --version ] && echo '" << name
                        << " version 15.0.6' && exit\n"
                        << "echo >> '" << starts_file(name).string() << "'\n"
                        << script << "\n";
    fs::permissions(file, fs::perms::owner_all);
    m_options.tools[name] = file;
  }
  [[nodiscard]] fs::path starts_file(const std::string& name) const {
    return m_folder.path() / ("starts-" + name);
  }
  [[nodiscard]] std::size_t starts(const std::string& name) const {
    std::ifstream file(starts_file(name));
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
  }

  Outcome run() {
    testing::internal::CaptureStderr();
    Reporter reporter(m_options.color, m_options.verbosity);
    Outcome outcome;
    outcome.code = compile(m_options, m_settings, m_cache, reporter);
    outcome.messages = testing::internal::GetCapturedStderr();
    return outcome;
  }

  static std::vector<std::string> targets_of(const fs::path& path) {
    const auto source = clbin::base::open_file_source(path);
    EXPECT_TRUE(source) << source.error().message;
    const auto reader = BundleReader::open(*source, {}, clbin::format::TrailingBytes::refuse);
    EXPECT_TRUE(reader) << reader.error().message;
    EXPECT_TRUE(reader->verify());
    std::vector<std::string> targets;
    for (std::uint32_t i = 0; i < reader->entry_count(); ++i) {
      const auto entry = reader->entry(i);
      EXPECT_EQ(entry->kind, clbin::format::BinaryKind::spirv);
      EXPECT_FALSE(entry->kernels.empty());
      targets.push_back(entry->target.spec.str());
    }
    return targets;
  }

  void expect_failure(const std::string& message) {
    const Outcome outcome = run();
    EXPECT_EQ(outcome.code, ExitCode::compile_failed);
    EXPECT_EQ(outcome.messages, "oclcc: error: k.cl: 'spirv:1.2': " + message + "\n");
    EXPECT_FALSE(fs::exists("out.clbin"));
  }

  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-test-").value();
  fs::path m_before;
  Options m_options;
  worker::WorkerSettings m_settings;
  clbin::cache::CacheSettings m_cache; // off
};

TEST_F(OfflineCompile, MakesAnEntryForEachTargetWithoutADriver) {
  m_options.targets = {"spirv:1.2,1.0", "spirv:1.2:32"};
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_EQ(outcome.messages, "");
  EXPECT_THAT(targets_of("out.clbin"),
              ::testing::UnorderedElementsAre("spirv:1.0", "spirv:1.2:32", "spirv:1.2"));
}

TEST_F(OfflineCompile, GivesTheSameBytesWithAnyNumberOfJobsAndOrderOfTargets) {
  m_options.targets = {"spirv:1.2", "spirv:1.0"};
  m_options.jobs = 1;
  EXPECT_EQ(run().code, ExitCode::success);
  fs::rename("out.clbin", "one.clbin");
  m_options.targets = {"spirv:1.0", "spirv:1.2", "spirv:1.2"};
  m_options.jobs = 4;
  EXPECT_EQ(run().code, ExitCode::success);
  std::ifstream one("one.clbin", std::ios::binary);
  std::ifstream four("out.clbin", std::ios::binary);
  EXPECT_TRUE(std::equal(std::istreambuf_iterator<char>(one), {},
                         std::istreambuf_iterator<char>(four), {}));
}

TEST_F(OfflineCompile, RecordsTheVersionsOfItsTools) {
  ASSERT_EQ(run().code, ExitCode::success);
  const auto source = clbin::base::open_file_source("out.clbin");
  const auto reader = BundleReader::open(*source, {}, clbin::format::TrailingBytes::refuse);
  const auto group = reader->find_group("k", "default");
  ASSERT_TRUE(group);
  const auto manifest = reader->read_manifest(*group);
  ASSERT_TRUE(manifest);
  const auto& tools = manifest->entries[0].tools;
  EXPECT_EQ(tools.at("clang"), "15.0.6");
  EXPECT_EQ(tools.at("llvm-spirv"), "15.0.6");
  EXPECT_EQ(tools.count("driver"), 0U);
}

TEST_F(OfflineCompile, NamesTheUsersFileInDiagnostics) {
  add_tool("clang", "echo \"kernel.cl:1:8: error: no such type\" >&2; exit 1");
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages, HasSubstr("k.cl:1:8: error: no such type\n"));
  EXPECT_EQ(starts("llvm-spirv"), 0U);
  EXPECT_FALSE(fs::exists("out.clbin"));
}

TEST_F(OfflineCompile, FailsTheUnitOfAToolThatFails) {
  add_tool("llvm-spirv", "echo cannot translate >&2; exit 3");
  expect_failure("llvm-spirv ended with 3: cannot translate");
}

TEST_F(OfflineCompile, FailsTheUnitOfAToolThatCrashes) {
  add_tool("llvm-spirv", "kill -SEGV $$");
  expect_failure("tool-llvm-spirv crashed (signal 11)");
}

TEST_F(OfflineCompile, GivesUpOnAToolThatHangs) {
  add_tool("spirv-val", "exec sleep 1000");
  m_options.timeout_seconds = 2;
  expect_failure("tool-spirv-val did not finish within 2 s");
}

TEST_F(OfflineCompile, RefusesAModuleThatIsNotValid) {
  add_tool("spirv-val", "echo 'error: line 3: no such id'; exit 1");
  expect_failure("spirv-val ended with 1: error: line 3: no such id");
}

TEST_F(OfflineCompile, RefusesGarbage) {
  add_tool("llvm-spirv", "echo garbage, which is long enough for a header > kernel.spv");
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::compile_failed);
  EXPECT_THAT(outcome.messages, HasSubstr("'spirv:1.2': "));
  EXPECT_FALSE(fs::exists("out.clbin"));
}

TEST_F(OfflineCompile, FailsTheUnitOfAToolThatWritesNothing) {
  add_tool("llvm-spirv", "exit 0");
  expect_failure("llvm-spirv wrote no file");
}

TEST_F(OfflineCompile, WarnsOfOptionsWithoutEffect) {
  m_options.driver_options = {"-cl-opt-disable"};
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::success);
  EXPECT_THAT(outcome.messages, HasSubstr("'-cl-opt-disable' has no effect on 'spirv:1.2'"));
}

TEST_F(OfflineCompile, RefusesUnknownOptions) {
  m_options.driver_options = {"-cl-nv-arch=sm_90"};
  expect_failure("its compiler does not know the option '-cl-nv-arch=sm_90'");
}

TEST_F(OfflineCompile, RefusesATargetThatDoesNotExist) {
  m_options.targets = {"spirv:9.9"};
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::command_line);
  EXPECT_THAT(outcome.messages, HasSubstr("--list-targets"));
}

TEST_F(OfflineCompile, EndsWithTheStatusOfAMissingToolBeforeItStartsAny) {
  m_options.tools["clang"] = "/nonexistent/clang";
  const Outcome outcome = run();
  EXPECT_EQ(outcome.code, ExitCode::file);
  EXPECT_EQ(starts("llvm-spirv"), 0U);
}

TEST_F(OfflineCompile, StartsNoToolForACachedUnit) {
  m_cache.use = clbin::cache::CacheUse::on;
  m_cache.folder = m_folder.path() / "cache";
  m_cache.now = [] { return std::chrono::system_clock::now(); };
  m_cache.pause = [](std::chrono::milliseconds) {};
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(starts("clang"), 1U);
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(starts("clang"), 1U);
  EXPECT_EQ(starts("spirv-val"), 1U);
  add_tool("clang", std::string("true # changed\n") + "cp kernel.cl kernel.bc");
  ASSERT_EQ(run().code, ExitCode::success);
  EXPECT_EQ(starts("clang"), 2U) << "another compiler may make other code";
}

} // namespace
} // namespace oclcc
