// The compile mode for offline targets, with scripts instead of compilers.
#pragma once

#include "support/project_folders.hpp"
#include "unit/oclcc/compile/compile_case.hpp"

#include <algorithm>
#include <gmock/gmock.h>

namespace oclcc {

namespace fs = std::filesystem;
using clbin::format::BundleReader;

class OfflineCompile : public CompileCase {
protected:
  void SetUp() override {
    CompileCase::SetUp();
    m_options.targets = {"spirv:1.2"};
    m_settings.executable = "/nonexistent/worker"; // makes every start of a driver an error
    add_tool("clang", "cat kernel.cl > \"$(echo \"$@\" | sed 's/.*-o \\([^ ]*\\).*/\\1/')\"");
    add_tool("llvm-spirv", k_translates);
    add_tool("spirv-val", "exit 0");
    add_input("k", "kernel void k() {}");
  }

  // Copies a module of the test data, which contains kernels.
  inline static const std::string k_translates =
      "cp '" + (clbin::test::tests_folder() / "unit/format/binaries/arguments.spv").string() +
      "' kernel.spv";

  void add_tool(const std::string& name, const std::string& script,
                const std::string& version = "15.0.6") {
    const fs::path file = m_folder.path() / ("tool-" + name);
    std::ofstream(file) << "#!/bin/bash\n[ \"$1\" = --version ] && echo '" << name << " version "
                        << version << "' && exit\n"
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

  static std::vector<std::string> targets_of(const fs::path& path) {
    const BundleReader reader = sound_bundle(path);
    std::vector<std::string> targets;
    for (std::uint32_t i = 0; i < reader.entry_count(); ++i) {
      const auto entry = reader.entry(i);
      EXPECT_EQ(entry->kind, clbin::format::BinaryKind::spirv);
      EXPECT_FALSE(entry->kernels.empty());
      targets.push_back(entry->target.spec.str());
    }
    return targets;
  }

  void expect_failure(const std::string& message) {
    const CompileOutcome outcome = run();
    EXPECT_EQ(outcome.code, ExitCode::compile_failed);
    EXPECT_EQ(outcome.messages, "oclcc: error: k.cl: 'spirv:1.2': " + message + "\n");
    EXPECT_FALSE(fs::exists("out.clbin"));
  }
};

} // namespace oclcc
