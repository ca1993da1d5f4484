#include "inspect/info.hpp"

#include "listing/bundle_json.hpp"

namespace oclcc {

namespace {

// Prints one bundle after another, so that the text of only one is in memory.
ExitCode print_texts(const Options& options, Reporter& reporter) {
  std::vector<clbin::base::Error> errors;
  bool first = true;
  for (const Input& input : options.inputs) {
    const BundleSummary bundle = summarize_bundle(input.path);
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

ExitCode print_json(const Options& options, Reporter& reporter) {
  std::vector<clbin::base::Error> errors;
  clbin::listing::BundlesJson document([&](std::string_view part) { return reporter.print(part); });
  for (const Input& input : options.inputs) {
    const BundleSummary bundle = summarize_bundle(input.path);
    errors.insert(errors.end(), bundle.errors.begin(), bundle.errors.end());
    document.add(bundle);
  }
  return document.finish() ? report_errors(errors, reporter) : ExitCode::file;
}

} // namespace

ExitCode info(const Options& options, Reporter& reporter) {
  return options.list_format == ListFormat::json ? print_json(options, reporter)
                                                 : print_texts(options, reporter);
}

} // namespace oclcc
