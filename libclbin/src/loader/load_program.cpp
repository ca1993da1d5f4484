#include "loader/load_program.hpp"

#include "base/text.hpp"
#include "loader/ladder.hpp"
#include "matching/variant_choice.hpp"
#include "opencl/device_query.hpp"

#include <fmt/format.h>
#include <iterator>
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

// The variant of a load in the packs that have binaries for its devices.
struct PackGroups {
  std::vector<std::unique_ptr<const LoadSession>> sessions;
  std::vector<std::vector<PackSet::Pack>> unusable; // by device
};

// Returns the session of the variant in a pack; null if the pack has no entry of it.
Result<std::unique_ptr<const LoadSession>> session_in(const PackSet::Pack& pack,
                                                      const LoadSession& base) {
  auto group = pack.bundle->find_group(base.group.program, base.group.variant);
  if (!group) {
    const bool is_absent = group.error().code == ErrorCode::no_such_program ||
                           group.error().code == ErrorCode::no_such_variant;
    return is_absent ? Result<std::unique_ptr<const LoadSession>>(nullptr)
                     : tl::unexpected(std::move(group.error()));
  }
  auto session = std::make_unique<LoadSession>(
      LoadSession{base.driver, pack.bundle.get(), base.cache, base.context, base.request,
                  base.report, *std::move(group), base.identities});
  session->base = &base;
  session->pack = pack.name;
  session->lacking = base.lacking;
  session->options_checker = OptionsChecker(base.lacking);
  return session;
}

PackGroups groups_in_packs(const LoadSession& base) {
  PackGroups found;
  std::map<std::string, PackSet::Pack> known; // for one of the devices before
  for (const std::vector<PackSet::Pack>& packs : base.packs) {
    auto& unusable = found.unusable.emplace_back();
    for (const PackSet::Pack& opened : packs) {
      const auto [place, is_new] = known.try_emplace(opened.name, opened);
      PackSet::Pack& pack = place->second;
      auto session = is_new && pack.bundle != nullptr
                         ? session_in(pack, base)
                         : Result<std::unique_ptr<const LoadSession>>(nullptr);
      if (!session) {
        pack.error =
            base::add_context(session.error(), fmt::format("pack '{}'", pack.name)).value();
        pack.bundle = nullptr;
      } else if (*session != nullptr) {
        found.sessions.push_back(*std::move(session));
      }
      if (pack.bundle == nullptr) {
        unusable.push_back(pack);
      }
    }
  }
  return found;
}

