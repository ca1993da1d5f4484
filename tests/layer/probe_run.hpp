// Runs api_probe with the layer or without, with caches of its own.
#pragma once

#include "base/file_io.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace clbin::test {

using Variables = std::map<std::string, std::string>;

struct ProbeResult {
  int exit_status = -1;
  std::vector<std::string> lines; // of standard output
  std::string errors;             // standard error
  std::vector<std::string> log;   // of the layer, without the process id

  [[nodiscard]] bool is_whole() const { return !lines.empty() && lines.back() == "end"; }
  [[nodiscard]] bool has_no_platform() const {
    return !lines.empty() && lines.front() == "no platform";
  }
  [[nodiscard]] bool has_line(const std::string& line) const {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  }
  // The lines of the log that contain `part`.
  [[nodiscard]] std::size_t count_log(const std::string& part) const;
  // The lines that a scenario printed.
  [[nodiscard]] std::size_t count_lines_of(const std::string& scenario) const;
};

// A folder with the driver's caches, the user cache, and what the probe reads.
class ProbeFolder {
public:
  ProbeFolder();
  [[nodiscard]] std::filesystem::path path() const { return m_folder.path(); }
  // Empties the caches of the drivers, and nothing else.
  void forget_driver_caches() const;

  // Starts the driver of this platform alone, if its .icd file has the name that it has here.
  // `wrapper` is a command that starts the probe, with the probe's command line as its arguments.
  [[nodiscard]] ProbeResult run(const std::string& platform,
                                const std::vector<std::string>& scenarios,
                                const Variables& variables, const std::string& wrapper = {}) const;
  // Under the layer, with a log.
  [[nodiscard]] ProbeResult run_under_layer(const std::string& platform,
                                            const std::vector<std::string>& scenarios,
                                            Variables variables = {},
                                            const std::string& wrapper = {}) const;

private:
  base::TemporaryFolder m_folder;
};

// The lines that differ, each with the scenario that it belongs to; empty if none does.
[[nodiscard]] std::string differences(const std::vector<std::string>& expected,
                                      const std::vector<std::string>& actual);

// The bundles that the layer wrote to a folder, as CLBIN_LAYER_BUNDLES lists them.
[[nodiscard]] std::string bundles_of(const std::filesystem::path& folder);

// The platforms of which tests know, as parts of their names.
inline const std::vector<std::string> k_probed_platforms{"Portable", "Oclgrind", "rusticl", "Intel",
                                                         "NVIDIA"};

} // namespace clbin::test
