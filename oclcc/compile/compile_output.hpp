// Writes the results of the compile mode: the bundle or raw binary, the rule of -MD, or what -###
// prints.
#pragma once

#include "compile/compile_job.hpp"
#include "compile/output_plan.hpp"
#include "trust/bundle_signing.hpp"

namespace oclcc {

// Returns the rule for the inputs, if one is a bundle, otherwise for all files of the programs and
// modules of `job`. invalid_argument if a name cannot be in a rule.
[[nodiscard]] Result<std::string> rule_of(const DepfilePlan& depfile, const Job& job,
                                          const Options& options);

struct DependencyRule {
  std::filesystem::path file;
  std::string text;
};

// Writes the output and its rule: both or none, as far as the file system allows.
class OutputWriter {
public:
  // Opens the files, to find errors early. With a goal other than the output, opens no output; with
  // CompileGoal::preview, no rule. file_write.
  [[nodiscard]] static Result<OutputWriter>
  open(const OutputPlan& output, std::optional<DependencyRule> rule, CompileGoal goal);
  // Signs the bundle before it is written or embedded.
  void sign_with(trust::BundleSigner signer) { m_signer.emplace(std::move(signer)); }
  [[nodiscard]] const std::optional<trust::BundleSigner>& signer() const noexcept {
    return m_signer;
  }
  // Writes the text that `disassemble` makes of the raw binary instead of the binary.
  using Disassemble = std::function<Result<std::string>(base::ByteView binary)>;
  void disassemble_with(Disassemble disassemble) { m_disassemble = std::move(disassemble); }
  // Writes the files; call it once. `append` writes the output. The rule appears first, so that no
  // output is newer than its rule. If the output then cannot appear, the new rule is removed.
  // `edit` is empty, or makes the output of the whole bundle. invalid_argument, file_write, or any
  // error of `append` and `edit`.
  using Edit = std::function<Result<base::Bytes>(const base::Bytes& bundle)>;
  [[nodiscard]] Result<void> write(const BundleOfUnits& bundle, format::WriteOptions options,
                                   const Edit& edit, CompileCache& cache, Reporter& reporter);
  using Append = std::function<Result<void>(base::OutputFile& output)>;
  [[nodiscard]] Result<void> write(const Append& append);

private:
  explicit OutputWriter(OutputPlan plan) : m_plan(std::move(plan)) {}
  [[nodiscard]] Result<void> append(const BundleOfUnits& bundle,
                                    const format::WriteOptions& options, const Edit& edit,
                                    CompileCache& cache, Reporter& reporter);
  // Appends a whole bundle, and signs it if there is a signer. Errors of OutputFile::append and
  // BundleSigner::sign.
  [[nodiscard]] Result<void> append_bundle(base::Bytes bundle, Reporter& reporter);
  [[nodiscard]] Result<void> commit_with_rule();

  OutputPlan m_plan;
  std::optional<trust::BundleSigner> m_signer; // std::nullopt if the bundle is not signed
  Disassemble m_disassemble;                   // empty: not disassembled
  std::optional<base::OutputFile> m_output;    // std::nullopt if the output is only checked
  std::optional<DependencyRule> m_rule;
  std::optional<base::OutputFile> m_rule_output;
};

// Returns what -### prints: oclcc's version, then one command per line, each after a space: an
// oclcc command for each unit, which a shell on this machine can run, and one that combines their
// results. A single unit writes the output itself. `job` contains programs, variants and devices.
[[nodiscard]] std::string preview_of(const Job& job, const Options& options,
                                     const OutputPlan& output);

} // namespace oclcc