// Tries the ladder. The ladders from the first without a binary on store what is built from source.
Result<opencl::Program> load_by_ladder(const LoadSession& session, std::string reason) {
  Supply supply{session, {&session}, steps_of(session.request), std::move(reason)};
  PackGroups in_packs = supply.why_no_entry.empty() ? groups_in_packs(session) : PackGroups();
  for (const auto& group : in_packs.sessions) {
    supply.groups.push_back(group.get());
  }
  supply.unusable_packs = std::move(in_packs.unusable);
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
Result<format::GroupView> resolve_group(const format::BundleReader& bundle, format::GroupView group,
                                        LoadRequest& request) {
  if (request.extra_options.empty()) {
    return group;
  }
  CLBIN_TRY_ASSIGN(auto made, variant_made_with(bundle, group, request.extra_options));
  if (!made.has_value()) {
    return group;
  }
  request.extra_options.clear();
  return std::move(*made);
}

// Returns the number that the device reports; 0 if it reports none.
template <typename T>
std::uint64_t device_number(const opencl::Driver& driver, cl_device_id device,
                            cl_device_info name) {
  return opencl::device_value<T>(driver, device, name).value_or(T{});
}

// Chooses by measurements, unless the load names a variant or something that makes one. Of several
// devices, the measurements for the first one count, and the limits of all.
Result<matching::MeasuredChoice> choose_by_measurements(const opencl::Driver& driver,
                                                        const format::BundleReader& bundle,
                                                        const LoadRequest& request,
                                                        const format::DeviceIdentity& identity) {
  if (!bundle.has_rankings() || !request.variant.empty() || !request.extra_options.empty() ||
      !request.constants.empty()) {
    return matching::MeasuredChoice();
  }
  const auto type = device_number<cl_device_type>(driver, request.devices.front(), CL_DEVICE_TYPE);
  matching::DeviceLimits limits{format::measured_device(identity, type)};
  for (const cl_device_id device : request.devices) {
    const auto work_items =
        device_number<std::size_t>(driver, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    const auto local_bytes = device_number<cl_ulong>(driver, device, CL_DEVICE_LOCAL_MEM_SIZE);
    const bool is_first = device == request.devices.front();
    for (matching::LaunchLimits* const one :
         {&limits.of_all, is_first ? nullptr : &limits.of_others}) {
      if (one != nullptr) {
        one->work_items = std::min(one->work_items, work_items == 0 ? one->work_items : work_items);
        one->local_bytes =
            std::min(one->local_bytes, local_bytes == 0 ? one->local_bytes : local_bytes);
      }
    }
  }
  return matching::choose_measured(bundle, request.program, limits, request.problem_size);
}

// Returns the variants that the load tries, in order: the one that it names, otherwise those that
// were measured, those that require extensions, and "default" behind them.
Result<std::vector<format::GroupView>> groups_to_try(const format::BundleReader& bundle,
                                                     const LoadRequest& request,
                                                     std::vector<format::GroupView> measured) {
  std::vector<format::GroupView> groups = std::move(measured);
  const auto add = [&groups](format::GroupView group) {
    if (std::ranges::find(groups, group.index, &format::GroupView::index) == groups.end()) {
      groups.push_back(std::move(group));
    }
  };
  if (request.variant.empty()) {
    CLBIN_TRY_ASSIGN(auto demanding, bundle.groups_with_requirements(request.program));
    std::ranges::sort(demanding, is_tried_before);
    std::ranges::for_each(demanding, add);
  }
  const std::string name =
      request.variant.empty() ? std::string(format::k_default_variant) : request.variant;
  auto named = bundle.find_group(request.program, name);
  if (!named && (groups.empty() || named.error().code != ErrorCode::no_such_variant)) {
    return tl::unexpected(named.error());
  }
  if (named) {
    add(*std::move(named));
  }
  return groups;
}

// Returns the extensions that the variant requires and that one of the devices lacks.
Result<std::vector<std::string>> lacking_of_any(const opencl::Driver& driver,
                                                const std::vector<cl_device_id>& devices,
                                                const format::SharedNames& required) {
  std::vector<std::string> lacking;
  for (auto device = devices.begin(); !required.empty() && device != devices.end(); ++device) {
    CLBIN_TRY_ASSIGN(auto known, opencl::device_extensions(driver, *device));
    known.insert(known.end(), lacking.begin(), lacking.end());
    std::ranges::copy(lacking_extensions(required, known), std::back_inserter(lacking));
  }
  return lacking;
}

// Opens the packs that have binaries for the devices, unless the load cannot use an entry.
std::vector<std::vector<PackSet::Pack>>
packs_of_devices(const format::BundleReader& base, const LoadRequest& request,
                 const std::vector<format::DeviceIdentity>& identities, const PackSet* packs,
                 LoadReport& report) {
  std::vector<std::vector<PackSet::Pack>> found;
  if (!base.has_packs() || !request.constants.empty() ||
      request.fallback == FallbackPolicy::always) {
    return found;
  }
  if (packs == nullptr) {
    report.warnings.push_back(
        "the bundle was opened without its packs, which contain entries of it");
    return found;
  }
  std::ranges::transform(identities, std::back_inserter(found),
                         [&](const auto& identity) { return packs->packs_for(identity); });
  return found;
}

// What the load of one variant borrows.
struct Loading {
  const opencl::Driver& driver;
  const format::BundleReader& bundle;
  ProgramCache& cache;
  cl_context context;
  const std::vector<format::DeviceIdentity>& identities;
  LoadReport& report;
  matching::MeasuredChoice measured;
  std::vector<std::vector<PackSet::Pack>> packs; // by device
};

// Loads a variant for which a device lacks an extension: from entries that were compiled with it.
Result<opencl::Program> load_from_entries(const LoadSession& session, bool may_use_entries) {
  const std::string why =
      fmt::format("variant '{}' requires {}, which {} does not have", session.group.variant,
                  fmt::join(session.lacking, ", "),
                  session.request.devices.size() == 1 ? "the device" : "a device");
  if (!may_use_entries) {
    return base::fail(ErrorCode::no_matching_entry, "program '{}': {}", session.group.program, why);
  }
  Result<opencl::Program> program = load_group(session);
  if (!program) {
    program.error().message += "; " + why;
  }
  return program;
}

// Returns why the variant was chosen, as phrases; empty if no rule chose it.
std::string reason_for(const LoadSession& session, const matching::MeasuredChoice& measured) {
  std::string reason = matching::measured_reason(measured, session.group);
  if (!session.group.required.empty()) {
    reason +=
        fmt::format("{}which requires {}: {}", reason.empty() ? "" : ", ",
                    fmt::join(session.group.required, ", "),
                    session.lacking.empty() ? "the device has it"
                                            : "the entry was compiled with what the device lacks");
  }
  return reason;
}

Result<opencl::Program> load_variant(Loading& loading, LoadRequest request,
                                     const format::GroupView& choice, bool is_last) {
  LoadReport& report = loading.report;
  CLBIN_TRY_ASSIGN(const auto group, resolve_group(loading.bundle, choice, request));
  CLBIN_TRY_ASSIGN(const auto lacking,
                   lacking_of_any(loading.driver, request.devices, group.required));
  request.variant = group.variant;
  report.variant = group.variant;
  report.first_entry = group.first_entry;
  const bool may_use_entries = request.fallback != FallbackPolicy::always &&
                               request.constants.empty() && request.extra_options.empty();
  if (!lacking.empty()) {
    request.fallback = FallbackPolicy::never;
  }
  LoadSession session{loading.driver, &loading.bundle, loading.cache, loading.context,
                      request,        report,          group,         loading.identities};
  session.packs = loading.packs;
  session.lacking = lacking;
  session.options_checker = OptionsChecker(lacking);
  session.warn_of_cache(loading.cache.stores.take_warning());
  for (std::string& why : std::exchange(loading.measured.passed_over, {})) {
    session.record({.reason = std::move(why)});
  }
  auto program =
      lacking.empty() ? load_group(session) : load_from_entries(session, may_use_entries);
  if (!program && !is_last) {
    for (Attempt& attempt : report.attempts) {
      attempt.entry = format::k_no_index; // it is none of the variant that the report names
    }
    session.record({.reason = fmt::format("variant '{}' is passed over: {}", group.variant,
                                          program.error().message)});
  } else if (program) {
    report.variant_reason = reason_for(session, loading.measured);
  }
  return program;
}

} // namespace

// Two threads may open a pack at once, but nobody waits for a file: is_current() is called often.
Result<std::shared_ptr<const format::BundleReader>>
PackSet::open(const format::PackRecord& record) const {
  {
    const std::lock_guard lock(m_mutex);
    if (const auto opened = m_opened.find(record.name); opened != m_opened.end()) {
      return opened->second;
    }
  }
  Result<format::BundleReader> pack = m_open(record.name);
  if (!pack && pack.error().code == ErrorCode::file_not_found) {
    return base::fail(ErrorCode::file_not_found, "the pack '{}' is not installed", record.name);
  }
  if (!pack) {
    return base::add_context(std::move(pack.error()), fmt::format("pack '{}'", record.name));
  }
  if (pack->root_digest() != record.root) {
    return base::fail(ErrorCode::digest_mismatch,
                      "the pack '{}' is not the one that its base names: it is of another version "
                      "or another product",
                      record.name);
  }
  auto made = std::make_shared<const format::BundleReader>(*std::move(pack));
  const std::lock_guard lock(m_mutex);
  return m_opened.try_emplace(record.name, std::move(made)).first->second;
}

std::vector<PackSet::Pack> PackSet::packs_for(const format::DeviceIdentity& device) const {
  std::vector<Pack> packs;
  std::set<std::string> known;
  for (const format::PackRecord& record : matching::packs_for(m_records, device)) {
    if (known.insert(record.name).second) {
      auto opened = open(record);
      packs.push_back({record.name, opened.value_or(nullptr),
                       opened ? base::Error{} : std::move(opened.error())});
    }
  }
  return packs;
}

bool PackSet::is_current() const {
  const std::lock_guard lock(m_mutex);
  return std::ranges::all_of(m_opened,
                             [](const auto& opened) { return opened.second->is_current(); });
}

Result<opencl::Program> load_program(const opencl::Driver& driver,
                                     const format::BundleReader& bundle, ProgramCache& cache,
                                     cl_context context, const LoadRequest& request,
                                     LoadReport& report, const PackSet* packs) {
  const Stopwatch stopwatch;
  report = LoadReport();
  report.program = request.program;
  report.variant =
      request.variant.empty() ? std::string(format::k_default_variant) : request.variant;
  const auto load = [&]() -> Result<opencl::Program> {
    CLBIN_TRY(check_devices(driver, context, request));
    CLBIN_TRY_ASSIGN(const auto identities, query_identities(driver, request, report));
    CLBIN_TRY_ASSIGN(auto measured,
                     choose_by_measurements(driver, bundle, request, identities.front()));
    if (!measured.size_warning.empty()) {
      report.warnings.push_back(std::move(measured.size_warning));
    }
    CLBIN_TRY_ASSIGN(const auto groups, groups_to_try(bundle, request, measured.groups));
    Loading loading{driver,
                    bundle,
                    cache,
                    context,
                    identities,
                    report,
                    std::move(measured),
                    packs_of_devices(bundle, request, identities, packs, report)};
    for (auto group = groups.begin(); std::next(group) != groups.end(); ++group) {
      if (auto program = load_variant(loading, request, *group, false)) {
        return program;
      }
    }
    return load_variant(loading, request, groups.back(), true);
  };
  Result<opencl::Program> program = load();
  if (program && report.origin == Origin::none) {
    report.origin = Origin::source;
  }
  if (!program) {
    report.extensions.clear();
  }
  report.microseconds = stopwatch.microseconds();
  return program;
}

} // namespace clbin::loader
