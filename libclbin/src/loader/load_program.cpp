#include "loader/load_program.hpp"

#include "base/text.hpp"
#include "loader/ladder.hpp"

#include <unordered_set>

namespace clbin::loader {

namespace {

// Why no entry can have what the request asks for, as an unfinished sentence; empty if the bundle
// has the variant. Only the user cache and a build can provide the others.
std::string why_no_entry(const LoadRequest& request) {
  if (!request.constants.empty()) {
    return "no entry was made with specialisation constants";
  }
  return request.extra_options.empty()
             ? std::string()
             : fmt::format("no entry was made with the extra options '{}'", request.extra_options);
}

Result<opencl::Program> load_source_only(const LoadSession& session, const std::string& reason) {
  for (std::uint32_t device = 0; device < session.request.devices.size(); ++device) {
    explain_entries(session, device, "matches, but " + reason, IlComes::no);
  }
  return build_source(session, reason);
}

// Builds source. If the bundle has none, or may not be built, returns why the entries failed.
Result<opencl::Program> fall_back(const LoadSession& session, const Ladder& ladder,
                                  std::string reason) {
  if (session.request.fallback == FallbackPolicy::never || !session.request.constants.empty()) {
    return ladder.error();
  }
  Result<opencl::Program> program = build_source(session, std::move(reason));
  if (program || program.error().code != ErrorCode::no_source) {
    return program;
  }
  const base::Error entries = ladder.error().value();
  const bool none_fits = entries.code == ErrorCode::no_matching_entry;
  return base::fail(none_fits ? ErrorCode::no_source : entries.code,
                    "{}, and the bundle does not contain its source", entries.message);
}

// Creates one program from the binaries, or builds source for all devices and stores nothing.
Result<opencl::Program> load_together(const LoadSession& session, std::vector<Accepted>& binaries) {
  auto together = create_program(session, binaries);
  if (together) {
    const bool is_built = binaries.size() == 1 && binaries.front().is_recompiled;
    session.report.origin = is_built ? Origin::il : common_origin(binaries);
    return *std::move(together);
  }
  if (session.request.fallback == FallbackPolicy::never) {
    return tl::unexpected(
        base::Error{ErrorCode::several_devices_refused,
                    together.error() + ", and the caller does not allow a build from source; load "
                                       "the program for each device separately"});
  }
  const bool was_tried = session.report.attempts.back().decision == Decision::refused;
  Result<opencl::Program> program = build_source(
      session, was_tried ? "the driver rejected one program with the binaries of several devices"
                         : "the binaries of several devices in one program are in quarantine");
  if (!program && program.error().code == ErrorCode::no_source) {
    return tl::unexpected(base::Error{
        ErrorCode::several_devices_refused,
        together.error() +
            ", and the bundle contains no source; load the program for each device separately"});
  }
  return program;
}

// Tries the ladder. The ladders from the first without a binary on store what is built from source.
Result<opencl::Program> load_by_ladder(const LoadSession& session, std::string reason) {
  const Supply supply{session, {&session}, steps_of(session.request), std::move(reason)};
  std::vector<Ladder> ladders;
  for (std::uint32_t device = 0; device < session.request.devices.size(); ++device) {
    ladders.emplace_back(supply, device);
  }
  std::vector<Accepted> binaries = find_binaries(supply, ladders);
  if (binaries.size() == ladders.size()) {
    return load_together(session, binaries);
  }
  const auto missing = ladders.begin() + static_cast<std::ptrdiff_t>(binaries.size());
  const std::string& why = missing->source_reason();
  Result<opencl::Program> program = fall_back(
      session, *missing,
      ladders.size() == 1 ? why : fmt::format("device {} has no binary: {}", binaries.size(), why));
  if (program) {
    std::for_each(missing, ladders.end(), [&](Ladder& ladder) {
      ladder.user_cache().keep(program->get(), session.source_options());
    });
  }
  return program;
}

Result<opencl::Program> load_group(const LoadSession& session) {
  const LoadRequest& request = session.request;
  const bool has_constants = !request.constants.empty();
  const std::string reason = why_no_entry(request);
  if (!reason.empty() && request.fallback == FallbackPolicy::never) {
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
    return load_source_only(session,
                            reason.empty() ? "the caller requested a build from source" : reason);
  }
  return load_by_ladder(session, reason);
}

// Such options cannot be compared word by word, because they are also split within quotes.
bool has_quotes(std::string_view options) {
  return options.find_first_of("\"'\\") != std::string_view::npos;
}

// Returns the variant whose options are those of `group` followed by the caller's, or the caller's
// alone if they begin with those of the group. Searches all groups, because the table is sorted by
// a hash. std::nullopt if there is none, or if options contain quotes.
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
    return load_group(session);
  };
  Result<opencl::Program> program = load();
  if (program && report.origin == Origin::none) {
    report.origin = Origin::source;
  }
  report.microseconds = stopwatch.microseconds();
  return program;
}

} // namespace clbin::loader
