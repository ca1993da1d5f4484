#include "loader/run_time_program.hpp"

#include "closure/run_time_closure.hpp"
#include "loader/entry_attempts.hpp"
#include "loader/il_rung.hpp"
#include "loader/load_devices.hpp"
#include "loader/several_devices.hpp"
#include "loader/user_cache_rung.hpp"
#include "opencl/driver.hpp"
#include "opencl/program_build.hpp"
#include "source/recorded_names.hpp"

#include <algorithm>
#include <utility>

namespace clbin::loader {

using base::ErrorCode;
using base::Result;
using matching::Turn;

namespace {

// The program of a cache entry, and of a report without a label.
constexpr const char* k_program_name = "run-time source";

std::string joined(const std::vector<std::string_view>& strings) {
  std::string text;
  std::size_t size = 0;
  for (const std::string_view part : strings) {
    size += part.size();
  }
  text.reserve(size);
  for (const std::string_view part : strings) {
    text += part;
  }
  return text;
}

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

// The entries of one bundle for a program.
struct BundleMatch {
  std::shared_ptr<const format::BundleReader> bundle;
  std::unique_ptr<const LoadSession> session;
  // One list a device; empty if they could not be read.
  std::vector<std::vector<matching::Candidate>> candidates;
};

struct Found {
  ProvedEntry proved;
  ServedDetails details;
};

LoadRequest load_request_of(const RunTimeRequest& request) {
  LoadRequest load;
  load.program = k_program_name;
  load.variant = format::k_default_variant;
  load.constants = request.source.constants;
  load.fallback = request.fallback;
  load.detail = request.detail;
  load.devices = request.devices;
  load.on_attempt = request.on_attempt;
  return load;
}

} // namespace

ServedDetails::ServedDetails(std::shared_ptr<const format::BundleReader> bundle,
                             format::GroupView group, std::uint32_t entry)
    : m_bundle(std::move(bundle)), m_group(std::move(group)), m_entry(entry) {}

Result<ProgramDetails> ServedDetails::read() const {
  CLBIN_TRY_ASSIGN(const format::EntryView entry, m_bundle->entry(m_entry));
  CLBIN_TRY_ASSIGN(format::Manifest manifest, m_bundle->read_manifest(m_group));
  if (entry.manifest_row >= manifest.entries.size()) {
    return base::fail(ErrorCode::damaged, "the manifest has no row for entry {}", m_entry);
  }
  format::ManifestEntry& row = manifest.entries[entry.manifest_row];
  return ProgramDetails{std::move(row.build_log), std::move(row.kernels)};
}

struct RunTimeProgram::State {
  State(const opencl::Driver& given_driver, BuilderState& given_builder, cl_context given_context,
        RunTimeRequest given_request, LoadReport& given_report)
      : driver(given_driver), builder(given_builder), context(given_context),
        request(std::move(given_request)), report(given_report), load(load_request_of(request)) {
    const auto& strings = request.source.strings;
    if (strings.size() > 1) {
      joined_text = joined(strings);
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
  void try_turn(std::uint32_t device, Turn turn, ForLater for_later, EntryOutcome& outcome,
                std::optional<Found>& found);
  [[nodiscard]] std::optional<Found> from_cache(std::uint32_t device,
                                                std::optional<ProvedEntry> proved);
  // As in a load, devices that share a build do not use IL.
  [[nodiscard]] bool uses_bundle_il() const {
    return request.bundle_il == BundleIl::built && request.devices.size() == 1 &&
           request.fallback == FallbackPolicy::if_needed;
  }
  [[nodiscard]] std::optional<Found> from_il(EntryOutcome& outcome);
  [[nodiscard]] std::string why_not_attempted(bool is_found) const;
  void explain(std::uint32_t device, bool is_exact, bool is_found);
  [[nodiscard]] std::optional<Found> binary_of(std::uint32_t device, ForLater for_later);
  [[nodiscard]] std::optional<ServedProgram> serve_one();
  void claim_after(std::uint32_t device);
  [[nodiscard]] std::optional<ServedProgram> serve_several();
  [[nodiscard]] bool is_unchanged();
  [[nodiscard]] bool is_pocl(std::uint32_t device) const {
    return format::device_family(session->identities[device]) == format::DeviceFamily::pocl;
  }
  [[nodiscard]] BuildDetails details_of(cl_program built, std::uint32_t device) const;
  [[nodiscard]] opencl::BuildOutcome call_driver() const;

  opencl::Driver driver; // see find_groups()
  BuilderState& builder;
  cl_context context;
  RunTimeRequest request;
  LoadReport& report;
  LoadRequest load;
  std::string joined_text;     // if there are several strings
  std::string_view given_text; // the whole source, without zero bytes at its end
  const std::vector<format::SourceFile> no_headers;
  Stopwatch stopwatch;
  source::BuildOptions options;
  closure::RunTimeClosure closure;
  bool is_examined = true; // false: `closure` and `key` assume a self-contained text
  const std::function<bool()> confirm_key = [this] { return examine(); };
  RunTimeKey key;
  std::optional<base::Digest> given_digest; // of `given_text`; set by main_digest()
  std::optional<base::Digest> read_digest;  // set by digest()
  std::string program;
  std::string variant;
  std::unique_ptr<const LoadSession> session;  // of the user cache: without a bundle
  std::vector<UserCacheRung> rungs;            // one a device
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
  LoadSession made{driver, bundle, builder.cache(),  context,
                   load,   report, std::move(group), std::move(identities)};
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
    BundleMatch match;
    match.session = std::make_unique<const LoadSession>(
        session_of(made.bundle.get(), made.group, session->identities));
    match.bundle = made.bundle;
    for (const format::DeviceIdentity& identity : session->identities) {
      auto candidates = matching::rank_candidates(*match.bundle, match.session->group, identity);
      if (!candidates.has_value()) {
        report.warnings.push_back(
            fmt::format("'{}': {}", match.bundle->name(), candidates.error().message));
      }
      match.candidates.push_back(
          std::move(candidates).value_or(std::vector<matching::Candidate>()));
    }
    matches.push_back(std::move(match));
  }
}

void RunTimeProgram::State::try_turn(std::uint32_t device, Turn turn, ForLater for_later,
                                     EntryOutcome& outcome, std::optional<Found>& found) {
  for (const BundleMatch& match : matches) {
    if (found.has_value()) {
      return;
    }
    try_entries(*match.session, device, match.candidates[device], turn, for_later, outcome);
    if (outcome.proved.has_value()) {
      const std::uint32_t entry = outcome.proved->entry;
      found.emplace(Found{std::move(*outcome.proved),
                          ServedDetails(match.bundle, match.session->group, entry)});
      outcome.proved.reset();
    }
  }
}

std::optional<Found> RunTimeProgram::State::from_cache(std::uint32_t device,
                                                       std::optional<ProvedEntry> proved) {
  auto hit = rungs[device].take_loaded();
  if (!proved.has_value() || !hit.has_value()) {
    return std::nullopt;
  }
  const std::uint32_t entry = hit->entry.index;
  return Found{*std::move(proved),
               ServedDetails(std::make_shared<const format::BundleReader>(std::move(hit->bundle)),
                             std::move(hit->group), entry)};
}

// Builds IL of a bundle as a load of its program does, and under the same key of the user cache.
// That key contains the IL: under the key of the source, a bundle could replace what the source is
// built to.
std::optional<Found> RunTimeProgram::State::from_il(EntryOutcome& outcome) {
  for (const BundleMatch& match : matches) {
    const LoadSession& of_bundle = *match.session;
    const std::vector<IlModule>& modules = il_modules(of_bundle, 0);
    if (modules.empty()) {
      continue;
    }
    const std::uint32_t best = modules.front().candidate.entry.index;
    UserCacheRung rung(of_bundle, 0);
    std::optional<ProvedEntry> proved = rung.attempt(ForLater::program_only);
    if (!proved.has_value() && outcome.quarantined == 0) {
      proved = rung.wait_for_turn(ForLater::program_only);
    }
    if (!proved.has_value()) {
      proved = try_il(of_bundle, 0, outcome);
      if (proved.has_value()) {
        rung.keep(proved->program.get(), proved->options);
      }
    }
    if (proved.has_value()) {
      const std::uint32_t entry = proved->entry == format::k_no_index ? best : proved->entry;
      return Found{*std::move(proved), ServedDetails(match.bundle, of_bundle.group, entry)};
    }
  }
  return std::nullopt;
}

std::string RunTimeProgram::State::why_not_attempted(bool is_found) const {
  if (is_found) {
    return "matches, but a better entry was loaded";
  }
  return uses_bundle_il() ? "matches, but is of another bundle"
                          : "matches, but this build does not use IL";
}

void RunTimeProgram::State::explain(std::uint32_t device, bool is_exact, bool is_found) {
  if (is_exact) {
    return;
  }
  for (const BundleMatch& match : matches) {
    explain_entries(*match.session, device, why_not_attempted(is_found), IlComes::no);
  }
}

// Unlike a load, does not use an entry that the driver has recompiled (EntryOutcome::recompiled):
// it could not be stored under the key of the source, as a build of the source is, and the driver
// would recompile it in every process.
std::optional<Found> RunTimeProgram::State::binary_of(std::uint32_t device, ForLater for_later) {
  EntryOutcome outcome;
  std::optional<Found> found;
  UserCacheRung& rung = rungs[device];
  const bool uses_cache = request.fallback == FallbackPolicy::if_needed;
  try_turn(device, Turn::before_user_cache, for_later, outcome, found);
  if (!found.has_value() && uses_cache) {
    found = from_cache(device, rung.attempt(for_later));
  }
  try_turn(device, Turn::after_user_cache, for_later, outcome, found);
  if (!found.has_value() && uses_bundle_il()) {
    found = from_il(outcome);
  }
  explain(device, outcome.exact, found.has_value());
  // As for a load, nothing is stored to replace entries in quarantine.
  // PoCL's binary is taken only after launches, so that waiting for it would take that long.
  if (!found.has_value() && uses_cache && outcome.quarantined == 0 && !is_pocl(device)) {
    found = from_cache(device, rung.wait_for_turn(for_later));
  }
  return found;
}

std::optional<ServedProgram> RunTimeProgram::State::serve_one() {
  std::optional<Found> found = binary_of(0, ForLater::program_only);
  if (!found.has_value()) {
    return std::nullopt;
  }
  report.origin = found->proved.origin;
  ServedProgram served{std::move(found->proved.program), report.origin, {}};
  served.details.push_back(std::move(found->details));
  return served;
}

// The caller builds for all devices: those after `device` were not looked up.
void RunTimeProgram::State::claim_after(std::uint32_t device) {
  if (request.fallback == FallbackPolicy::if_needed) {
    std::for_each(rungs.begin() + device + 1, rungs.end(),
                  [](UserCacheRung& later) { later.claim_if_free(); });
  }
}

std::optional<ServedProgram> RunTimeProgram::State::serve_several() {
  ServedProgram served;
  std::vector<ProvedEntry> entries;
  for (std::uint32_t device = 0; device < rungs.size(); ++device) {
    std::optional<Found> found = binary_of(device, ForLater::keep_bytes);
    if (!found.has_value()) {
      claim_after(device);
      return std::nullopt;
    }
    found->proved.program = opencl::Program(); // only the bytes are needed
    entries.push_back(std::move(found->proved));
    served.details.push_back(std::move(found->details));
  }
  TogetherOutcome together = create_together(*session, entries);
  if (!together.why_not.empty()) {
    return std::nullopt;
  }
  report.origin = common_origin(entries);
  served.origin = report.origin;
  served.program = std::move(together.program);
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

BuildDetails RunTimeProgram::State::details_of(cl_program built, std::uint32_t device) const {
  BuildDetails details;
  cl_device_id id = request.devices[device];
  details.log = opencl::build_log(driver, built, {id});
  if (request.kernels == KernelDetail::arguments &&
      opencl::creates_kernels_safely(session->identities[device])) {
    details.kernels =
        opencl::reflect_kernels(driver, built, id).value_or(opencl::ProgramReflection()).kernels;
  }
  return details;
}

opencl::BuildOutcome RunTimeProgram::State::call_driver() const {
  const RunTimeSource& source = request.source;
  if (!source.il.empty()) {
    return opencl::build_from_il(driver, context, request.devices, source.il, source.constants,
                                 source.options, {});
  }
  if (source.headers.empty()) {
    return opencl::build_from_strings(driver, context, request.devices, source.strings,
                                      source.options);
  }
  format::SourcePackage package;
  package.main.text = std::string(given_text);
  package.headers = source.headers;
  return opencl::build_from_source(driver, context, request.devices, package, source.options);
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
  CLBIN_TRY(check_source(request.source));
  auto state = std::make_unique<State>(driver, builder, context, std::move(request), report);
  CLBIN_TRY(check_devices(driver, context, state->load));
  CLBIN_TRY_ASSIGN(auto identities, query_identities(driver, state->load, report));
  state->close_source();
  format::GroupView group;
  group.program = k_program_name;
  group.variant = std::string(format::k_default_variant);
  group.options = state->options.normalized;
  state->session = std::make_unique<const LoadSession>([&] {
    LoadSession session = state->session_of(nullptr, std::move(group), std::move(identities));
    session.on_pocl = builder.on_pocl();
    session.run_time = &state->key;
    session.confirm_key = state->is_examined ? nullptr : &state->confirm_key;
    return session;
  }());
  for (std::uint32_t device = 0; device < state->load.devices.size(); ++device) {
    state->rungs.emplace_back(*state->session, device);
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
  auto served = state.rungs.size() == 1 ? state.serve_one() : state.serve_several();
  state.report.microseconds = state.stopwatch.microseconds();
  return served;
}

Result<opencl::Program> RunTimeProgram::build() {
  State& state = *m_state;
  const Stopwatch stopwatch;
  const bool is_il = !state.request.source.il.empty();
  Attempt attempt;
  attempt.origin = is_il ? Origin::il : Origin::source;
  attempt.rule = is_il ? AttemptRule::il : AttemptRule::source;
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
  const bool good = outcome.code == CL_SUCCESS && outcome.program;
  attempt.decision = good ? Decision::loaded : Decision::refused;
  attempt.cl_code = outcome.code;
  attempt.stage = outcome.stage;
  attempt.driver_log = outcome.log;
  attempt.microseconds = stopwatch.microseconds();
  const Origin origin = attempt.origin;
  state.session->record(std::move(attempt));
  state.report.microseconds = state.stopwatch.microseconds();
  if (!good) {
    std::string message = fmt::format("building '{}' failed: {}: {}", state.report.program,
                                      outcome.stage, opencl::cl_error_name(outcome.code));
    message += outcome.log.empty() ? "" : "\n" + outcome.log;
    return tl::unexpected(base::Error{ErrorCode::build_failed, std::move(message)});
  }
  state.report.origin = origin;
  return std::move(outcome.program);
}

void RunTimeProgram::keep(cl_program built, KeepTime time) {
  State& state = *m_state;
  if (state.request.fallback != FallbackPolicy::if_needed) {
    return;
  }
  state.examine();
  if (!state.key.why_none.empty()) {
    return;
  }
  if (!state.is_unchanged()) {
    state.session->warn_of_cache(
        "the user cache does not store the program: a header has changed during the build");
    return;
  }
  state.find_groups();
  for (std::uint32_t device = 0; device < state.rungs.size(); ++device) {
    UserCacheRung& rung = state.rungs[device];
    if (time == KeepTime::after_build && state.is_pocl(device)) {
      continue;
    }
    if (time == KeepTime::after_more_launches) {
      rung.claim_if_free(StoredEntry::is_replaced);
    } else if (time == KeepTime::after_launches || !state.is_looked_up) {
      rung.claim_if_free();
    }
    if (rung.can_keep()) {
      rung.keep(built, state.options.normalized, state.details_of(built, device));
    }
  }
  state.report.microseconds = state.stopwatch.microseconds();
}

const std::string& RunTimeProgram::program() const {
  if (m_state->program.empty()) {
    m_state->program = source::recorded_program_name(m_state->digest());
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
  for (std::uint32_t device = 0; device < m_state->rungs.size(); ++device) {
    if (m_state->is_pocl(device)) {
      return true;
    }
  }
  return false;
}

const std::string& RunTimeProgram::why_not_keyed() const {
  m_state->examine();
  return m_state->key.why_none;
}

} // namespace clbin::loader
