#include "command_line/modes.hpp"

#include "surgery/bundle_change.hpp"
#include "targets/patterns.hpp"

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;
using base::Result;

namespace {

bool has_something_to_drop(const Options& options) {
  return !options.keep_targets.empty() || !options.drop_targets.empty() ||
         options.source == SourcePolicy::drop || options.reflection == ReflectionPolicy::drop;
}

Result<void> warn_of_idle_patterns(const format::BundleReader& bundle, const TargetChoice& choice,
                                   Reporter& reporter) {
  CLBIN_TRY_ASSIGN(const auto idle, idle_patterns(bundle, choice));
  for (const std::string& pattern : idle) {
    CLBIN_TRY_ASSIGN(const std::string targets, list_targets(bundle));
    reporter.warning(
        fmt::format("{}: no target matches '{}'; there are {}", bundle.name(), pattern, targets));
  }
  return {};
}

Result<format::StripResult> strip_one(const format::BundleReader& bundle, const Options& options,
                                      const format::Encryption* encryption, Reporter& reporter) {
  const TargetChoice choice{options.keep_targets, options.drop_targets};
  CLBIN_TRY(warn_of_idle_patterns(bundle, choice, reporter));
  const auto keep = [&](const format::EntryView& entry) { return is_chosen(entry.target, choice); };
  return format::strip_bundle(
      bundle, keep,
      options.source == SourcePolicy::keep ? format::KeepSource::yes : format::KeepSource::no,
      options.reflection == ReflectionPolicy::keep ? format::KeepReflection::yes
                                                   : format::KeepReflection::names_only,
      encryption);
}

} // namespace

ExitCode strip(const Options& options, Reporter& reporter) {
  if (!has_something_to_drop(options)) {
    reporter.error("'--strip' needs '--keep-target', '--drop-target', '--strip-source' or "
                   "'--strip-reflection'");
    return ExitCode::command_line;
  }
  const auto change = [&](const format::BundleReader& bundle,
                          const format::Encryption* encryption) {
    return strip_one(bundle, options, encryption, reporter);
  };
  return change_bundles(options, change, reporter);
}

} // namespace oclcc
