// The faults, where they happen, and the required results: the table that scenario_table_test.cpp
// runs.
#pragma once

#include "faults/host_run.hpp"

#include <map>
#include <string>
#include <vector>

namespace clbin::test {

// The right results, which the host program prints after the origin of the program.
inline const std::string k_right = " 42 63";

// One start of the host program.
struct StartRow {
  std::string faults{};  // fault_scenario.hpp
  std::string summary{}; // HostRun::summary
  // LoadTold::path; empty: not checked (a process that crashed prints nothing).
  std::vector<std::string> path{};
  // Part of the only warning of the report; empty: there must be none.
  std::string warning{};
  // Text that no line of the fault layer's log may contain.
  std::string never_called{};
  std::string kill_at{}; // HostStart
  int days_later = 0;    // HostStart
};

enum class Needs {
  any_platform,
  equal_identity,
  two_devices,
  sub_devices,
  user_cache,
  rusticl_22, // its format begins with no magic: see HostPlatform::is_rusticl_22
  oclgrind
};

// `one`: the fault layer answers in place of the driver, so the platform cannot change the result.
enum class Platforms { one, each };

// The starts of a scenario run one after another, with one cache folder, which is empty at first.
struct Scenario {
  std::string name{};
  BundleKind bundle = BundleKind::both;
  std::vector<std::string> arguments{};
  std::vector<StartRow> starts{};
  Needs needs = Needs::any_platform;
  std::map<std::string, std::string> environment{};
  Platforms platforms = Platforms::one;
};

// Runs the scenario on every platform that `needs` permits, because the driver itself takes part.
[[nodiscard]] inline Scenario on_each(Scenario scenario) {
  scenario.platforms = Platforms::each;
  return scenario;
}

// By group, because each group is a test.
[[nodiscard]] std::vector<Scenario> refusal_scenarios();
[[nodiscard]] std::vector<Scenario> changed_identity_scenarios();
[[nodiscard]] std::vector<Scenario> error_scenarios();
[[nodiscard]] std::vector<Scenario> source_scenarios();
[[nodiscard]] std::vector<Scenario> several_devices_scenarios();
[[nodiscard]] std::vector<Scenario> sub_device_scenarios();
[[nodiscard]] std::vector<Scenario> loading_death_scenarios();
[[nodiscard]] std::vector<Scenario> quarantine_scenarios();
[[nodiscard]] std::vector<Scenario> other_death_scenarios();
[[nodiscard]] std::vector<Scenario> user_cache_scenarios();

} // namespace clbin::test
