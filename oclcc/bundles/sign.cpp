#include "command_line/modes.hpp"

#include "base/file_io.hpp"
#include "bundles/bundle_change.hpp"
#include "input/input_files.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/bundle_signing.hpp"
#include "worker/worker_process.hpp"

namespace oclcc {

using base::Bytes;

namespace {

Result<BundleChange> sign_one(const std::filesystem::path& path, SignatureForm form,
                              const BundleKeys& keys, trust::BundleSigner& signer,
                              Reporter& reporter) {
  BundleChange change;
  CLBIN_TRY_ASSIGN(const ValidBundle read, read_valid_bundle(path, keys));
  if (read.verified == Verified::all_but_contents) {
    reporter.warning(fmt::format("{}: {}", bundle_name(path), k_contents_not_checked));
  }
  const Bytes& bundle = read.bytes;
  if (form == SignatureForm::record) {
    CLBIN_TRY_ASSIGN(trust::SignedBundle signed_bundle, signer.sign(bundle));
    change.result.bytes = std::move(signed_bundle.bytes);
    if (const auto& before = signed_bundle.replaced_counter) {
      change.notes.push_back(fmt::format("a lower counter replaced {}", *before));
    }
    return change;
  }
  CLBIN_TRY_ASSIGN(const std::string text, signer.sign_detached(bundle, path));
  const base::ByteView bytes = base::as_bytes(text);
  change.result.bytes.assign(bytes.begin(), bytes.end());
  return change;
}

// Before a passphrase is asked for. A bundle may replace its input, but a signature file may not.
Result<void> check_outputs(const Options& options, NameOutput output) {
  std::vector<std::filesystem::path> read = trust::files_of_keys(options);
  std::vector<std::filesystem::path> written;
  for (const Input& input : options.inputs) {
    written.push_back(options.output.value_or(output(input.path)));
    if (options.signature_form == SignatureForm::detached) {
      read.push_back(input.path);
    }
  }
  return require_other_files(written, read);
}

} // namespace

Result<ExitCode> sign(const Options& options, const ModeContext& context) {
  Reporter& reporter = context.reporter;
  const NameOutput output =
      options.signature_form == SignatureForm::detached ? trust::detached_name : k_in_place;
  const ListFormat format = format_of_errors(options);
  if (const auto checked = check_outputs(options, output); !checked) {
    return tell_changes({}, {checked.error()}, format, reporter);
  }
  const auto keys = trust::read_decryption_keys(options, reporter);
  if (!keys) {
    return tell_changes({}, {keys.error()}, format, reporter);
  }
  auto signer = trust::BundleSigner::open(options, context.workers.stop);
  if (!signer) {
    return tell_changes({}, {signer.error()}, format, reporter);
  }
  for (const std::string& warning : signer->warnings()) {
    reporter.warning(warning);
  }
  const auto change = [&](const std::filesystem::path& path) {
    return sign_one(path, options.signature_form, *keys, *signer, reporter);
  };
  return change_files(options, change, output, reporter);
}

namespace {

Result<BundleChange> without_signatures(const std::filesystem::path& path) {
  CLBIN_TRY_ASSIGN(const Bytes bundle, base::read_whole_file(path, k_max_whole_bundle_bytes));
  CLBIN_TRY_ASSIGN(trust::RootAndRecords read, trust::read_root_and_records(bundle));
  BundleChange change;
  change.removed_signatures = read.records.size();
  format::remove_signatures(read.records);
  change.removed_signatures -= read.records.size();
  CLBIN_TRY_ASSIGN(change.result.bytes,
                   format::with_trailing_records(bundle, std::move(read.records)));
  return change;
}

} // namespace

Result<ExitCode> strip_signature(const Options& options, const ModeContext& context) {
  return change_files(options, without_signatures, k_in_place, context.reporter);
}

namespace {

Result<void> write_message(const Options& options, Reporter& reporter) {
  const std::filesystem::path output = options.output.value_or("-");
  if (output == "-" && reporter.prints_to_terminal()) {
    return fail(
        ErrorCode::invalid_argument,
        "cannot write a binary to a terminal: redirect standard output or name a file with -o");
  }
  const std::filesystem::path& input = options.inputs.front().path;
  std::vector<std::filesystem::path> read = trust::files_of_keys(options);
  read.push_back(input);
  CLBIN_TRY(require_other_files({&output, 1}, read));
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, reporter));
  CLBIN_TRY_ASSIGN(const format::BundleReader bundle, open_bundle(input, keys));
  CLBIN_TRY_ASSIGN(const Verified verified, named(verify_bundle(bundle), input));
  if (verified == Verified::all_but_contents) {
    reporter.warning(fmt::format("{}: {}", bundle_name(input), k_contents_not_checked));
  }
  const base::Bytes message =
      options.signing.counter
          ? format::counter_message(bundle.root_digest(), *options.signing.counter)
          : format::signature_message(bundle.root_digest());
  return base::write_output_file(output, message);
}

} // namespace

Result<ExitCode> sign_message(const Options& options, const ModeContext& context) {
  CLBIN_TRY(write_message(options, context.reporter));
  return ExitCode::success;
}

} // namespace oclcc
