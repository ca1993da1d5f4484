#include "compile/compile_output.hpp"

#include "compile/launchers.hpp"

namespace oclcc {

using base::OutputFile;

Result<std::string> rule_of(const DepfilePlan& depfile, const Job& job, const Options& options) {
  std::vector<std::filesystem::path> files;
  if (bundle_among(options.inputs)) {
    files = input_paths(options);
  }
  for (const Program& program : job.programs) {
    files.insert(files.end(), program.files.begin(), program.files.end());
  }
  for (const IlProgram& module : job.modules) {
    files.emplace_back(module.path);
  }
  return dependency_rule(depfile, files, options.inputs);
}

Result<OutputWriter> OutputWriter::open(const OutputPlan& output,
                                        std::optional<DependencyRule> rule, CompileGoal goal) {
  OutputWriter writer(output);
  if (goal == CompileGoal::output) {
    CLBIN_TRY_ASSIGN(OutputFile file, OutputFile::open(output.path));
    writer.m_output.emplace(std::move(file));
  }
  if (rule && goal != CompileGoal::preview) {
    CLBIN_TRY_ASSIGN(OutputFile rule_file, OutputFile::open(rule->file));
    writer.m_rule_output.emplace(std::move(rule_file));
    writer.m_rule = std::move(rule);
  }
  return writer;
}

Result<void> OutputWriter::append(const BundleOfUnits& bundle, const format::WriteOptions& options,
                                  const Edit& edit, CompileCache& cache, Reporter& reporter) {
  if (m_plan.form == OutputForm::launchers) {
    constexpr std::uint64_t k_no_limit = ~std::uint64_t{0}; // compilers made it
    CLBIN_TRY_ASSIGN(const std::string text, launcher_text(bundle.input, k_no_limit, reporter));
    return m_output->append(base::as_bytes(text));
  }
  if (m_plan.form == OutputForm::raw_binary) {
    CLBIN_TRY_ASSIGN(const Bytes bytes, raw_binary(m_plan, bundle.input));
    if (!m_disassemble) {
      return m_output->append(bytes);
    }
    CLBIN_TRY_ASSIGN(const std::string text, m_disassemble(bytes));
    return m_output->append(base::as_bytes(text));
  }
  // A signature, an edit and an embedded bundle require the whole bundle in memory.
  const bool is_whole = m_plan.form == OutputForm::embedding || m_signer.has_value() || edit;
  Bytes bytes;
  const auto sink = [&](base::ByteView part) -> Result<void> {
    if (!is_whole) {
      return m_output->append(part);
    }
    bytes.insert(bytes.end(), part.begin(), part.end());
    return {};
  };
  CLBIN_TRY_ASSIGN(const std::string note, cache.finish_bundle(bundle, options, sink));
  if (!note.empty()) {
    reporter.verbose("bundle: " + note);
  }
  if (edit) {
    CLBIN_TRY_ASSIGN(bytes, edit(bytes));
  }
  return is_whole ? append_bundle(std::move(bytes), reporter) : Result<void>();
}

Result<void> OutputWriter::append_bundle(Bytes bundle, Reporter& reporter) {
  if (m_signer) {
    CLBIN_TRY_ASSIGN(trust::SignedBundle signed_bundle, m_signer->sign(bundle));
    bundle = std::move(signed_bundle.bytes);
  }
  return m_plan.form == OutputForm::embedding
             ? write_embedding_files(m_plan, bundle, *m_output, reporter)
             : m_output->append(bundle);
}

Result<void> OutputWriter::write(const BundleOfUnits& bundle, format::WriteOptions options,
                                 const Edit& edit, CompileCache& cache, Reporter& reporter) {
  return write([&](OutputFile&) -> Result<void> {
    auto appended = append(bundle, options, edit, cache, reporter);
    options.sources = {}; // ends the thread behind it, because commit() forks
    return appended;
  });
}

Result<void> OutputWriter::write(const Append& append) {
  if (m_output) {
    CLBIN_TRY(append(*m_output));
  }
  if (m_rule) {
    return commit_with_rule();
  }
  return m_output ? m_output->commit() : Result<void>();
}

Result<void> OutputWriter::commit_with_rule() {
  CLBIN_TRY(m_rule_output->append(std::as_bytes(std::span(m_rule->text))));
  const bool is_new = !std::filesystem::exists(std::filesystem::symlink_status(m_rule->file));
  CLBIN_TRY(m_rule_output->commit());
  auto committed = m_output ? m_output->commit() : Result<void>();
  if (!committed && is_new) {
    std::error_code error; // report the first error
    std::filesystem::remove(m_rule->file, error);
  }
  return committed;
}

} // namespace oclcc
