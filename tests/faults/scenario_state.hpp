// The rules in force, how often each was met, and what is remembered of programs.
#pragma once

#include "faults/fault_scenario.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace clbin::faults {

// What a call is about, as far as rules can ask.
struct Subject {
  struct DeviceName {
    std::string platform;
    std::string device;
  };
  std::vector<DeviceName> devices; // a platform's own call: one, without a device name
  ProgramOrigin origin = ProgramOrigin::unknown;
  std::string source{}; // clCreateProgramWithSource alone
};

// Thread-safe.
class ScenarioState {
public:
  // Reads the file named by CLBIN_FAULTS; without that variable there are no rules. A file that
  // cannot be read or understood ends the process with a message: a test must not run without its
  // faults.
  void load();

  // The first rule of `fault` (and `call`, where the rule has one) that fits; counts as a call of
  // each rule that it is compared with.
  [[nodiscard]] std::optional<Rule> match(Fault fault, Call call, const Subject& subject);
  // All of them, for faults that add up.
  [[nodiscard]] std::vector<Rule> match_all(Fault fault, Call call, const Subject& subject);

  void remember_origin(cl_program program, ProgramOrigin origin);
  [[nodiscard]] ProgramOrigin origin_of(cl_program program);
  // The outcome of the latest build, where a rule decided it.
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
