// The plan as JSON, which oclcc/schema/plan.schema.json describes.
#include "plan/engine_files.hpp"

#include "base/text.hpp"
#include "terminal/report_json.hpp"
#include "terminal/terminal_text.hpp"

namespace oclcc::plan {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::JsonArray;
using clbin::base::JsonObject;
using clbin::base::JsonValue;
using clbin::base::Result;

namespace {

// JSON contains only UTF-8, and a changed name would be another file.
Result<void> require_utf8(const Words& words) {
  for (const std::string& word : words) {
    for (std::string_view rest = word; !rest.empty();) {
      const std::size_t size = clbin::base::character_bytes(rest);
      if (size == 0) {
        return fail(ErrorCode::invalid_argument,
                    "a plan of '--plan=json' can contain only UTF-8, which '{}' is not",
                    printable(word));
      }
      rest.remove_prefix(size);
    }
  }
  return {};
}

Result<JsonValue> words_json(const Words& words) {
  CLBIN_TRY(require_utf8(words));
  return strings_json(words);
}

Result<JsonValue> command_json(const Words& words) {
  Words command = {"oclcc"};
  command.insert(command.end(), words.begin(), words.end());
  return words_json(command);
}

Result<JsonValue> text_json(const std::string& text) {
  CLBIN_TRY(require_utf8({text}));
  return JsonValue{text};
}

Result<JsonValue> unit_json(const PlanUnit& unit) {
  JsonObject members;
  CLBIN_TRY_ASSIGN(members["command"], command_json(command_of(unit)));
  members["feature"].value = unit.feature;
  CLBIN_TRY_ASSIGN(members["inputs"], words_json(unit.inputs));
  members["key"].value = unit.key;
  CLBIN_TRY_ASSIGN(members["output"], text_json(unit.output));
  CLBIN_TRY_ASSIGN(members["program"], text_json(unit.program));
  members["target"].value = unit.target;
  CLBIN_TRY_ASSIGN(members["variant"], text_json(unit.variant));
  JsonValue value;
  value.value = std::move(members);
  return value;
}

Result<JsonValue> step_json(const PlanStep& step) {
  JsonObject members;
  CLBIN_TRY_ASSIGN(members["command"], command_json(step.words));
  CLBIN_TRY_ASSIGN(members["output"], text_json(step.output));
  JsonValue value;
  value.value = std::move(members);
  return value;
}

} // namespace

Result<std::vector<EngineFile>> json_files(const Plan& plan) {
  JsonArray units;
  units.reserve(plan.units.size());
  for (const PlanUnit& unit : plan.units) {
    CLBIN_TRY_ASSIGN(JsonValue value, unit_json(unit));
    units.push_back(std::move(value));
  }
  JsonArray steps;
  for (const PlanStep& step : plan.steps) {
    CLBIN_TRY_ASSIGN(JsonValue value, step_json(step));
    steps.push_back(std::move(value));
  }
  JsonObject members;
  CLBIN_TRY_ASSIGN(members["bundle"], text_json(plan.bundle));
  members["cached_units"].value = std::uint64_t{plan.cached};
  CLBIN_TRY_ASSIGN(members["inputs"], words_json(plan.inputs));
  CLBIN_TRY_ASSIGN(members["merge_list"], text_json(plan.merge_list));
  members["oclcc"].value = std::string(OCLCC_VERSION);
  CLBIN_TRY_ASSIGN(members["ready"], text_json(plan.ready));
  members["steps"].value = std::move(steps);
  members["units"].value = std::move(units);
  return std::vector<EngineFile>{{plan.folder + "/plan.json", report_json(std::move(members))}};
}

} // namespace oclcc::plan
