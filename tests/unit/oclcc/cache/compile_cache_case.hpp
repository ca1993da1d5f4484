// Runs the compile mode with its cache and a driver stub that logs its requests. Missing requests
// prove a hit.
#pragma once

#include "compile.hpp"

#include "base/file_io.hpp"
#include "cache/keyed_store.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <thread>

namespace oclcc {

using clbin::cache::CacheSettings;
using clbin::cache::CacheUse;

struct CacheOutcome {
  ExitCode code = ExitCode::success;
  std::string messages;
  std::vector<std::string> builds; // the builds requested from the stubs
  std::size_t workers = 0;         // workers that were started
};

inline CacheSettings settings_in(const std::filesystem::path& folder) {
  CacheSettings settings;
  settings.use = CacheUse::on;
  settings.folder = folder;
  settings.now = [] { return std::chrono::system_clock::now(); };
  settings.pause = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); };
  return settings;
}

class CompileCacheCase : public ::testing::Test {
protected:
  void SetUp() override {
    m_before = std::filesystem::current_path();
    std::filesystem::current_path(m_folder.path());
    ASSERT_EQ(::setenv("STUB_LOG", log_path().c_str(), 1), 0);
    m_options.output = "out.clbin";
    m_options.color = ColorMode::never;
    m_settings.executable = worker_stub();
    m_settings.arguments = {"devices"};
    m_cache = settings_in(m_folder.path() / "cache");
  }
  void TearDown() override { std::filesystem::current_path(m_before); }

  static void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  static std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // Adds a program whose text controls the stub.
  void add_input(const std::string& name, const std::string& text) {
    write(name + ".cl", text + "\n");
    m_options.inputs.push_back({name + ".cl", name});
  }

  CacheOutcome run() {
    write(log_path(), "");
    testing::internal::CaptureStderr();
    Reporter reporter(m_options.color, m_options.verbosity);
    CacheOutcome outcome;
    outcome.code = compile(m_options, m_settings, {m_cache}, reporter);
    outcome.messages = testing::internal::GetCapturedStderr();
    std::ifstream log(log_path());
    for (std::string line; std::getline(log, line);) {
      outcome.workers += line == "start" ? 1U : 0U;
      if (line.starts_with("build ")) {
        outcome.builds.push_back(line.substr(6));
      }
    }
    return outcome;
  }
  // Returns the messages of -v about the cache, one line per unit.
  std::vector<std::string> notes_of_run() { return verbose_lines("compile cache: "); }
  // Returns the lines of a run with -v that contain `part`.
  std::vector<std::string> verbose_lines(std::string_view part) {
    m_options.verbosity = Verbosity::verbose;
    const CacheOutcome outcome = run();
    m_options.verbosity = Verbosity::normal;
    std::vector<std::string> found;
    std::istringstream lines(outcome.messages);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(part) != std::string::npos) {
        found.push_back(line);
      }
    }
    return found;
  }

  [[nodiscard]] std::filesystem::path log_path() const { return m_folder.path() / "stub.log"; }
  [[nodiscard]] std::vector<std::filesystem::path> entries() const { return files(".clbin"); }
  [[nodiscard]] std::vector<std::filesystem::path> finished_bundles() const {
    return files(".bundle");
  }
  [[nodiscard]] std::vector<std::filesystem::path> files(const std::string& extension) const {
    std::vector<std::filesystem::path> paths;
    for (const auto& item : std::filesystem::directory_iterator(m_cache.folder / "compilations")) {
      if (item.path().extension() == extension) {
        paths.push_back(item.path());
      }
    }
    return paths;
  }

  clbin::base::TemporaryFolder m_folder =
      clbin::base::TemporaryFolder::create({}, "oclcc-cache-test-").value();
  std::filesystem::path m_before;
  Options m_options;
  worker::WorkerSettings m_settings;
  CacheSettings m_cache;
};

} // namespace oclcc
