#include "command_line/modes.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "input/bundle_file.hpp"
#include "input/overwritten_input.hpp"
#include "record/application.hpp"
#include "record/recording.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/key_files.hpp"

#include <cstring>

namespace oclcc {

namespace fs = std::filesystem;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::cache::ProcessEnvironment;
using clbin::format::BundleReader;

namespace {

constexpr std::string_view k_layer_name = "libclbin_layer.so";

std::string variable(const ProcessEnvironment& environment, const char* name) {
  return environment.variable(name).value_or("");
}

// The library of the layer: CLBIN_LAYER_LIBRARY, or where it is installed or built.
Result<fs::path> find_layer(const ProcessEnvironment& environment) {
  std::error_code error;
  if (const std::string given = variable(environment, "CLBIN_LAYER_LIBRARY");
      !given.empty() && environment.rights == clbin::cache::Rights::plain) {
    const fs::path path = fs::absolute(given, error);
    if (!fs::is_regular_file(path, error)) {
      return fail(ErrorCode::file_not_found, "CLBIN_LAYER_LIBRARY: there is no file '{}'", given);
    }
    return path;
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder, folder / ".." / OCLCC_LIBRARY_FOLDER, folder / ".." / "lib",
                                folder / ".." / "libclbin" / "src" / "layer"}) {
    const fs::path path = (place / k_layer_name).lexically_normal();
    if (fs::is_regular_file(path, error)) {
      return path;
    }
  }
  return fail(ErrorCode::file_not_found,
              "cannot find {} beside oclcc or in its library directory: name it in "
              "CLBIN_LAYER_LIBRARY",
              k_layer_name);
}

// The existing recording, to which this run adds; std::nullopt if there is none.
Result<std::optional<BundleReader>> open_existing(const fs::path& path, const BundleKeys& keys) {
  std::error_code error;
  if (!fs::exists(path, error)) {
    return std::nullopt;
  }
  CLBIN_TRY_ASSIGN(BundleReader bundle, open_readable_bundle(path, keys));
  if (auto verified = bundle.verify(); !verified) {
    return tl::unexpected(named_error(std::move(verified.error()), path));
  }
  return bundle;
}

std::map<std::string, std::string> variables_of(const Options& options,
                                                const ProcessEnvironment& environment,
                                                const fs::path& layer, const fs::path& folder) {
  const std::string others = variable(environment, "OPENCL_LAYERS");
  return {
      {"OPENCL_LAYERS", others.empty() ? layer.string() : others + ":" + layer.string()},
      {"CLBIN_LAYER_MODE", "record"},
      {"CLBIN_LAYER_RECORD", folder.string()},
      {"CLBIN_LAYER_RECORD_BINARIES", options.recorded_binaries == BinaryPolicy::build ? "1" : "0"},
      {"CLBIN_LAYER_RECORD_SOURCE", options.source == SourcePolicy::keep ? "1" : "0"},
      // What PyOpenCL finds in its own cache, it does not build, and to the source of what it does
      // not find, it appends a random name.
      {"PYOPENCL_NO_CACHE", "1"},
  };
}

// Everything that may fail, before the application runs.
struct Preparation {
  fs::path layer;
  std::optional<BundleReader> existing;
  std::optional<clbin::base::OutputFile> output;
  std::optional<clbin::base::TemporaryFolder> folder;
};

Result<Preparation> prepare(const Options& options, const ProcessEnvironment& environment,
                            Reporter& reporter) {
  Preparation preparation;
  if (*options.recording == "-") {
    return fail(ErrorCode::invalid_argument,
                "'--record' requires a file, because the application may write to standard output");
  }
  CLBIN_TRY_ASSIGN(preparation.layer, find_layer(environment));
  CLBIN_TRY(require_other_files({&*options.recording, 1}, trust::files_of_keys(options)));
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, reporter));
  CLBIN_TRY_ASSIGN(preparation.existing, open_existing(*options.recording, keys));
  CLBIN_TRY_ASSIGN(clbin::base::OutputFile output,
                   clbin::base::OutputFile::open(*options.recording));
  preparation.output.emplace(std::move(output));
  CLBIN_TRY_ASSIGN(clbin::base::TemporaryFolder folder,
                   clbin::base::TemporaryFolder::create({}, "oclcc-record-"));
  preparation.folder.emplace(std::move(folder));
  return preparation;
}

Result<void> note_removed_signatures(const Preparation& preparation, const Options& options,
                                     Reporter& reporter) {
  if (!preparation.existing) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const auto records, preparation.existing->signature_records());
  if (!records.empty()) {
    reporter.note(fmt::format("{}: {}", options.recording->string(), k_signatures_removed));
  }
  return {};
}

Result<void> write_recording(Preparation& preparation, const Options& options, Reporter& reporter) {
  CLBIN_TRY_ASSIGN(auto spill, clbin::base::SpillFile::create());
  Recording recording(spill);
  recording.add_folder(preparation.folder->path(), options.source, reporter);
  if (recording.program_count() == 0) {
    reporter.warning(fmt::format("the application built no program: '{}' is not written",
                                 options.recording->string()));
    reporter.note(recording.why_empty());
    return {};
  }
  if (preparation.existing) {
    if (auto added = recording.add(*preparation.existing, SourcePolicy::keep); !added) {
      return tl::unexpected(named_error(std::move(added.error()), *options.recording));
    }
  }
  clbin::format::WriteOptions write;
  write.spill = spill;
  if (preparation.existing) {
    const BundleReader* const existing = &*preparation.existing;
    CLBIN_TRY_ASSIGN(write.encryption, trust::encryption_of({&existing, 1}));
  }
  CLBIN_TRY(clbin::format::write_bundle(recording.take(), write, [&](clbin::base::ByteView part) {
    return preparation.output->append(part);
  }));
  CLBIN_TRY(preparation.output->commit());
  return note_removed_signatures(preparation, options, reporter);
}

ExitCode tell_failure(const clbin::base::Error& error, Reporter& reporter) {
  reporter.error(error);
  return exit_code_of(error.code);
}

} // namespace

ExitCode record(const Options& options, const ProcessEnvironment& environment, Reporter& reporter) {
  constexpr int k_not_found = 127;
  constexpr int k_not_executable = 126;
  auto preparation = prepare(options, environment, reporter);
  if (!preparation) {
    return tell_failure(preparation.error(), reporter);
  }
  const auto end =
      run_application(options.command, variables_of(options, environment, preparation->layer,
                                                    preparation->folder->path()));
  if (!end) {
    const ExitCode status = tell_failure(end.error(), reporter);
    const bool is_absent = end.error().code == ErrorCode::file_not_found;
    return end.error().code == ErrorCode::internal
               ? status
               : static_cast<ExitCode>(is_absent ? k_not_found : k_not_executable);
  }
  if (end->signal != 0) {
    reporter.note(fmt::format("signal {} ({}) ended the application: what it had built is recorded",
                              end->signal, ::strsignal(end->signal)));
  }
  const auto written = write_recording(*preparation, options, reporter);
  const ExitCode status = written ? ExitCode::success : tell_failure(written.error(), reporter);
  return end->exit_status != 0 ? static_cast<ExitCode>(end->exit_status) : status;
}

} // namespace oclcc
