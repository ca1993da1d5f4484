#include "command_line/modes.hpp"

#include "bundles/bundle_change.hpp"
#include "trust/bundle_encryption.hpp"

#include <algorithm>
#include <set>
#include <sys/resource.h>

namespace oclcc {

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

// Raises the soft limit of open files, often 1024, towards the hard one: every input stays open
// until all are merged, and a plan may have thousands. If that is not enough, opening fails.
void allow_open_files(std::size_t inputs) {
  constexpr std::size_t k_other_files = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < inputs + k_other_files) {
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, inputs + k_other_files);
    (void)::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

std::vector<format::BundleReader> open_all(const std::vector<Input>& inputs, const BundleKeys& keys,
                                           std::vector<Error>& errors) {
  std::vector<format::BundleReader> bundles;
  for (const Input& input : inputs) {
    auto bundle = open_readable_bundle(input.path, keys);
    if (bundle) {
      bundles.push_back(std::move(*bundle));
    } else {
      errors.push_back(std::move(bundle.error()));
    }
  }
  return bundles;
}

Result<BundleChange> merge_all(const std::vector<format::BundleReader>& bundles,
                               const trust::EncryptionRequest& request, const Options& options) {
  BundleChange change;
  std::vector<const format::BundleReader*> pointers;
  for (const format::BundleReader& bundle : bundles) {
    pointers.push_back(&bundle);
    change.inputs.push_back(bundle.name());
    CLBIN_TRY(count_removed_signatures(change, bundle));
  }
  CLBIN_TRY_ASSIGN(const auto encryption, trust::encryption_of_output(request, pointers));
  if (auto note = trust::note_of_plain_inputs(pointers);
      note && !options.encryption.is_requested()) {
    change.notes.push_back(std::move(*note));
  }
  CLBIN_TRY_ASSIGN(change.result.bytes,
                   format::merge_bundles(pointers, trust::pointer_to(encryption)));
  CLBIN_TRY(write_change(change, *options.output));
  return change;
}

} // namespace

Result<ExitCode> merge(const Options& options, const ModeContext& context) {
  Reporter& reporter = context.reporter;
  if (!options.output) {
    return fail(ErrorCode::invalid_argument, "'--merge' needs an output: name one with '-o'");
  }
  if (const auto checked = check_output(options); !checked) {
    return tell_changes({}, {checked.error()}, ListFormat::text, reporter);
  }
  const auto keys = trust::read_decryption_keys(options, reporter);
  const auto request = trust::EncryptionRequest::read(options, reporter);
  if (!keys || !request) {
    return tell_changes({}, {keys ? request.error() : keys.error()}, format_of_errors(options),
                        reporter);
  }
  warn_of_repeated_inputs(options.inputs, reporter);
  std::vector<Error> errors;
  std::vector<BundleChange> changes;
  allow_open_files(options.inputs.size());
  const std::vector<format::BundleReader> bundles = open_all(options.inputs, *keys, errors);
  if (errors.empty()) {
    auto merged = merge_all(bundles, *request, options);
    if (merged) {
      changes.push_back(std::move(*merged));
    } else {
      errors.push_back(std::move(merged.error()));
    }
  }
  return tell_changes(changes, errors, options.list_format, reporter);
}

} // namespace oclcc
