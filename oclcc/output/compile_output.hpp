// Writes what the compile mode made: the bundle or raw binary, and the rule of -MD.
#pragma once

#include "base/file_io.hpp"
#include "cache/compile_cache.hpp"
#include "compile/compile_job.hpp"
#include "format/bundle.hpp"
#include "output/depfile.hpp"
#include "output/output_plan.hpp"
#include "terminal/reporter.hpp"

#include <functional>
#include <optional>

namespace oclcc {

// The rule for all that the programs were made of. invalid_argument.
[[nodiscard]] clbin::base::Result<std::string>
rule_of(const DepfilePlan& depfile, const std::vector<Program>& programs, const Options& options);

struct Rule {
  std::filesystem::path file;
  std::string text;
};

// The output and its rule: both appear or none, as far as the file system allows.
class OutputWriter {
public:
  // Finds out what cannot be written. With a goal other than the output itself none is opened, and
  // with CompileGoal::preview no rule. file_write.
  [[nodiscard]] static clbin::base::Result<OutputWriter>
  open(const OutputPlan& output, std::optional<Rule> rule, CompileGoal goal);
  // Once. The rule appears first, so that no output is newer than what make knows of its headers;
  // where the output then cannot appear, no new rule stays. invalid_argument, file_write.
  // `spill` as clbin::format::WriteOptions has it. Any error of `append`, which writes the output.
  [[nodiscard]] clbin::base::Result<void>
  write(const clbin::format::BundleInput& bundle,
        const std::shared_ptr<clbin::base::SpillFile>& spill, CompileCache& cache,
        Reporter& reporter);
  using Append = std::function<clbin::base::Result<void>(clbin::base::OutputFile& output)>;
  [[nodiscard]] clbin::base::Result<void> write(const Append& append);

private:
  explicit OutputWriter(OutputPlan plan) : m_plan(std::move(plan)) {}
  [[nodiscard]] clbin::base::Result<void>
  append(const clbin::format::BundleInput& bundle,
         const std::shared_ptr<clbin::base::SpillFile>& spill, CompileCache& cache,
         Reporter& reporter);
  [[nodiscard]] clbin::base::Result<void> commit_with_rule();

  OutputPlan m_plan;
  std::optional<clbin::base::OutputFile> m_output; // nothing: only checked
  std::optional<Rule> m_rule;
  std::optional<clbin::base::OutputFile> m_rule_output;
};

} // namespace oclcc
