#include "info.hpp"

namespace oclcc {

ExitCode info(const Options& options, Reporter& reporter) {
  std::vector<BundleSummary> bundles;
  std::string text;
  for (const Input& input : options.inputs) {
    bundles.push_back(summarize_bundle(input.path));
    const std::string shown = info_text(bundles.back());
    text += (text.empty() || shown.empty() ? "" : "\n") + shown;
  }
  if (options.list_format == ListFormat::json) {
    text = info_json(bundles);
  }
  if (!text.empty() && !reporter.print(text)) {
    return ExitCode::file;
  }
  return report_errors(errors_of(bundles), reporter);
}

} // namespace oclcc
