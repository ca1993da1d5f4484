#include "command_line/modes.hpp"

#include "base/output_file.hpp"
#include "format/bundle/signatures.hpp"
#include "input/bundle_file.hpp"
#include "input/overwritten_input.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/key_files.hpp"

namespace oclcc {

namespace format = clbin::format;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;

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
  auto verified = verify_bundle(bundle);
  if (!verified) {
    return tl::unexpected(named_error(std::move(verified.error()), input));
  }
  if (*verified == Verified::all_but_contents) {
    reporter.warning(fmt::format("{}: {}", bundle_name(input), k_contents_not_checked));
  }
  const clbin::base::Bytes message =
      options.signing.counter
          ? format::counter_message(bundle.root_digest(), *options.signing.counter)
          : format::signature_message(bundle.root_digest());
  return clbin::base::write_output_file(output, message);
}

} // namespace

ExitCode sign_message(const Options& options, Reporter& reporter) {
  const auto written = write_message(options, reporter);
  if (!written) {
    reporter.error(written.error());
    return exit_code_of(written.error().code);
  }
  return ExitCode::success;
}

} // namespace oclcc
