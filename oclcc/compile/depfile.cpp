#include "compile/output_plan.hpp"

#include "terminal/shell_quoting.hpp"

namespace oclcc {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_max_column = 76;

// As gcc and make: "./a.h" is "a.h".
std::string shown(const fs::path& path) {
  const std::string text = path.string();
  std::size_t begin = 0;
  while (text.compare(begin, 2, "./") == 0) {
    begin = std::min(text.find_first_not_of('/', begin + 1), text.size());
  }
  return begin < text.size() ? text.substr(begin) : text;
}

bool is_regular_or_absent(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return path != "-" && (fs::is_regular_file(status) || !fs::exists(status));
}

Result<std::vector<std::string>> targets_of(const Options& options,
                                            const std::optional<fs::path>& output) {
  if (!options.depfile_targets.empty()) {
    return options.depfile_targets;
  }
  if (output && *output != "-") {
    return std::vector{escape_for_make(shown(*output))};
  }
  if (options.inputs.size() > 1) {
    return refused("the rule for several inputs has no target: give one with -MT");
  }
  const Input& input = options.inputs.front();
  const std::string name = input.path == "-" ? input.program : input.path.stem().string();
  return std::vector{escape_for_make(name + ".clbin")};
}

void append_word(std::string& rule, std::size_t& column, const std::string& word) {
  if (column + word.size() + 2 > k_max_column) {
    rule += " \\\n";
    column = 0;
  }
  rule += " " + word;
  column += word.size() + 1;
}

} // namespace

Result<DepfilePlan> plan_depfile(const Options& options, const fs::path& output) {
  DepfilePlan plan;
  plan.phony = options.phony_headers;
  CLBIN_TRY_ASSIGN(plan.targets, targets_of(options, output));
  if (options.depfile) {
    plan.file = *options.depfile;
  } else if (is_regular_or_absent(output)) {
    plan.file = fs::path(output).replace_extension(".d");
  } else {
    return refused("'-MD' has no file to write when the output is '{}': give one with -MF",
                   output.string());
  }
  if (plan.file == output) {
    return refused("'{}' would be both the output and its rule", output.string());
  }
  return plan;
}

Result<DepfilePlan> plan_rule_only(const Options& options) {
  DepfilePlan plan;
  plan.phony = options.phony_headers;
  plan.file = options.depfile.value_or(options.output.value_or("-"));
  // -o names the bundle only if it does not name the rule.
  CLBIN_TRY_ASSIGN(plan.targets,
                   targets_of(options, options.depfile ? options.output : std::nullopt));
  return plan;
}

Result<std::string> dependency_rule(const DepfilePlan& plan, std::span<const fs::path> files,
                                    std::span<const Input> inputs) {
  std::string rule;
  std::size_t column = 0;
  for (const std::string& target : plan.targets) {
    rule += (rule.empty() ? "" : " ") + target;
  }
  rule += ":";
  column = rule.size();
  std::set<std::string> seen;
  std::string phony;
  for (const fs::path& file : files) {
    const std::string name = shown(file);
    if (name.find_first_of("\n\r") != std::string::npos) {
      return refused("a rule cannot contain a name with a line break: '{}'", name);
    }
    if (!seen.insert(name).second) {
      continue;
    }
    append_word(rule, column, escape_for_make(name));
    const bool is_input =
        std::ranges::any_of(inputs, [&](const Input& input) { return input.path == file; });
    if (!is_input) {
      phony += escape_for_make(name) + ":\n";
    }
  }
  return rule + "\n" + (plan.phony == PhonyHeaders::yes ? phony : std::string());
}

} // namespace oclcc
