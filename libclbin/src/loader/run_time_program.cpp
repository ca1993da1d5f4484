#include "loader/run_time_program.hpp"

#include "closure/run_time_closure.hpp"
#include "loader/ladder.hpp"
#include "loader/pocl_keeping.hpp"
#include "opencl/process_end.hpp"

#include <fmt/format.h>

namespace clbin::loader {

using base::ErrorCode;
using base::Result;

namespace {

// The program of a cache entry, and of a report without a label.
constexpr const char* k_program_name = "run-time source";

Result<void> check_source(const RunTimeSource& source) {
  if (source.strings.empty() == source.il.empty()) {
    return base::fail(ErrorCode::invalid_argument, "a program needs either source or IL");
  }
  if (!source.il.empty() && !source.headers.empty()) {
    return base::fail(ErrorCode::invalid_argument, "IL does not include headers");
  }
  if (source.il.empty() && !source.constants.empty()) {
    return base::fail(ErrorCode::invalid_argument,
                      "only IL has specialisation constants, source does not");
  }
  return {};
}

// The group that a bundle contains of a program.
struct BundleMatch {
  std::shared_ptr<const format::BundleReader> bundle;
  std::unique_ptr<const LoadSession> session;
};

// Whether a kernel has a required work-group size.
bool has_required_size(const opencl::Driver& driver, cl_program program, cl_device_id device) {
  const auto reflection = opencl::reflect_kernels(driver, program, device);
  return !reflection.has_value() ||
         std::any_of(reflection->kernels.begin(), reflection->kernels.end(),
                     [](const auto& kernel) { return kernel.required_work_group_size[0] != 0; });
}

bool is_pocl(const format::DeviceIdentity& identity) {
  return format::device_family(identity) == format::DeviceFamily::pocl;
}

} // namespace

Result<ProgramDetails> ServedDetails::read() const {
  CLBIN_TRY_ASSIGN(const format::EntryView view, bundle->entry(entry));
  CLBIN_TRY_ASSIGN(format::Manifest manifest, bundle->read_manifest(group));
  if (view.manifest_row >= manifest.entries.size()) {
    return base::fail(ErrorCode::damaged, "the manifest has no row for entry {}", entry);
  }
  format::ManifestEntry& row = manifest.entries[view.manifest_row];
  return ProgramDetails{std::move(row.build_log), std::move(row.kernels)};
}

struct RunTimeProgram::State {
  State(const opencl::Driver& given_driver, BuilderState& given_builder, cl_context given_context,
        RunTimeRequest given_request, LoadReport& given_report)
      : driver(given_driver), builder(given_builder), context(given_context),
        request(std::move(given_request)), report(given_report) {
    request.program = k_program_name;
    request.variant = format::k_default_variant;
    request.constants = request.source.constants;
    const auto& strings = request.source.strings;
    if (strings.size() > 1) {
      joined_text = fmt::format("{}", fmt::join(strings, ""));
    }
    given_text = source::without_final_zeros(strings.size() == 1 ? strings.front()
                                                                 : std::string_view(joined_text));
  }

  [[nodiscard]] bool is_likely_self_contained() const;
  void close_source();
  bool examine();
  // As the key and the digest contain them.
  [[nodiscard]] std::string_view main_text() const {
    return closure.package.has_value() ? std::string_view(closure.package->main.text) : given_text;
  }
  [[nodiscard]] const std::vector<format::SourceFile>& headers() const {
    return closure.package.has_value() ? closure.package->headers : no_headers;
  }
  [[nodiscard]] const format::SourcePackage& package();
  [[nodiscard]] base::Digest main_digest();
  void make_key();
  [[nodiscard]] const base::Digest& digest();
  [[nodiscard]] LoadSession session_of(const format::BundleReader* bundle, format::GroupView group,
                                       std::vector<format::DeviceIdentity> identities) const;
  void find_groups();
  void find_matches();
  void explain_bundles_miss() const;
  [[nodiscard]] ServedDetails details_of(Accepted& accepted) const;
  [[nodiscard]] std::optional<ServedProgram> serve();
  [[nodiscard]] bool is_unchanged();
  [[nodiscard]] ProgramDetails build_details_of(cl_program built, std::uint32_t device) const;
  [[nodiscard]] opencl::BuildOutcome call_driver() const;
  [[nodiscard]] bool claim(KeepTime time);
  void store(cl_program built, KeepTime time);
  [[nodiscard]] bool is_taken(std::uint32_t device, KeepTime time) const;
  // When the binary of PoCL's program is taken.
  enum class Moment : std::uint8_t { now, now_or_never, later };
  [[nodiscard]] Moment moment_of(cl_program built) const;

