// The current rules, the number of calls that matched each, and facts about programs.
#pragma once

#include "faults/fault_scenario.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace clbin::faults {

// The properties of a call that rules can test.
struct Subject {
  struct DeviceName {
    std::string platform;
    std::string device;
  };
  std::vector<DeviceName> devices; // for a platform's own call: one, without a device name
  ProgramOrigin origin = ProgramOrigin::unknown;
  std::string source{}; // only of clCreateProgramWithSource
};

// Thread-safe.
class ScenarioState {
public:
  // Reads the file that CLBIN_FAULTS names. Without the variable, there are no rules. If the file
  // cannot be read or parsed, prints a message and ends the process, because a test must not run
  // without its faults.
  void load();

  // Returns the first matching rule of `fault` (and of `call`, if the rule has one). Counts as a
  // call of each rule that it is compared with.
  [[nodiscard]] std::optional<Rule> match(Fault fault, Call call, const Subject& subject);
  // Returns all matching rules, for faults that can be combined.
  [[nodiscard]] std::vector<Rule> match_all(Fault fault, Call call, const Subject& subject);

  void remember_origin(cl_program program, ProgramOrigin origin);
  [[nodiscard]] ProgramOrigin origin_of(cl_program program);
  // Remembers the result of the latest build if a rule determined it.
  void remember_build(cl_program program, std::optional<cl_int> code,
                      std::optional<std::string> log);
  [[nodiscard]] std::optional<cl_int> forced_build_code(cl_program program);
  [[nodiscard]] std::optional<std::string> forced_build_log(cl_program program);

private:
  struct CountedRule {
    Rule rule;
    std::uint64_t calls = 0;
  };
  struct ProgramNote {
    ProgramOrigin origin = ProgramOrigin::unknown;
    std::optional<cl_int> build_code;
    std::optional<std::string> build_log;
  };

  std::mutex m_mutex;
  std::vector<CountedRule> m_rules;
  std::map<cl_program, ProgramNote> m_programs;
};

} // namespace clbin::faults
