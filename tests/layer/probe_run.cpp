#include "layer/probe_run.hpp"
#include "support/texts.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <string_view>
#include <sys/wait.h>

namespace clbin::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

constexpr const char* k_driver_caches[] = {"pocl", "mesa", "cuda", "xdg"};

// A part of the name of a platform, and its file of cmake/platforms.cmake.
struct IcdFile {
  std::string_view platform;
  const char* name;
};
constexpr IcdFile k_icd_files[] = {{"Portable", "pocl.icd"},
                                   {"Oclgrind", "oclgrind.icd"},
                                   {"rusticl", "rusticl.icd"},
                                   {"Intel", "intel_cpu.icd"},
                                   {"NVIDIA", "nvidia.icd"}};

// Returns a folder for OCL_ICD_VENDORS with the platform's file alone, because the others' drivers
// take as long to start. A folder, because Khronos's loader accepts no file. Returns std::nullopt
// if the tests see no such file.
std::optional<fs::path> vendors_of(const std::string& platform, const fs::path& parent) {
  const char* const all = std::getenv("OCL_ICD_VENDORS");
  const auto* const icd = std::find_if(std::begin(k_icd_files), std::end(k_icd_files),
                                       [&](const auto& it) { return it.platform == platform; });
  if (all == nullptr || icd == std::end(k_icd_files) || !fs::exists(fs::path(all) / icd->name)) {
    return std::nullopt;
  }
  const fs::path vendors = parent / ("vendors-" + platform);
  fs::create_directories(vendors);
  fs::copy_file(fs::path(all) / icd->name, vendors / icd->name,
                fs::copy_options::overwrite_existing);
  return vendors;
}

} // namespace

std::size_t ProbeResult::count_log(const std::string& part) const {
  std::size_t count = 0;
  for (const std::string& line : log) {
    count += line.find(part) == std::string::npos ? 0U : 1U;
  }
  return count;
}

std::size_t ProbeResult::count_lines_of(const std::string& scenario) const {
  const auto name = std::find(lines.begin(), lines.end(), scenario);
  if (name == lines.end()) {
    return 0;
  }
  const auto end = std::find_if(std::next(name), lines.end(),
                                [](const std::string& line) { return !line.starts_with(' '); });
  return static_cast<std::size_t>(std::distance(std::next(name), end));
}

std::string differences(const std::vector<std::string>& expected,
                        const std::vector<std::string>& actual) {
  std::string text;
  std::string scenario;
  for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    const std::string before = i < expected.size() ? expected[i] : "(no line)";
    const std::string after = i < actual.size() ? actual[i] : "(no line)";
    scenario = before.starts_with(' ') ? scenario : before;
    if (before != after) {
      text += scenario + ": '" + before + "' is '" + after + "'\n";
    }
  }
  return text;
}

std::string bundles_of(const fs::path& folder) {
  std::string bundles;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() == ".clbin") {
      bundles += (bundles.empty() ? "" : ":") + file.path().string();
    }
  }
  return bundles;
}

ProbeFolder::ProbeFolder() : m_folder(base::TemporaryFolder::create({}, "clbin-probe").value()) {
  forget_driver_caches();
  fs::create_directories(path() / "clbin");
  fs::create_directories(path() / "input");
  std::ofstream(path() / "input/answer.h") << "#define ANSWER 42\n";
  (void)std::system(fmt::format("spirv-as --target-env spv1.0 {} -o {} 2>/dev/null",
                                CLBIN_STORE_SPVASM, (path() / "input/store.spv").string())
                        .c_str());
}

void ProbeFolder::forget_driver_caches() const {
  for (const char* name : k_driver_caches) {
    fs::remove_all(path() / name);
    fs::create_directories(path() / name);
  }
}

ProbeResult ProbeFolder::run(const std::string& platform, const std::vector<std::string>& scenarios,
                             const Variables& variables, const std::string& wrapper) const {
  const std::string folder = path().string();
  std::string command =
      fmt::format("env -u OPENCL_LAYERS POCL_CACHE_DIR={0}/pocl MESA_SHADER_CACHE_DIR={0}/mesa "
                  "CUDA_CACHE_PATH={0}/cuda XDG_CACHE_HOME={0}/xdg CLBIN_CACHE_DIR={0}/clbin ",
                  folder);
  if (const auto vendors = vendors_of(platform, path())) {
    command += fmt::format("OCL_ICD_VENDORS={} ", vendors->string());
  }
  for (const auto& [name, value] : variables) {
    command += fmt::format("{}='{}' ", name, value);
  }
  command +=
      fmt::format("timeout 250 {} {} {} {}/input ", wrapper, CLBIN_API_PROBE, platform, folder);
  for (const std::string& scenario : scenarios) {
    command += scenario + " ";
  }
  command += fmt::format(">{0}/out 2>{0}/err", folder);
  fs::remove(path() / "log");
  ProbeResult result;
  const int status = std::system(command.c_str());
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.lines = lines_of(test::file_text(path() / "out"));
  result.errors = test::file_text(path() / "err");
  for (const std::string& line : lines_of(test::file_text(path() / "log"))) {
    result.log.push_back(line.substr(std::min(line.find(": "), line.size() - 2) + 2));
  }
  return result;
}

ProbeResult ProbeFolder::run_under_layer(const std::string& platform,
                                         const std::vector<std::string>& scenarios,
                                         Variables variables, const std::string& wrapper) const {
  variables.insert({"OPENCL_LAYERS", CLBIN_LAYER_LIBRARY});
  variables.insert({"CLBIN_LAYER_LOG", (path() / "log").string()});
  return run(platform, scenarios, variables, wrapper);
}

} // namespace clbin::test
