#include "command_line/modes.hpp"

#include "inspect/bundle_summary.hpp"
#include "listing/bundle_summary.hpp"
#include "trust/bundle_encryption.hpp"

namespace oclcc {

namespace {

// Prints one bundle after another, so that the text of only one is in memory.
ExitCode print_texts(const Options& options, const BundleKeys& keys, Reporter& reporter) {
  std::vector<clbin::base::Error> errors;
  bool first = true;
  for (const Input& input : options.inputs) {
    const BundleSummary bundle = summarize_bundle(input.path, keys);
    errors.insert(errors.end(), bundle.errors.begin(), bundle.errors.end());
    const std::string shown = info_text(bundle);
    if (shown.empty()) {
      continue;
    }
    if ((!first && !reporter.print("\n")) || !reporter.print(shown)) {
      return ExitCode::file;
    }
    first = false;
  }
  return report_errors(errors, reporter);
}

ExitCode print_json(const Options& options, const BundleKeys& keys, Reporter& reporter) {
  std::vector<clbin::base::Error> errors;
  clbin::listing::BundlesJson document([&](std::string_view part) { return reporter.print(part); });
  for (const Input& input : options.inputs) {
    const BundleSummary bundle = summarize_bundle(input.path, keys);
    errors.insert(errors.end(), bundle.errors.begin(), bundle.errors.end());
    document.add(bundle);
  }
  return document.finish() ? report_errors(errors, reporter) : ExitCode::file;
}

// Prints the error once; in JSON, each bundle has it.
ExitCode report_unreadable_keys(const Options& options, const clbin::base::Error& error,
                                Reporter& reporter) {
  const ExitCode status = report_errors({&error, 1}, reporter);
  if (options.list_format == ListFormat::text) {
    return status;
  }
  clbin::listing::BundlesJson document([&](std::string_view part) { return reporter.print(part); });
  for (const Input& input : options.inputs) {
    document.add(unread_summary(input.path, error));
  }
  return document.finish() ? status : ExitCode::file;
}

} // namespace

ExitCode info(const Options& options, Reporter& reporter) {
  const auto keys = trust::read_decryption_keys(options, reporter);
  if (!keys) {
    return report_unreadable_keys(options, keys.error(), reporter);
  }
  return options.list_format == ListFormat::json ? print_json(options, *keys, reporter)
                                                 : print_texts(options, *keys, reporter);
}

} // namespace oclcc
