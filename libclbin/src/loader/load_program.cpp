#include "loader/load_program.hpp"

#include "base/option_words.hpp"
#include "loader/ladder.hpp"
#include "loader/load_devices.hpp"
#include "loader/recorded_options.hpp"
#include "loader/several_devices.hpp"
#include "loader/source_build.hpp"
#include "opencl/driver.hpp"

#include <algorithm>
#include <unordered_set>

namespace clbin::loader {

using base::ErrorCode;
using base::Result;

namespace {

tl::unexpected<base::Error> constants_error(const LoadSession& session,
                                            const EntryOutcome& outcome) {
  const std::string what = fmt::format("program '{}' for '{}' with specialisation constants",
                                       session.group.program, session.report.devices.front());
  if (outcome.first_damage.has_value()) {
    return base::add_context(*outcome.first_damage, what);
  }
  const auto& attempts = session.report.attempts;
  if (!attempts.empty() && attempts.back().decision == Decision::refused) {
    return base::fail(ErrorCode::binary_refused, "the driver rejected the IL of {}: {}: {}", what,
                      attempts.back().stage, opencl::cl_error_name(attempts.back().cl_code));
  }
  return base::fail(ErrorCode::no_matching_entry,
                    "{} needs IL that the device accepts, and the bundle contains none", what);
}

// `why_no_entry`: see Climb.
Result<opencl::Program> load_for_one(const LoadSession& session, std::string why_no_entry) {
  Climb climb(session, 0, ForLater::program_only, std::move(why_no_entry));
  if (auto proved = climb.up_to_source()) {
    session.report.origin = proved->is_recompiled ? Origin::il : proved->origin;
    return std::move(proved->program);
  }
  if (!session.request.constants.empty()) {
    return constants_error(session, climb.outcome());
  }
  Result<opencl::Program> program = fall_back(session, 0, climb.outcome(), climb.source_reason());
  if (program) {
    session.report.origin = Origin::source;
    climb.user_cache().keep(program->get(), session.source_options());
  }
  return program;
}

Result<opencl::Program> load_source_only(const LoadSession& session, const std::string& reason) {
  for (std::uint32_t device = 0; device < session.request.devices.size(); ++device) {
    explain_entries(session, device, "matches, but " + reason, IlComes::no);
  }
  Result<opencl::Program> program = build_source(session, reason);
  if (program) {
    session.report.origin = Origin::source;
  }
  return program;
}

// Run-time options and constants define a variant that only the user cache and a build can provide.
Result<opencl::Program> load_variant_of_run_time(const LoadSession& session,
                                                 const std::string& reason) {
  const LoadRequest& request = session.request;
  const bool has_constants = !request.constants.empty();
  if (request.fallback == FallbackPolicy::never) {
    return base::fail(ErrorCode::no_matching_entry,
                      "{} of program '{}', and the caller does not allow a build from {}", reason,
                      session.group.program, has_constants ? "IL" : "source");
  }
  if (has_constants && request.devices.size() != 1) {
    return base::fail(ErrorCode::invalid_argument,
                      "specialisation constants require exactly one device, not {}",
                      request.devices.size());
  }
  if (!has_constants && request.fallback == FallbackPolicy::always) {
    return load_source_only(session, reason);
  }
  return request.devices.size() == 1 ? load_for_one(session, reason)
                                     : load_for_several(session, reason);
}

Result<opencl::Program> walk_ladder(const LoadSession& session) {
  if (!session.request.constants.empty()) {
    return load_variant_of_run_time(session, "no entry was made with specialisation constants");
  }
  if (!session.request.extra_options.empty()) {
    return load_variant_of_run_time(session,
                                    fmt::format("no entry was made with the extra options '{}'",
                                                session.request.extra_options));
  }
  if (session.request.fallback == FallbackPolicy::always) {
    return load_source_only(session, "the caller requested a build from source");
  }
  return session.request.devices.size() == 1 ? load_for_one(session, {})
                                             : load_for_several(session, {});
}

// Such options cannot be compared word by word, because they are also split within quotes.
bool has_quotes(std::string_view options) {
  return options.find_first_of("\"'\\") != std::string_view::npos;
}

// Returns the variant whose options are those of `group` followed by the caller's, or the caller's
// alone if they begin with those of the group: its entries were made with them. Searches all
// groups, because the table is sorted by a hash. std::nullopt if there is none, or if options
// contain quotes.
Result<std::optional<format::GroupView>> variant_made_with(const format::BundleReader& bundle,
                                                           const format::GroupView& group,
                                                           const std::string& extra_options) {
  if (has_quotes(extra_options) || has_quotes(group.options)) {
    return std::nullopt;
  }
  std::vector<std::string_view> wanted = base::words_between_spaces(group.options);
  const std::vector<std::string_view> added = base::words_between_spaces(extra_options);
  const bool repeats_own =
      added.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), added.begin());
  if (repeats_own && added.size() == wanted.size()) {
    return group;
  }
  wanted.insert(wanted.end(), added.begin(), added.end());
  std::unordered_set<const void*> seen; // any number of groups may share one long text
  for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
    CLBIN_TRY_ASSIGN(auto variant, bundle.group(index));
    if (!variant.program.is_same(group.program) ||
        !seen.insert(variant.options.identity()).second || has_quotes(variant.options)) {
      continue;
    }
    const std::vector<std::string_view> words = base::words_between_spaces(variant.options);
    if (words == wanted || (repeats_own && words == added)) {
      return variant;
    }
  }
  return std::nullopt;
}

// Replaces run-time options by the variant that was made with them, if there is one.
Result<format::GroupView> resolve_group(const format::BundleReader& bundle, LoadRequest& request) {
  CLBIN_TRY_ASSIGN(auto group, bundle.find_group(request.program, request.variant));
  if (request.extra_options.empty()) {
    return group;
  }
  CLBIN_TRY_ASSIGN(auto made, variant_made_with(bundle, group, request.extra_options));
  if (!made.has_value()) {
    return group;
  }
  request.variant = made->variant;
  request.extra_options.clear();
  return std::move(*made);
}

} // namespace

Result<opencl::Program> load_program(const opencl::Driver& driver,
                                     const format::BundleReader& bundle, ProgramCache& cache,
                                     cl_context context, const LoadRequest& given,
                                     LoadReport& report) {
  const Stopwatch stopwatch;
  report = LoadReport();
  LoadRequest request = given;
  if (request.variant.empty()) {
    request.variant = format::k_default_variant;
  }
  report.program = request.program;
  report.variant = request.variant;
  const auto load = [&]() -> Result<opencl::Program> {
    CLBIN_TRY(check_devices(driver, context, request));
    CLBIN_TRY_ASSIGN(auto group, resolve_group(bundle, request));
    report.variant = group.variant;
    CLBIN_TRY_ASSIGN(auto identities, query_identities(driver, request, report));
    const LoadSession session{
        driver, &bundle, cache, context, request, report, std::move(group), std::move(identities)};
    report.first_entry = session.group.first_entry;
    session.warn_of_cache(cache.stores.take_warning());
    return walk_ladder(session);
  };
  Result<opencl::Program> program = load();
  report.microseconds = stopwatch.microseconds();
  return program;
}

} // namespace clbin::loader
