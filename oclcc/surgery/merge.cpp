#include "surgery/merge.hpp"

#include "input/bundle_file.hpp"
#include "surgery/bundle_change.hpp"

#include <set>

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;
using base::Error;
using base::Result;

namespace {

// Harmless, but probably a typing error.
void warn_of_repeated_inputs(const std::vector<Input>& inputs, Reporter& reporter) {
  std::set<std::filesystem::path> known;
  for (const Input& input : inputs) {
    std::error_code error;
    const auto path = std::filesystem::canonical(input.path, error);
    if (!error && !known.insert(path).second) {
      reporter.warning(fmt::format("'{}' is given twice", input.path.string()));
    }
  }
}

std::vector<format::BundleReader> open_all(const std::vector<Input>& inputs,
                                           std::vector<Error>& errors) {
  std::vector<format::BundleReader> bundles;
  for (const Input& input : inputs) {
    auto bundle = open_bundle(input.path);
    if (bundle) {
      bundles.push_back(std::move(*bundle));
    } else {
      errors.push_back(std::move(bundle.error()));
    }
  }
  return bundles;
}

Result<BundleChange> merge_all(const std::vector<format::BundleReader>& bundles,
                               const std::filesystem::path& output) {
  BundleChange change;
  std::vector<const format::BundleReader*> pointers;
  for (const format::BundleReader& bundle : bundles) {
    pointers.push_back(&bundle);
    change.inputs.push_back(bundle.name());
    CLBIN_TRY(count_removed_signatures(change, bundle));
  }
  CLBIN_TRY_ASSIGN(change.result.bytes, format::merge_bundles(pointers));
  CLBIN_TRY(write_change(change, output));
  return change;
}

} // namespace

ExitCode merge(const Options& options, Reporter& reporter) {
  if (!options.output) {
    reporter.error("'--merge' needs an output: name one with '-o'");
    return ExitCode::command_line;
  }
  if (const auto checked = check_output(options); !checked) {
    return tell_changes({}, {checked.error()}, ListFormat::text, reporter);
  }
  warn_of_repeated_inputs(options.inputs, reporter);
  std::vector<Error> errors;
  std::vector<BundleChange> changes;
  const std::vector<format::BundleReader> bundles = open_all(options.inputs, errors);
  if (errors.empty()) {
    auto merged = merge_all(bundles, *options.output);
    if (merged) {
      changes.push_back(std::move(*merged));
    } else {
      errors.push_back(std::move(merged.error()));
    }
  }
  return tell_changes(changes, errors, options.list_format, reporter);
}

} // namespace oclcc
