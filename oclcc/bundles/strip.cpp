#include "command_line/modes.hpp"

#include "bundles/bundle_change.hpp"
#include "targets/patterns.hpp"

namespace oclcc {

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

Result<ExitCode> strip(const Options& options, const ModeContext& context) {
  if (!has_something_to_drop(options)) {
    return fail(ErrorCode::invalid_argument,
                "'--strip' needs '--keep-target', '--drop-target', '--strip-source' or "
                "'--strip-reflection'");
  }
  const auto change = [&](const format::BundleReader& bundle,
                          const format::Encryption* encryption) {
    return strip_one(bundle, options, encryption, context.reporter);
  };
  return change_bundles(options, change, context.reporter);
}

Result<ExitCode> repack(const Options& options, const ModeContext& context) {
  const auto change = [](const format::BundleReader& bundle,
                         const format::Encryption* encryption) -> Result<format::StripResult> {
    format::StripResult result;
    format::WriteOptions write;
    if (encryption != nullptr) {
      write.encryption = *encryption;
    }
    CLBIN_TRY_ASSIGN(write.spill, base::SpillFile::create());
    CLBIN_TRY_ASSIGN(result.bytes, format::repack_bundle(bundle, write));
    return result;
  };
  return change_bundles(options, change, context.reporter);
}

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
    return fail(ErrorCode::invalid_argument, "it is not encrypted");
  }
  return copy(bundle, encryption);
}

} // namespace

Result<ExitCode> encrypt(const Options& options, const ModeContext& context) {
  return change_bundles(options, copy, context.reporter);
}

Result<ExitCode> decrypt(const Options& options, const ModeContext& context) {
  return change_bundles(options, decrypt_one, context.reporter);
}

} // namespace oclcc
