#include "command_line/modes.hpp"

#include "surgery/bundle_change.hpp"

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;
using base::Result;

namespace {

// The merge of one bundle copies it.
Result<format::StripResult> copy(const format::BundleReader& bundle,
                                 const format::Encryption* encryption) {
  const format::BundleReader* const input = &bundle;
  format::StripResult result;
  CLBIN_TRY_ASSIGN(result.bytes, format::merge_bundles({&input, 1}, encryption));
  return result;
}

Result<format::StripResult> decrypt_one(const format::BundleReader& bundle,
                                        const format::Encryption* encryption) {
  if (!bundle.is_encrypted()) {
    return base::fail(base::ErrorCode::invalid_argument, "it is not encrypted");
  }
  return copy(bundle, encryption);
}

} // namespace

ExitCode encrypt(const Options& options, Reporter& reporter) {
  return change_bundles(options, copy, reporter);
}

ExitCode decrypt(const Options& options, Reporter& reporter) {
  return change_bundles(options, decrypt_one, reporter);
}

} // namespace oclcc
