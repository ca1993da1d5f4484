#include "support/fault_layer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace clbin::test {

namespace {

std::filesystem::path path_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

// Runs before any test, and therefore before any driver starts.
class FaultEnvironment : public ::testing::Environment {
public:
  // Ends the process on failure, because googletest would only skip the tests.
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "clbin-faults-XXXXXX").string();
    need(std::filesystem::exists(CLBIN_FAULT_LAYER), "build " CLBIN_FAULT_LAYER);
    need(mkdtemp(name.data()) != nullptr, "a folder for the scenario");
    m_folder = name;
    m_owner = getpid();
    need(setenv("OPENCL_LAYERS", CLBIN_FAULT_LAYER, 1) == 0, "OPENCL_LAYERS");
    need(setenv("CLBIN_FAULTS", (m_folder / "scenario").c_str(), 1) == 0, "CLBIN_FAULTS");
    need(setenv("CLBIN_FAULTS_LOG", (m_folder / "log").c_str(), 1) == 0, "CLBIN_FAULTS_LOG");
    set_faults("");
  }

  void TearDown() override {
    if (getpid() == m_owner) {
      std::error_code ignored;
      std::filesystem::remove_all(m_folder, ignored);
    }
  }

private:
  static void need(bool is_there, const char* what) {
    if (!is_there) {
      std::fprintf(stderr, "tests under the fault layer need: %s\n", what);
      std::abort();
    }
  }

  std::filesystem::path m_folder;
  pid_t m_owner = 0;
};

[[maybe_unused]] const auto* const k_fault_environment =
    ::testing::AddGlobalTestEnvironment(new FaultEnvironment);

} // namespace

void set_faults(const std::string& scenario) {
  std::ofstream(path_of("CLBIN_FAULTS"), std::ios::trunc) << scenario;
  std::ofstream(path_of("CLBIN_FAULTS_LOG"), std::ios::trunc).flush();
  // Succeeds only if the ICD loader has already loaded it.
  void* const library = dlopen(CLBIN_FAULT_LAYER, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    return;
  }
  auto* const reload = reinterpret_cast<void (*)()>(dlsym(library, "clbin_faults_reload"));
  ASSERT_NE(reload, nullptr);
  reload();
  dlclose(library);
}

std::vector<std::string> fault_log() {
  std::ifstream file(path_of("CLBIN_FAULTS_LOG"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line.substr(line.find(' ') + 1));
  }
  return lines;
}

std::vector<std::string> fault_log_lines(const std::vector<std::string>& parts) {
  std::vector<std::string> lines = fault_log();
  std::erase_if(lines, [&](const std::string& line) {
    return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return line.find(part) == std::string::npos;
    });
  });
  return lines;
}

} // namespace clbin::test
