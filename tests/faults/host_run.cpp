#include "faults/host_run.hpp"

#include "base/file_io.hpp"
#include "base/text.hpp"
#include "support/fault_layer.hpp"
#include "support/texts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace clbin::test {

namespace {

constexpr int k_exit_skip = 77;
constexpr int k_exit_no_program = 127;

// Belongs to the test process, which removes it when it ends.
const std::filesystem::path& working_folder() {
  static const auto folder = base::TemporaryFolder::create({}, "clbin-hosts-").value();
  return folder.path();
}

struct Command {
  std::string program;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  std::function<void()> prepare;
  std::filesystem::path output;
};

// Runs in the child. Returns only if the program cannot be started.
int become(const Command& command) {
  for (const auto& [name, value] : command.environment) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  const int output = open(command.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (command.prepare) {
    command.prepare();
  }
  std::vector<char*> words{const_cast<char*>(command.program.c_str())};
  for (const std::string& argument : command.arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  execv(command.program.c_str(), words.data());
  return k_exit_no_program;
}

// --- platforms -----------------------------------------------------------------------------

const char* name_of(BundleKind kind) {
  switch (kind) {
  case BundleKind::entries:
    return "entries";
  case BundleKind::source:
    return "source";
  case BundleKind::two_drivers:
    return "two-drivers";
  case BundleKind::both:
    break;
  }
  return "both";
}

std::vector<std::string> devices_told(const std::string& output) {
  constexpr std::string_view k_device = "device ";
  std::vector<std::string> names;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(k_device)) {
      names.push_back(line.substr(k_device.size()));
    }
  }
  return names;
}

struct MakerRun {
  ChildEnd end;
  std::string output;
};

MakerRun run_maker(const std::filesystem::path& vendor, const std::vector<std::string>& arguments) {
  const Command command{CLBIN_MAKE_PLATFORM_BUNDLE,
                        arguments,
                        {{"OCL_ICD_VENDORS", vendor.string()}},
                        {},
                        working_folder() / "maker-output"};
  const ChildEnd end = run_in_child([&] { return become(command); });
  return {end, file_text(command.output)};
}

std::vector<std::filesystem::path> vendor_files() {
  const char* const variable = std::getenv("OCL_ICD_VENDORS");
  const std::filesystem::path place = variable == nullptr ? "/etc/OpenCL/vendors" : variable;
  if (!std::filesystem::is_directory(place)) {
    return {place};
  }
  std::vector<std::filesystem::path> files;
  for (const auto& item : std::filesystem::directory_iterator(place)) {
    if (item.path().extension() == ".icd") {
      files.push_back(item.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<HostPlatform> find_platforms() {
  std::vector<HostPlatform> platforms;
  for (const auto& file : vendor_files()) {
    const MakerRun run = run_maker(file, {});
    if (run.end.exit_code != k_exit_skip) {
      EXPECT_EQ(run.end, (ChildEnd{0, std::nullopt})) << file << "\n" << run.output;
      const auto devices = devices_told(run.output);
      platforms.push_back({devices.empty() ? "" : devices.front(), file, devices.size()});
    }
  }
  return platforms;
}

// --- output of the program -----------------------------------------------------------------

const char* origin_name(int origin) {
  constexpr std::array k_names{"none", "entry", "user cache", "il", "source"};
  return origin >= 0 && static_cast<std::size_t>(origin) < k_names.size()
             ? k_names[static_cast<std::size_t>(origin)]
             : "unknown origin";
}

const char* decision_name(int decision) {
  constexpr std::array k_names{"loaded",     "refused",  "not attempted",
                               "unreadable", "accepted", "recompiled"};
  return decision >= 0 && static_cast<std::size_t>(decision) < k_names.size()
             ? k_names[static_cast<std::size_t>(decision)]
             : "unknown decision";
}

int number_of(const std::string& text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// The last field contains the rest.
std::vector<std::string> split(std::string_view text, char separator, std::size_t field_count) {
  std::vector<std::string> fields;
  while (fields.size() + 1 < field_count && text.find(separator) != std::string_view::npos) {
    const auto end = text.find(separator);
    fields.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  fields.emplace_back(text);
  fields.resize(field_count);
  return fields;
}

AttemptTold parse_attempt(const std::string& text) {
  const auto fields = split(text, '|', 7);
  return {number_of(fields[0]),
          number_of(fields[1]),
          fields[2],
          fields[3],
          number_of(fields[4]),
          fields[5],
          fields[6]};
}

void parse_layer_log(const std::string& text, LoadTold& load) {
  if (text.starts_with("served from a bundle: ")) {
    load.outcome = "entry";
  } else if (text.starts_with("served from the user cache: ")) {
    load.outcome = "user cache";
  } else if (text.starts_with("built: ")) {
    load.outcome = "source";
  }
}

void parse_line(const std::string& line, std::vector<LoadTold>& loads) {
  const auto words = split(line, ' ', 2);
  if (words[0] == "load") {
    loads.emplace_back();
  }
  if (loads.empty()) {
    return;
  }
  LoadTold& load = loads.back();
  if (words[0].starts_with("libclbin_layer[")) {
    parse_layer_log(words[1], load);
  }
  if (words[0] == "attempt") {
    load.attempts.push_back(parse_attempt(words[1]));
  } else if (words[0] == "warning") {
    load.warnings.push_back(words[1]);
  } else if (words[0] == "loaded") {
    load.outcome = origin_name(number_of(words[1]));
  } else if (words[0] == "error") {
    const auto parts = split(words[1], ' ', 2);
    load.outcome = parts[0];
    load.message = parts[1];
  } else if (words[0] == "computed") {
    load.computed.push_back(words[1]);
  }
}

std::vector<LoadTold> parse_output(const std::string& output) {
  std::vector<LoadTold> loads;
  for (const std::string_view line : base::split_lines(output)) {
    parse_line(std::string(line), loads);
  }
  return loads;
}

Command host_command(const HostPlatform& platform, const std::filesystem::path& bundle,
                     const HostStart& start) {
  const char* const other = std::getenv("CLBIN_TEST_HOST"); // that of another system
  Command command{other == nullptr ? CLBIN_HOST_PROGRAM : other, start.arguments, start.environment,
                  start.prepare, working_folder() / "output"};
  command.arguments.insert(command.arguments.begin(), bundle.string());
  command.environment.emplace("OCL_ICD_VENDORS", platform.vendor.string());
  if (start.way != HostWay::load) {
    command.arguments.insert(command.arguments.begin(),
                             start.way == HostWay::build ? "--build" : "--plain");
  }
  if (start.way == HostWay::layer) {
    const char* const others = std::getenv("OPENCL_LAYERS"); // the fault layer
    command.environment.emplace("OPENCL_LAYERS",
                                others == nullptr ? CLBIN_LAYER_LIBRARY
                                                  : std::string(others) + ":" CLBIN_LAYER_LIBRARY);
    command.environment.emplace("CLBIN_LAYER_LOG", "-");
  }
  if (start.days_later != 0) {
    command.environment.emplace("LD_PRELOAD", CLBIN_MOVED_CLOCK);
    command.environment.emplace("CLBIN_CLOCK_OFFSET", std::to_string(86'400L * start.days_later));
  }
  return command;
}

} // namespace

std::filesystem::path HostPlatform::bundle(BundleKind kind) const {
  auto path = working_folder() /
              fmt::format("{}-{}-{}.clbin", vendor.stem().string(), device_count, name_of(kind));
  if (!std::filesystem::exists(path)) {
    const MakerRun run = run_maker(vendor, {path.string(), name_of(kind)});
    EXPECT_EQ(run.end, (ChildEnd{0, std::nullopt})) << vendor << "\n" << run.output;
  }
  return path;
}

bool HostPlatform::has_own_cache() const {
  return name.starts_with("Portable Computing Language");
}

bool HostPlatform::is_rusticl_22() const {
  return name.starts_with("rusticl") && name.find(" / 22.") != std::string::npos;
}

bool HostPlatform::needs_equal_identity() const {
  return has_own_cache() || name.starts_with("rusticl") || name.starts_with("Oclgrind");
}

const std::vector<HostPlatform>& host_platforms() {
  static std::map<std::string, std::vector<HostPlatform>> found;
  const char* const devices = std::getenv("POCL_DEVICES");
  const auto [place, is_new] = found.try_emplace(devices == nullptr ? "" : devices);
  if (is_new) {
    place->second = find_platforms();
  }
  return place->second;
}

const HostPlatform* fastest_cached_platform() {
  const HostPlatform* found = nullptr;
  for (const HostPlatform& platform : host_platforms()) {
    if (!platform.has_own_cache() && (found == nullptr || platform.name.starts_with("Oclgrind"))) {
      found = &platform;
    }
  }
  return found;
}

std::vector<std::string> LoadTold::path() const {
  std::vector<std::string> steps;
  for (const AttemptTold& attempt : attempts) {
    std::string step = decision_name(attempt.decision);
    step += attempt.rule.empty() ? "" : " " + attempt.rule;
    if (attempt.cl_code != 0) {
      step += fmt::format(": {} {}", attempt.stage, attempt.cl_code);
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string HostRun::summary() const {
  if (end.signal_number.has_value()) {
    return fmt::format("SIG{}", sigabbrev_np(*end.signal_number));
  }
  if (loads.empty() || end.exit_code > 1) {
    return fmt::format("exit code {}", end.exit_code.value_or(-1));
  }
  std::string text = loads.back().outcome;
  for (const std::string& computed : loads.back().computed) {
    text += " " + computed;
  }
  return text;
}

const LoadTold& HostRun::last() const {
  static const LoadTold nothing;
  return loads.empty() ? nothing : loads.back();
}

std::unique_ptr<ChildProcess> start_host(const HostPlatform& platform,
                                         const std::filesystem::path& bundle,
                                         const HostStart& start) {
  Command command = host_command(platform, bundle, start);
  command.output = working_folder() / "ignored";
  return std::make_unique<ChildProcess>([&] { return become(command); });
}

void wait_for_fault(ChildProcess& child, const std::string& part) {
  while (child.is_running() && fault_log_lines({part}).empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

ChildEnd run_program(const std::string& program, const std::vector<std::string>& arguments,
                     const std::map<std::string, std::string>& environment) {
  const Command command{program, arguments, environment, {}, working_folder() / "program-output"};
  const ChildEnd end = run_in_child([&] { return become(command); });
  if (end != ChildEnd{0, std::nullopt}) {
    std::fputs(file_text(command.output).c_str(), stderr);
  }
  return end;
}

std::vector<HostRun> run_hosts(const HostPlatform& platform, const std::filesystem::path& bundle,
                               const HostStart& start, std::size_t count) {
  Command command = host_command(platform, bundle, start);
  const auto output_of = [](std::size_t index) {
    return working_folder() / ("output-" + std::to_string(index));
  };
  std::vector<std::unique_ptr<ChildProcess>> children;
  for (std::size_t index = 0; index < count; ++index) {
    command.output = output_of(index);
    children.push_back(std::make_unique<ChildProcess>([&] { return become(command); }));
  }
  std::vector<HostRun> runs;
  for (std::size_t index = 0; index < count; ++index) {
    HostRun& run = runs.emplace_back();
    if (!start.kill_at.empty()) {
      wait_for_fault(*children[index], start.kill_at);
      children[index]->kill_it(SIGKILL);
    }
    run.end = children[index]->wait();
    run.output = file_text(output_of(index));
    run.loads = parse_output(run.output);
  }
  return runs;
}

HostRun run_host(const HostPlatform& platform, const std::filesystem::path& bundle,
                 const HostStart& start) {
  return std::move(run_hosts(platform, bundle, start, 1).front());
}

} // namespace clbin::test
