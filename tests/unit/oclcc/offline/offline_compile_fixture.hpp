// The compile mode for offline targets, with scripts instead of compilers.
#pragma once

#include "compile.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "support/project_folders.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oclcc {

namespace fs = std::filesystem;
using clbin::format::BundleReader;

struct OfflineOutcome {
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
    m_settings.executable = "/nonexistent/worker"; // makes every start of a driver an error
    add_tool("clang", "cat kernel.cl > \"$(echo \"$@\" | sed 's/.*-o \\([^ ]*\\).*/\\1/')\"");
    add_tool("llvm-spirv", k_translates);
    add_tool("spirv-val", "exit 0");
    std::ofstream("k.cl") << "kernel void k() {}\n";
    m_options.inputs = {{"k.cl", "k"}};
  }
  void TearDown() override { fs::current_path(m_before); }

  // Copies a module of the test data, which contains kernels.
  inline static const std::string k_translates =
      "cp '" + (clbin::test::tests_folder() / "unit/format/binaries/arguments.spv").string() +
      "' kernel.spv";

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

  OfflineOutcome run() {
    testing::internal::CaptureStderr();
    Reporter reporter(m_options.color, m_options.verbosity);
    OfflineOutcome outcome;
    outcome.code = compile(m_options, m_settings, {m_cache}, reporter);
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
    const OfflineOutcome outcome = run();
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

} // namespace oclcc
