// Runs the compile mode with its cache and a driver stub that logs its requests. Missing requests
// prove a hit.
#pragma once

#include "cache/keyed_store.hpp"
#include "unit/oclcc/compile/compile_case.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"

#include <sstream>
#include <thread>

namespace oclcc {

using clbin::cache::CacheSettings;
using clbin::cache::CacheUse;

struct CacheOutcome : CompileOutcome {
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

class CompileCacheCase : public CompileCase {
protected:
  void SetUp() override {
    CompileCase::SetUp();
    ASSERT_EQ(::setenv("STUB_LOG", log_path().c_str(), 1), 0);
    m_settings = stub_settings();
    m_cache = settings_in(m_folder.path() / "cache");
  }

  static void write(const std::filesystem::path& path, const std::string& text) {
    clbin::test::write_text(path, text);
  }
  static std::string contents(const std::filesystem::path& path) {
    return clbin::test::file_text(path);
  }

  CacheOutcome run() {
    write(log_path(), "");
    CacheOutcome outcome{CompileCase::run(), {}};
    std::istringstream log(contents(log_path()));
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
};

} // namespace oclcc