  opencl::Driver driver; // see find_groups()
  BuilderState& builder;
  cl_context context;
  RunTimeRequest request;
  LoadReport& report;
  std::string joined_text;     // if there are several strings
  std::string_view given_text; // the whole source, without zero bytes at its end
  const std::vector<format::SourceFile> no_headers;
  Stopwatch stopwatch;
  source::BuildOptions options;
  closure::RunTimeClosure closure;
  bool is_examined = true; // false: `closure` and `key` assume a self-contained text
  RunTimeKey key;
  std::optional<base::Digest> given_digest; // of `given_text`; set by main_digest()
  std::optional<base::Digest> read_digest;  // set by digest()
  std::string program;
  std::string variant;
  std::unique_ptr<const LoadSession> session;  // of the user cache: without a bundle
  std::optional<Supply> supply;                // of `session` and `matches`
  std::vector<Ladder> ladders;                 // one a device
  std::optional<SourceMatches> source_matches; // set by find_groups(), as is:
  std::string why_uncached;                    // see LoadSession
  std::vector<BundleMatch> matches;
  bool is_looked_up = false; // serve() was called
};

// Bundles also contain programs that no key identifies, so that the digest of the given text may
// find them only if the text has been examined.
bool RunTimeProgram::State::is_likely_self_contained() const {
  return request.examination == Examination::after_a_miss && request.source.il.empty() &&
         request.source.headers.empty() && builder.has_no_bundles() &&
         closure::begins_self_contained(given_text);
}

// Self-contained texts have keys of their own. An entry under such a key proves that the build that
// stored it examined the same text, so that a large text is looked up before it is examined.
void RunTimeProgram::State::close_source() {
  options = source::parse_build_options(request.source.options);
  if (!request.source.il.empty()) {
    // The preprocessor does not read IL, so that options cannot name files that matter to it.
    closure.why_not_keyed = options.why_not_closed;
  } else if (is_likely_self_contained()) {
    closure = closure::self_contained_closure(options);
    is_examined = false;
  } else {
    closure = closure::find_run_time_closure(given_text, request.source.headers, options);
  }
  make_key();
}

// Returns true if it changed the key.
bool RunTimeProgram::State::examine() {
  if (is_examined) {
    return false;
  }
  is_examined = true;
  closure = closure::find_run_time_closure(given_text, {}, options);
  if (!closure.package.has_value()) {
    return false;
  }
  make_key();
  return true;
}

// Most closed texts are the given one, whose digest takes longer than to compare them.
base::Digest RunTimeProgram::State::main_digest() {
  if (closure.package.has_value() && closure.package->main.text != given_text) {
    return base::digest_of(base::as_bytes(main_text()));
  }
  if (!given_digest.has_value()) {
    given_digest = base::digest_of(base::as_bytes(given_text));
  }
  return *given_digest;
}

void RunTimeProgram::State::make_key() {
  key.why_none = closure.why_not_keyed;
  cache::Recipe recipe;
  if (request.source.il.empty()) {
    cache::add_source(recipe, main_digest(), headers());
  } else {
    recipe.ingredients.push_back({"IL", base::to_hex(digest()), cache::ShowValue::no});
  }
  const std::string& label = request.source.label;
  key.subject = "run-time source / " + (label.empty() ? recipe.ingredients.front().value : label);
  key.text = label.empty() ? std::string_view() : main_text();
  // A bundle's source is closed before it is built, so that its binaries can differ.
  const bool is_self_contained = request.source.il.empty() && !closure.package.has_value();
  recipe.ingredients.push_back(
      {"build", is_self_contained ? "of self-contained run-time source" : "of run-time source"});
  if (request.kernels == KernelDetail::arguments) {
    recipe.ingredients.push_back({"kernel information", "arguments"});
  }
  key.ingredients = std::move(recipe.ingredients);
}

const format::SourcePackage& RunTimeProgram::State::package() {
  examine();
  if (!closure.package.has_value()) {
    closure.package = closure::package_of_text(given_text);
  }
  return *closure.package;
}

const base::Digest& RunTimeProgram::State::digest() {
  examine();
  if (!read_digest.has_value()) {
    read_digest = request.source.il.empty() ? source::source_digest(main_text(), headers())
                                            : source::il_digest(request.source.il);
  }
  return *read_digest;
}

LoadSession
RunTimeProgram::State::session_of(const format::BundleReader* bundle, format::GroupView group,
                                  std::vector<format::DeviceIdentity> identities) const {
  LoadSession made{driver,  bundle, builder.cache(),  context,
                   request, report, std::move(group), std::move(identities)};
  made.why_uncached = &why_uncached;
  return made;
}

// Call it before the user cache is used, and before a build if a bundle is secret.
void RunTimeProgram::State::find_groups() {
  if (source_matches.has_value() || builder.has_no_bundles()) {
    return;
  }
  examine();
  if (!key.why_none.empty()) {
    return;
  }
  source_matches = builder.find_groups(digest(), options.normalized, report.warnings);
  if (source_matches->encrypted != nullptr) {
    why_uncached =
        fmt::format("'{}', which is encrypted, contains the program, or cannot be searched",
                    source_matches->encrypted->name());
    driver = opencl::for_secret_programs(driver);
  }
}

void RunTimeProgram::State::find_matches() {
  find_groups();
  if (!source_matches.has_value() || !request.source.constants.empty()) {
    return; // no entry was made with constants
  }
  for (const BundleGroup& made : source_matches->groups) {
    matches.push_back({made.bundle, std::make_unique<const LoadSession>(session_of(
                                        made.bundle.get(), made.group, session->identities))});
    supply->groups.push_back(matches.back().session.get());
  }
}

void RunTimeProgram::State::explain_bundles_miss() const {
  if (request.detail == ReportDetail::attempts_only || !source_matches.has_value() ||
      !source_matches->groups.empty() || !request.source.il.empty()) {
    return;
  }
  Attempt attempt;
  attempt.origin = Origin::entry;
  attempt.reason = builder.explain_miss({main_text(), headers(), options.normalized});
  if (session->has_room_for(attempt)) {
    session->record(std::move(attempt));
  }
}

ServedDetails RunTimeProgram::State::details_of(Accepted& accepted) const {
  if (accepted.hit.has_value()) {
    auto bundle = std::make_shared<const format::BundleReader>(std::move(accepted.hit->bundle));
    return {std::move(bundle), std::move(accepted.hit->group), accepted.hit->entry.index};
  }
  const auto match = std::find_if(matches.begin(), matches.end(), [&](const BundleMatch& one) {
    return one.session.get() == accepted.session;
  });
  return {match->bundle, match->session->group, accepted.binary.attempt.entry};
}

std::optional<ServedProgram> RunTimeProgram::State::serve() {
  std::vector<Accepted> binaries = find_binaries(*supply, ladders);
  if (binaries.size() < ladders.size()) {
    return std::nullopt;
  }
  auto together = create_program(*session, binaries);
  if (!together) {
    return std::nullopt;
  }
  report.origin = common_origin(binaries);
  ServedProgram served{*std::move(together), report.origin, {}};
  for (Accepted& binary : binaries) {
    served.details.push_back(details_of(binary));
  }
  return served;
}

// A header may have been replaced while the driver read it.
bool RunTimeProgram::State::is_unchanged() {
  if (closure.reads == closure::RunTimeClosure::Reads::text_only) {
    return true;
  }
  const closure::RunTimeClosure now =
      closure::find_run_time_closure(given_text, request.source.headers, options);
  return now.why_not_keyed.empty() && now.package == closure.package;
}

ProgramDetails RunTimeProgram::State::build_details_of(cl_program built,
                                                       std::uint32_t device) const {
  ProgramDetails details;
  cl_device_id id = request.devices[device];
  details.build_log = opencl::build_log(driver, built, {id});
  if (request.kernels == KernelDetail::arguments &&
      opencl::creates_kernels_safely(session->identities[device])) {
    details.kernels =
        opencl::reflect_kernels(driver, built, id).value_or(opencl::ProgramReflection()).kernels;
  }
  return details;
}

opencl::BuildOutcome RunTimeProgram::State::call_driver() const {
  const RunTimeSource& source = request.source;
  const opencl::Driver told =
      source.label.empty() ? driver : opencl::for_labelled_programs(driver, source.label.c_str());
  if (!source.il.empty()) {
    return opencl::build_from_il(told, context, request.devices, source.il, source.constants,
                                 source.options, {});
  }
  if (source.headers.empty()) {
    return opencl::build_from_strings(told, context, request.devices, source.strings,
                                      source.options);
  }
  format::SourcePackage package;
  package.main.text = std::string(given_text);
  package.headers = source.headers;
  return opencl::build_from_source(told, context, request.devices, package, source.options);
}

bool RunTimeProgram::State::is_taken(std::uint32_t device, KeepTime time) const {
  return time != KeepTime::after_build || !is_pocl(session->identities[device]);
}

// Returns whether the user cache waits for the binary of a device.
bool RunTimeProgram::State::claim(KeepTime time) {
  if (request.fallback != FallbackPolicy::if_needed) {
    return false;
  }
  examine();
  if (!key.why_none.empty()) {
    return false;
  }
  find_groups();
  bool is_claimed = false;
  for (std::uint32_t device = 0; device < ladders.size(); ++device) {
    UserCacheStep& user_cache = ladders[device].user_cache();
    if (!is_taken(device, time)) {
      continue;
    }
    if (time == KeepTime::after_more_launches) {
      user_cache.claim_if_free(StoredEntry::is_replaced);
    } else if (!user_cache.can_keep() && (time == KeepTime::after_launches || !is_looked_up)) {
      user_cache.claim_if_free();
    }
    is_claimed |= user_cache.can_keep();
  }
  return is_claimed;
}

void RunTimeProgram::State::store(cl_program built, KeepTime time) {
  if (!is_unchanged()) {
    session->warn_of_cache(
        "the user cache does not store the program: a header has changed during the build");
    return;
  }
  for (std::uint32_t device = 0; device < ladders.size(); ++device) {
    UserCacheStep& user_cache = ladders[device].user_cache();
    if (is_taken(device, time) && user_cache.can_keep()) {
      user_cache.keep(built, options.normalized, build_details_of(built, device));
    }
  }
  report.microseconds = stopwatch.microseconds();
}

RunTimeProgram::State::Moment RunTimeProgram::State::moment_of(cl_program built) const {
  for (std::uint32_t device = 0; device < request.devices.size(); ++device) {
    if (!opencl::returns_binaries_during_launches(session->identities[device]) &&
        has_required_size(driver, built, request.devices[device])) {
      return Moment::now_or_never;
    }
  }
  // A copy contains what PoCL's own cache has of the first program.
  return builder.of_pocl() == cache::PoclCache::off || !request.source.il.empty() ||
                 !request.source.headers.empty()
             ? Moment::now
             : Moment::later;
}

RunTimeProgram::RunTimeProgram(std::unique_ptr<State> state) : m_state(std::move(state)) {}
RunTimeProgram::RunTimeProgram(RunTimeProgram&&) noexcept = default;
RunTimeProgram& RunTimeProgram::operator=(RunTimeProgram&&) noexcept = default;
RunTimeProgram::~RunTimeProgram() = default;

Result<RunTimeProgram> RunTimeProgram::begin(const opencl::Driver& driver, BuilderState& builder,
                                             cl_context context, RunTimeRequest request,
                                             LoadReport& report) {
  report = LoadReport();
  report.program = request.source.label.empty() ? k_program_name : request.source.label;
  report.variant = format::k_default_variant;
  report.warnings = builder.warnings();
  CLBIN_TRY(check_source(request.source));
  auto state = std::make_unique<State>(driver, builder, context, std::move(request), report);
  CLBIN_TRY(check_devices(driver, context, state->request));
  CLBIN_TRY_ASSIGN(auto identities, query_identities(driver, state->request, report));
  state->close_source();
  format::GroupView group;
  group.program = k_program_name;
  group.variant = std::string(format::k_default_variant);
  group.options = state->options.normalized;
  if (!state->is_examined) {
    state->key.confirm = [pointer = state.get()] { return pointer->examine(); };
  }
  state->session = std::make_unique<const LoadSession>([&] {
    LoadSession session = state->session_of(nullptr, std::move(group), std::move(identities));
    session.on_pocl = builder.on_pocl();
    session.run_time = &state->key;
    return session;
  }());
  std::vector<Step> steps = steps_of(state->request, Subject::text);
  if (state->request.bundle_il == BundleIl::ignored) {
    std::erase(steps, Step::il);
  }
  state->supply.emplace(Supply{*state->session, {}, std::move(steps), {}});
  for (std::uint32_t device = 0; device < state->request.devices.size(); ++device) {
    state->ladders.emplace_back(*state->supply, device);
  }
  state->session->warn_of_cache(builder.cache().stores.take_warning());
  report.microseconds = state->stopwatch.microseconds();
  return RunTimeProgram(std::move(state));
}

std::optional<ServedProgram> RunTimeProgram::serve() {
  State& state = *m_state;
  if (state.request.fallback == FallbackPolicy::always) {
    return std::nullopt;
  }
  state.is_looked_up = true;
  state.find_matches();
  std::optional<ServedProgram> served = state.serve();
  if (!served.has_value()) {
    state.explain_bundles_miss();
  }
  state.report.microseconds = state.stopwatch.microseconds();
  return served;
}

Result<opencl::Program> RunTimeProgram::build() {
  State& state = *m_state;
  const Stopwatch stopwatch;
  const bool is_il = !state.request.source.il.empty();
  Attempt attempt;
  attempt.origin = is_il ? Origin::il : Origin::source;
  attempt.rule = is_il ? Rule::il : Rule::source;
  if (state.builder.unsigned_source() == UnsignedSource::refused) {
    attempt.reason = "a signature is required, and nobody signed it";
    state.session->record(std::move(attempt));
    state.report.microseconds = state.stopwatch.microseconds();
    return base::fail(ErrorCode::not_signed,
                      "no entry of the builder's signed bundles serves '{}', and what is not "
                      "signed may not be built",
                      state.report.program);
  }
  state.examine(); // reads headers before the driver does
  if (state.builder.has_secret_bundles()) {
    state.find_groups();
  }
  opencl::BuildOutcome outcome = state.call_driver();
  attempt.reason = "no binary of this source and these options is known";
  attempt.decision = Decision::loaded;
  const Origin origin = attempt.origin;
  const bool is_good = state.session->record_build(std::move(attempt), outcome, stopwatch);
  state.report.microseconds = state.stopwatch.microseconds();
  if (!is_good) {
    return build_error(fmt::format("'{}'", state.report.program), outcome);
  }
  state.report.origin = origin;
  return std::move(outcome.program);
}

void RunTimeProgram::keep(cl_program built, KeepTime time) {
  if (m_state->claim(time)) {
    m_state->store(built, time);
  }
}

void RunTimeProgram::keep_copy(KeepTime time) {
  if (m_state->claim(time)) {
    if (const opencl::BuildOutcome copy = m_state->call_driver(); copy.program) {
      opencl::watch_process_end();
      m_state->store(copy.program.get(), time);
    }
  }
}

void RunTimeProgram::keep_on_pocl(cl_program built) {
  State& state = *m_state;
  if (!is_on_pocl() || state.builder.on_pocl() == cache::CacheOnPocl::no ||
      !state.builder.cache().programs.is_on() || !state.key.why_none.empty()) {
    return;
  }
  PoclKeeping& keeping = state.builder.pocl_keeping();
  switch (state.moment_of(built)) {
  case State::Moment::now:
    keep(built, KeepTime::after_launches);
    return;
  case State::Moment::now_or_never:
    // Also if nothing may be stored: kernels of the source may run soon.
    keeping.take_once(base::to_hex(state.digest()) + state.options.normalized,
                      [&] { keep(built, KeepTime::after_launches); });
    return;
  case State::Moment::later:
    break;
  }
  if (state.request.fallback != FallbackPolicy::if_needed ||
      state.request.store == StorePolicy::drop) {
    return;
  }
  const std::string why_not = keeping.add(state.driver, state.context, state.request, built);
  if (!why_not.empty()) {
    state.session->warn_of_cache("the user cache does not store the program: " + why_not);
  }
}

void RunTimeProgram::remember(cl_program program) {
  State& state = *m_state;
  LivePrograms* const live = state.builder.live_programs();
  if (live != nullptr && state.key.why_none.empty() &&
      state.closure.reads == closure::RunTimeClosure::Reads::text_only) {
    live->add(state.driver, state.context, state.request, state.report, program);
  }
}

const std::string& RunTimeProgram::program() const {
  if (m_state->program.empty()) {
    m_state->program = base::to_hex(m_state->digest());
  }
  return m_state->program;
}

const std::string& RunTimeProgram::variant() const {
  if (m_state->variant.empty()) {
    m_state->variant = source::recorded_variant_name(m_state->options.normalized);
  }
  return m_state->variant;
}

const std::string& RunTimeProgram::normalized_options() const noexcept {
  return m_state->options.normalized;
}

const format::SourcePackage& RunTimeProgram::package() const {
  return m_state->package();
}

bool RunTimeProgram::is_on_pocl() const {
  const auto& identities = m_state->session->identities;
  return std::any_of(identities.begin(), identities.end(), is_pocl);
}

const std::string& RunTimeProgram::why_not_keyed() const {
  m_state->examine();
  return m_state->key.why_none;
}

} // namespace clbin::loader
