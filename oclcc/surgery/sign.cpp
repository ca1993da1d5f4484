#include "command_line/modes.hpp"

#include "input/bundle_file.hpp"
#include "input/overwritten_input.hpp"
#include "surgery/bundle_change.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/bundle_signing.hpp"
#include "trust/key_files.hpp"

namespace oclcc {

namespace base = clbin::base;
using base::Bytes;
using base::Result;

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

ExitCode sign(const Options& options, std::stop_token stop, Reporter& reporter) {
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
  auto signer = trust::BundleSigner::open(options, std::move(stop));
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

} // namespace oclcc
