#include "plan/engine_files.hpp"

#include "base/file_io.hpp"
#include "compile/compile_bundle.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "terminal/shell_quoting.hpp"

#include <span>

namespace oclcc::plan {

using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

namespace {

constexpr int k_compression_level = 3; // low, because the last step compresses again

Result<std::vector<EngineFile>> engine_files(const Plan& plan, const Options& options) {
  switch (options.plan_format) {
  case PlanFormat::ninja:
    return ninja_files(plan, options.words);
  case PlanFormat::slurm:
    return slurm_files(plan);
  case PlanFormat::parallel:
    return parallel_files(plan);
  case PlanFormat::json:
    break;
  }
  return json_files(plan);
}

// One bundle a line, quoted for a response file, whose quotes are those of the shell.
std::string merge_list(const Plan& plan) {
  std::string text;
  for (const PlanUnit& unit : plan.units) {
    text += in_single_quotes(unit.output) + "\n";
  }
  if (!plan.ready.empty()) {
    text += in_single_quotes(plan.ready) + "\n";
  }
  return text;
}

Result<void> write_text(const std::string& path, const std::string& text) {
  return clbin::base::write_output_file(path, std::as_bytes(std::span(text)));
}

Result<void> write_ready_bundle(const Plan& plan, Job& job, SourcePolicy source) {
  const BundleOfUnits bundle = make_bundle(job, source);
  CLBIN_TRY_ASSIGN(auto output, clbin::base::OutputFile::open(plan.ready));
  CLBIN_TRY(clbin::format::write_bundle(
      bundle.input, {.compression_level = k_compression_level, .spill = job.spill},
      [&](clbin::base::ByteView part) { return output.append(part); }));
  return output.commit();
}

} // namespace

Result<std::string> write_plan(const Plan& plan, Job& job, const Options& options) {
  CLBIN_TRY_ASSIGN(const std::vector<EngineFile> files, engine_files(plan, options));
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(plan.folder) / "units", error);
  if (error) {
    return fail(ErrorCode::file_write, "cannot create '{}/units': {}", plan.folder,
                error.message());
  }
  if (!plan.ready.empty()) {
    CLBIN_TRY(write_ready_bundle(plan, job, options.source));
  }
  CLBIN_TRY(write_text(plan.merge_list, merge_list(plan)));
  for (const EngineFile& file : files) {
    CLBIN_TRY(write_text(file.path, file.text));
  }
  return files.back().path;
}

} // namespace oclcc::plan
