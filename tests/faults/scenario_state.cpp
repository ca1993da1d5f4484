#include "faults/scenario_state.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace clbin::faults {

namespace {

[[noreturn]] void give_up(const std::string& reason) {
  std::fputs(fmt::format("clbin-faults: {}\n", reason).c_str(), stderr);
  std::abort();
}

bool fits(const Rule& rule, const Subject& subject) {
  if (rule.origin.has_value() && rule.origin != subject.origin) {
    return false;
  }
  if (subject.source.find(rule.source) == std::string::npos) {
    return false;
  }
  if (rule.platform.empty() && rule.device.empty()) {
    return true;
  }
  return std::any_of(subject.devices.begin(), subject.devices.end(), [&](const auto& names) {
    return names.platform.find(rule.platform) != std::string::npos &&
           names.device.find(rule.device) != std::string::npos;
  });
}

} // namespace

void ScenarioState::load() {
  const char* const path = std::getenv("CLBIN_FAULTS");
  std::vector<CountedRule> counted;
  if (path != nullptr && *path != '\0') {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (!file.is_open() || file.bad()) {
      give_up(fmt::format("cannot read the scenario '{}'", path));
    }
    auto rules = parse_scenario(text.str());
    if (!rules) {
      give_up(fmt::format("scenario '{}': {}", path, rules.error().message));
    }
    for (Rule& rule : *rules) {
      counted.push_back({std::move(rule), 0});
    }
  }
  const std::lock_guard lock(m_mutex);
  m_rules = std::move(counted);
}

std::vector<Rule> ScenarioState::match_all(Fault fault, Call call, const Subject& subject) {
  const std::lock_guard lock(m_mutex);
  std::vector<Rule> matches;
  for (CountedRule& counted : m_rules) {
    const Rule& rule = counted.rule;
    if (rule.fault != fault || rule.call.value_or(call) != call || !fits(rule, subject)) {
      continue;
    }
    ++counted.calls;
    if (counted.calls >= rule.first_call && counted.calls <= rule.last_call) {
      matches.push_back(rule);
    }
  }
  return matches;
}

std::optional<Rule> ScenarioState::match(Fault fault, Call call, const Subject& subject) {
  auto matches = match_all(fault, call, subject);
  return matches.empty() ? std::nullopt : std::optional(std::move(matches.front()));
}

void ScenarioState::remember_origin(cl_program program, ProgramOrigin origin) {
  if (program != nullptr) {
    const std::lock_guard lock(m_mutex);
    m_programs[program] = {origin, std::nullopt, std::nullopt};
  }
}

ProgramOrigin ScenarioState::origin_of(cl_program program) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_programs.find(program);
  return found == m_programs.end() ? ProgramOrigin::unknown : found->second.origin;
}

void ScenarioState::remember_build(cl_program program, std::optional<cl_int> code,
                                   std::optional<std::string> log) {
  const std::lock_guard lock(m_mutex);
  ProgramNote& note = m_programs[program];
  note.build_code = code;
  note.build_log = std::move(log);
}

std::optional<cl_int> ScenarioState::forced_build_code(cl_program program) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_programs.find(program);
  return found == m_programs.end() ? std::nullopt : found->second.build_code;
}

std::optional<std::string> ScenarioState::forced_build_log(cl_program program) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_programs.find(program);
  return found == m_programs.end() ? std::nullopt : found->second.build_log;
}

} // namespace clbin::faults
