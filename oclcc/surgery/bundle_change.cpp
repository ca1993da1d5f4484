#include "surgery/bundle_change.hpp"

#include "base/file_io.hpp"
#include "input/bundle_file.hpp"
#include "input/overwritten_input.hpp"
#include "surgery/replaced_file.hpp"
#include "terminal/report_json.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/key_files.hpp"

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;
using base::Error;
using base::ErrorCode;
using base::Result;
using clbin::base::JsonArray;
using clbin::base::JsonObject;
using clbin::base::JsonValue;

namespace {

constexpr int k_max_attempts = 100; // each fails only because another process has succeeded

Result<void> check_places(const Options& options, NameOutput output) {
  const std::string_view mode = mode_spelling(options.mode);
  if (options.output && options.inputs.size() > 1) {
    return base::fail(ErrorCode::invalid_argument,
                      "'-o' accepts the output of '{}' for one bundle, but {} are given", mode,
                      options.inputs.size());
  }
  for (const Input& input : options.inputs) {
    if (!options.output && input.path == "-") {
      return base::fail(ErrorCode::invalid_argument,
                        "'{}' cannot replace standard input: name an output with '-o'", mode);
    }
    std::error_code ignored;
    if (!options.output && std::filesystem::is_fifo(output(input.path), ignored)) {
      return base::fail(ErrorCode::invalid_argument,
                        "'{}' cannot replace '{}', which is a pipe: name an output with '-o'", mode,
                        output(input.path).string());
    }
  }
  return check_output(options);
}

// Drops the bytes, which are written.
void finish_change(BundleChange& change, const std::filesystem::path& output) {
  change.output = output == "-" ? "<stdout>" : output.string();
  change.total_bytes = change.result.bytes.size();
  change.result.bytes = {};
}

bool replaces(const std::filesystem::path& output, const std::filesystem::path& input) {
  std::error_code ignored; // of a file that does not exist
  return input != "-" && std::filesystem::equivalent(input, output, ignored);
}

// Starts again if another process has replaced the input meanwhile.
Result<BundleChange> change_one(const std::filesystem::path& path,
                                const std::filesystem::path& output, const ChangeFile& change) {
  for (int attempt = 0; attempt < k_max_attempts; ++attempt) {
    ReplacedFile file = replaces(output, path) ? ReplacedFile::open(path) : ReplacedFile::none();
    auto changed = change(path);
    if (!changed) {
      return tl::unexpected(named_error(std::move(changed.error()), path));
    }
    changed->inputs = {bundle_name(path)};
    CLBIN_TRY_ASSIGN(base::OutputFile written, base::OutputFile::open(output));
    CLBIN_TRY(written.append(changed->result.bytes));
    CLBIN_TRY_ASSIGN(const Replacement replacement,
                     file.replace([&written] { return written.commit(); }));
    if (replacement == Replacement::done) {
      finish_change(*changed, output);
      return changed;
    }
  }
  return base::fail(ErrorCode::file_write, "cannot replace {}: other processes changed it {} times",
                    base::in_quotes(output), k_max_attempts);
}

std::string hidden_text(const format::StripResult& result) {
  const bool one = result.hidden_count == 1;
  const std::string payloads = one ? "1 removed payload remains"
                                   : fmt::format("{} removed payloads remain", result.hidden_count);
  const std::string dependents =
      result.hidden_dependents == 1 ? "1 kept payload is"
                                    : fmt::format("{} kept payloads are", result.hidden_dependents);
  const std::string_view them = one ? "it" : "them";
  return fmt::format("{} hidden in it ({} bytes), because {} compressed against {}; '--repack' "
                     "removes {}",
                     payloads, result.hidden_stored_bytes, dependents, them, them);
}

void note_change(const BundleChange& change, Reporter& reporter) {
  for (const std::string& dropped : change.result.dropped_names) {
    reporter.note(fmt::format("{}: {} is empty and was removed", change.output, dropped));
  }
  if (change.result.hidden_count != 0) {
    reporter.note(fmt::format("{}: {}", change.output, hidden_text(change.result)));
  }
  for (const std::string& note : change.notes) {
    reporter.note(fmt::format("{}: {}", change.output, note));
  }
}

JsonValue change_json(const BundleChange& change) {
  const format::StripResult& result = change.result;
  return {JsonObject{
      {"inputs", strings_json(change.inputs)},
      {"output", {change.output}},
      {"total_bytes", {change.total_bytes}},
      {"dropped_entries", {result.dropped_entries}},
      {"nothing_left_of", strings_json(result.dropped_names)},
      {"hidden_payloads", {result.hidden_count}},
      {"hidden_stored_bytes", {result.hidden_stored_bytes}},
      {"hidden_dependents", {result.hidden_dependents}},
      {"removed_signatures", {std::uint64_t{change.removed_signatures}}},
  }};
}

std::string changes_json(const std::vector<BundleChange>& changes,
                         const std::vector<Error>& errors) {
  JsonArray items;
  for (const BundleChange& change : changes) {
    items.push_back(change_json(change));
  }
  return report_json({{"bundles", {std::move(items)}}, {"errors", errors_json(errors)}});
}

Result<std::optional<format::Encryption>>
encryption_of_change(const Options& options, const trust::EncryptionRequest& request,
                     const format::BundleReader& bundle) {
  if (options.mode == Mode::decrypt) {
    return std::nullopt;
  }
  const format::BundleReader* const input = &bundle;
  return trust::encryption_of_output(request, {&input, 1});
}

} // namespace

