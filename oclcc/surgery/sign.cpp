#include "surgery/sign.hpp"

#include "input/bundle_file.hpp"
#include "surgery/bundle_change.hpp"
#include "trust/bundle_signing.hpp"

namespace oclcc {

namespace base = clbin::base;
using base::Bytes;
using base::Result;

namespace {

Result<BundleChange> sign_one(const std::filesystem::path& path, SignatureForm form,
                              trust::BundleSigner& signer) {
  BundleChange change;
  CLBIN_TRY_ASSIGN(const Bytes bundle, read_valid_bundle(path));
  if (form == SignatureForm::record) {
    CLBIN_TRY_ASSIGN(change.result.bytes, signer.sign(bundle));
    return change;
  }
  CLBIN_TRY_ASSIGN(const std::string text, signer.sign_detached(bundle, path));
  const base::ByteView bytes = base::as_bytes(text);
  change.result.bytes.assign(bytes.begin(), bytes.end());
  return change;
}

} // namespace

ExitCode sign(const Options& options, std::stop_token stop, Reporter& reporter) {
  auto signer = trust::BundleSigner::open(options, std::move(stop));
  if (!signer) {
    return tell_changes({}, {signer.error()}, ListFormat::text, reporter);
  }
  const auto change = [&](const std::filesystem::path& path) {
    return sign_one(path, options.signature_form, *signer);
  };
  return change_files(options, change,
                      options.signature_form == SignatureForm::detached ? trust::detached_name
                                                                        : k_in_place,
                      reporter);
}

} // namespace oclcc