ListFormat format_of_errors(const Options& options) {
  return options.output == "-" ? ListFormat::text : options.list_format;
}

Result<void> check_output(const Options& options) {
  if (options.list_format == ListFormat::json && options.output == "-") {
    return base::fail(ErrorCode::invalid_argument,
                      "'--json' and '-o -' would both write to standard output");
  }
  return options.output ? require_other_files({&*options.output, 1}, trust::files_of_keys(options))
                        : Result<void>();
}

Result<void> count_removed_signatures(BundleChange& change, const format::BundleReader& input) {
  CLBIN_TRY_ASSIGN(const auto records, input.signature_records());
  if (change.removed_signatures == 0 && !records.empty()) {
    change.notes.emplace_back(k_signatures_removed);
  }
  change.removed_signatures += records.size();
  return {};
}

Result<void> write_change(BundleChange& change, const std::filesystem::path& output) {
  CLBIN_TRY(base::write_output_file(output, change.result.bytes));
  finish_change(change, output);
  return {};
}

ExitCode tell_changes(const std::vector<BundleChange>& changes, const std::vector<Error>& errors,
                      ListFormat format, Reporter& reporter) {
  if (format == ListFormat::json) {
    if (!reporter.print(changes_json(changes, errors))) {
      return ExitCode::file;
    }
  } else {
    for (const BundleChange& change : changes) {
      note_change(change, reporter);
    }
  }
  return report_errors(errors, reporter);
}

ExitCode change_bundles(const Options& options, const ChangeBundle& change, Reporter& reporter) {
  const auto keys = trust::read_decryption_keys(options, reporter);
  const auto request = trust::EncryptionRequest::read(options, reporter);
  if (!keys || !request) {
    return tell_changes({}, {keys ? request.error() : keys.error()}, format_of_errors(options),
                        reporter);
  }
  const auto change_file = [&](const std::filesystem::path& path) -> Result<BundleChange> {
    CLBIN_TRY_ASSIGN(const format::BundleReader bundle, open_readable_bundle(path, *keys));
    CLBIN_TRY_ASSIGN(const auto encryption, encryption_of_change(options, *request, bundle));
    BundleChange changed;
    CLBIN_TRY_ASSIGN(changed.result, change(bundle, trust::pointer_to(encryption)));
    CLBIN_TRY(count_removed_signatures(changed, bundle));
    return changed;
  };
  return change_files(options, change_file, k_in_place, reporter);
}

ExitCode change_files(const Options& options, const ChangeFile& change, NameOutput output,
                      Reporter& reporter) {
  if (const auto checked = check_places(options, output); !checked) {
    return tell_changes({}, {checked.error()}, ListFormat::text, reporter);
  }
  std::vector<BundleChange> changes;
  std::vector<Error> errors;
  for (const Input& input : options.inputs) {
    auto done = change_one(input.path, options.output.value_or(output(input.path)), change);
    if (done) {
      changes.push_back(std::move(*done));
    } else {
      errors.push_back(std::move(done.error()));
    }
  }
  return tell_changes(changes, errors, options.list_format, reporter);
}

} // namespace oclcc
