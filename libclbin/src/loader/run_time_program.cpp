#include "loader/run_time_program.hpp"

#include "opencl/process_end.hpp"

#include <fmt/format.h>

namespace clbin::loader {

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

// Whether a kernel has a required work-group size.
bool has_required_size(const opencl::Driver& driver, cl_program program, cl_device_id device) {
  const auto reflection = opencl::reflect_kernels(driver, program, device);
  return !reflection.has_value() ||
         std::ranges::any_of(reflection->kernels, [](const auto& kernel) {
           return kernel.required_work_group_size[0] != 0;
         });
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
  return std::move(manifest.entries[view.manifest_row]);
}

RunTimeProgram::RunTimeProgram(const opencl::Driver& driver, BuilderState& builder,
                               cl_context context, RunTimeRequest request, LoadReport& report)
    : m_driver(driver), m_builder(builder), m_context(context), m_request(std::move(request)),
      m_report(report) {
  m_request.program = k_program_name;
  m_request.variant = format::k_default_variant;
  m_request.constants = m_request.source.constants;
  const auto& strings = m_request.source.strings;
  if (strings.size() > 1) {
    m_joined_text = fmt::format("{}", fmt::join(strings, ""));
  }
  m_given_text = source::without_final_zeros(strings.size() == 1 ? strings.front()
                                                                 : std::string_view(m_joined_text));
}

std::string_view RunTimeProgram::main_text() const {
  return m_closure.package.has_value() ? std::string_view(m_closure.package->main.text)
                                       : m_given_text;
}

const std::vector<format::SourceFile>& RunTimeProgram::headers() const {
  static const std::vector<format::SourceFile> k_none;
  return m_closure.package.has_value() ? m_closure.package->headers : k_none;
}

// Bundles also contain programs that no key identifies, so that the digest of the given text may
// find them only if the text has been examined.
bool RunTimeProgram::is_likely_self_contained() const {
  return m_request.examination == Examination::after_a_miss && m_request.source.il.empty() &&
         m_request.source.headers.empty() && m_builder.has_no_bundles() &&
         closure::begins_self_contained(m_given_text);
}

// Self-contained texts have keys of their own. An entry under such a key proves that the build that
// stored it examined the same text, so that a large text is looked up before it is examined.
void RunTimeProgram::close_source() {
  m_options = source::parse_build_options(m_request.source.options);
  if (!m_request.source.il.empty()) {
    // The preprocessor does not read IL, so that options cannot name files that matter to it.
    m_closure.why_not_keyed = m_options.why_not_closed;
  } else if (is_likely_self_contained()) {
    m_closure = closure::self_contained_closure(m_options);
    m_is_examined = false;
  } else {
    m_closure = closure::find_run_time_closure(m_given_text, m_request.source.headers, m_options);
  }
  make_key();
}

// Returns true if it changed the key.
bool RunTimeProgram::examine() {
  if (m_is_examined) {
    return false;
  }
  m_is_examined = true;
  m_closure = closure::find_run_time_closure(m_given_text, {}, m_options);
  if (!m_closure.package.has_value()) {
    return false;
  }
  make_key();
  return true;
}

// Most closed texts are the given one, whose digest takes longer than to compare them.
base::Digest RunTimeProgram::main_digest() {
  if (m_closure.package.has_value() && m_closure.package->main.text != m_given_text) {
    return base::digest_of(base::as_bytes(main_text()));
  }
  if (!m_given_digest.has_value()) {
    m_given_digest = base::digest_of(base::as_bytes(m_given_text));
  }
  return *m_given_digest;
}

void RunTimeProgram::make_key() {
  m_key.why_none = m_closure.why_not_keyed;
  cache::Recipe recipe;
  if (m_request.source.il.empty()) {
    cache::add_source(recipe, main_digest(), headers());
  } else {
    recipe.ingredients.push_back({"IL", base::to_hex(digest()), cache::ShowValue::no});
  }
  const std::string& label = m_request.source.label;
  m_key.subject = "run-time source / " + (label.empty() ? recipe.ingredients.front().value : label);
  m_key.text = label.empty() ? std::string_view() : main_text();
  // A bundle's source is closed before it is built, so that its binaries can differ.
  const bool is_self_contained = m_request.source.il.empty() && !m_closure.package.has_value();
  recipe.ingredients.push_back(
      {"build", is_self_contained ? "of self-contained run-time source" : "of run-time source"});
  if (m_request.kernels == KernelDetail::arguments) {
    recipe.ingredients.push_back({"kernel information", "arguments"});
  }
  m_key.ingredients = std::move(recipe.ingredients);
}

const format::SourcePackage& RunTimeProgram::package() {
  examine();
  if (!m_closure.package.has_value()) {
    m_closure.package = closure::package_of_text(m_given_text);
  }
  return *m_closure.package;
}

const base::Digest& RunTimeProgram::digest() {
  examine();
  if (!m_read_digest.has_value()) {
    m_read_digest = m_request.source.il.empty() ? source::source_digest(main_text(), headers())
                                                : source::il_digest(m_request.source.il);
  }
  return *m_read_digest;
}

LoadSession RunTimeProgram::session_of(const format::BundleReader* bundle, format::GroupView group,
                                       std::vector<format::DeviceIdentity> identities) const {
  LoadSession made{m_driver,  bundle,   m_builder.cache(), m_context,
                   m_request, m_report, std::move(group),  std::move(identities)};
  made.run_time = bundle == nullptr ? &m_key : nullptr;
  made.why_uncached = &m_why_uncached;
  return made;
}

// Call it before the user cache is used, and before a build if a bundle is secret.
void RunTimeProgram::find_groups() {
  if (m_source_matches.has_value() || m_builder.has_no_bundles()) {
    return;
  }
  examine();
  if (!m_key.why_none.empty()) {
    return;
  }
  m_source_matches = m_builder.find_groups(digest(), m_options.normalized, m_report.warnings);
  if (m_source_matches->encrypted != nullptr) {
    m_why_uncached =
        fmt::format("'{}', which is encrypted, contains the program, or cannot be searched",
                    m_source_matches->encrypted->name());
    m_driver = opencl::for_secret_programs(m_driver);
  }
}

void RunTimeProgram::find_matches() {
  find_groups();
  if (!m_source_matches.has_value() || !m_request.source.constants.empty()) {
    return; // no entry was made with constants
  }
  for (const BundleGroup& made : m_source_matches->groups) {
    m_matches.push_back(std::make_unique<const LoadSession>(
        session_of(made.bundle.get(), made.group, m_session->identities)));
    m_supply->groups.push_back(m_matches.back().get());
  }
}

void RunTimeProgram::explain_bundles_miss() const {
  if (m_request.detail == ReportDetail::attempts_only || !m_source_matches.has_value() ||
      !m_source_matches->groups.empty() || !m_request.source.il.empty()) {
    return;
  }
  Attempt attempt{.origin = Origin::entry,
                  .reason = m_builder.explain_miss(main_text(), headers(), m_options.normalized)};
  if (m_session->has_room_for(attempt)) {
    m_session->record(std::move(attempt));
  }
}

ServedDetails RunTimeProgram::details_of(Accepted& accepted) const {
  if (accepted.hit.has_value()) {
    auto bundle = std::make_shared<const format::BundleReader>(std::move(accepted.hit->bundle));
    return {std::move(bundle), std::move(accepted.hit->group), accepted.hit->entry.index};
  }
  const auto match = std::ranges::find(m_matches, accepted.session,
                                       [](const auto& session) { return session.get(); });
  const auto index = static_cast<std::size_t>(std::distance(m_matches.begin(), match));
  return {m_source_matches->groups[index].bundle, accepted.session->group,
          accepted.binary.attempt.entry};
}

std::optional<ServedProgram> RunTimeProgram::serve_binaries() {
  std::vector<Accepted> binaries = find_binaries(*m_supply, m_ladders);
  if (binaries.size() < m_ladders.size()) {
    return std::nullopt;
  }
  auto together = create_program(*m_session, binaries);
  if (!together) {
    return std::nullopt;
  }
  m_report.origin = common_origin(binaries);
  ServedProgram served{*std::move(together), m_report.origin, {}};
  for (Accepted& binary : binaries) {
    served.details.push_back(details_of(binary));
  }
  return served;
}

// A header may have been replaced while the driver read it.
bool RunTimeProgram::is_unchanged() {
  if (m_closure.reads == closure::RunTimeClosure::Reads::text_only) {
    return true;
  }
  const closure::RunTimeClosure now =
      closure::find_run_time_closure(m_given_text, m_request.source.headers, m_options);
  return now.why_not_keyed.empty() && now.package == m_closure.package;
}

ProgramDetails RunTimeProgram::build_details_of(cl_program built, std::uint32_t device) const {
  ProgramDetails details;
  cl_device_id id = m_request.devices[device];
  details.build_log = opencl::build_log(m_driver, built, {id});
  if (m_request.kernels == KernelDetail::arguments &&
      opencl::creates_kernels_safely(m_session->identities[device])) {
    details.kernels =
        opencl::reflect_kernels(m_driver, built, id).value_or(opencl::ProgramReflection()).kernels;
  }
  return details;
}

opencl::BuildOutcome RunTimeProgram::call_driver() const {
  const RunTimeSource& source = m_request.source;
  const opencl::Driver told = source.label.empty()
                                  ? m_driver
                                  : opencl::for_labelled_programs(m_driver, source.label.c_str());
  if (!source.il.empty()) {
    return opencl::build_from_il(told, m_context, m_request.devices, source.il, source.constants,
                                 source.options, {});
  }
  if (source.headers.empty()) {
    return opencl::build_from_strings(told, m_context, m_request.devices, source.strings,
                                      source.options);
  }
  format::SourcePackage package;
  package.main.text = std::string(m_given_text);
  package.headers = source.headers;
  return opencl::build_from_source(told, m_context, m_request.devices, package, source.options);
}

bool RunTimeProgram::is_taken(std::uint32_t device, KeepTime time) const {
  return time != KeepTime::after_build || !is_pocl(m_session->identities[device]);
}

// Returns whether the user cache waits for the binary of a device.
bool RunTimeProgram::claim(KeepTime time) {
  if (m_request.fallback != FallbackPolicy::if_needed) {
    return false;
  }
  examine();
  if (!m_key.why_none.empty()) {
    return false;
  }
  find_groups();
  bool is_claimed = false;
  for (std::uint32_t device = 0; device < m_ladders.size(); ++device) {
    UserCacheStep& user_cache = m_ladders[device].user_cache();
    if (!is_taken(device, time)) {
      continue;
    }
    if (time == KeepTime::after_more_launches) {
      user_cache.claim_if_free(StoredEntry::is_replaced);
    } else if (!user_cache.can_keep() && (time == KeepTime::after_launches || !m_is_looked_up)) {
      user_cache.claim_if_free();
    }
    is_claimed |= user_cache.can_keep();
  }
  return is_claimed;
}

void RunTimeProgram::store(cl_program built, KeepTime time) {
  if (!is_unchanged()) {
    m_session->warn_of_cache(
        "the user cache does not store the program: a header has changed during the build");
    return;
  }
  for (std::uint32_t device = 0; device < m_ladders.size(); ++device) {
    UserCacheStep& user_cache = m_ladders[device].user_cache();
    if (is_taken(device, time) && user_cache.can_keep()) {
      user_cache.keep(built, m_options.normalized, build_details_of(built, device));
    }
  }
  m_report.microseconds = m_stopwatch.microseconds();
}

RunTimeProgram::Moment RunTimeProgram::moment_of(cl_program built) const {
  for (std::uint32_t device = 0; device < m_request.devices.size(); ++device) {
    if (!opencl::returns_binaries_during_launches(m_session->identities[device]) &&
        has_required_size(m_driver, built, m_request.devices[device])) {
      return Moment::now_or_never;
    }
  }
  // A copy contains what PoCL's own cache has of the first program.
  return m_builder.settings().of_pocl == cache::PoclCache::off || !m_request.source.il.empty() ||
                 !m_request.source.headers.empty()
             ? Moment::now
             : Moment::later;
}

Result<std::unique_ptr<RunTimeProgram>>
RunTimeProgram::begin(const opencl::Driver& driver, BuilderState& builder, cl_context context,
                      RunTimeRequest request, LoadReport& report) {
  report = LoadReport();
  report.program = request.source.label.empty() ? k_program_name : request.source.label;
  report.variant = format::k_default_variant;
  report.warnings = builder.warnings();
  CLBIN_TRY(check_source(request.source));
  std::unique_ptr<RunTimeProgram> made(
      new RunTimeProgram(driver, builder, context, std::move(request), report));
  CLBIN_TRY(made->prepare());
  return made;
}

Result<void> RunTimeProgram::prepare() {
  CLBIN_TRY(check_devices(m_driver, m_context, m_request));
  CLBIN_TRY_ASSIGN(auto identities, query_identities(m_driver, m_request, m_report));
  close_source();
  format::GroupView group;
  group.program = k_program_name;
  group.variant = std::string(format::k_default_variant);
  group.options = m_options.normalized;
  if (!m_is_examined) {
    m_key.confirm = [this] { return examine(); };
  }
  m_session = std::make_unique<const LoadSession>(
      session_of(nullptr, std::move(group), std::move(identities)));
  std::vector<Step> steps = steps_of(m_request, Subject::text);
  if (m_request.bundle_il == BundleIl::ignored) {
    std::erase(steps, Step::il);
  }
  m_supply.emplace(Supply{*m_session, {}, std::move(steps), {}});
  for (std::uint32_t device = 0; device < m_request.devices.size(); ++device) {
    m_ladders.emplace_back(*m_supply, device);
  }
  m_session->warn_of_cache(m_builder.cache().stores.take_warning());
  m_report.microseconds = m_stopwatch.microseconds();
  return {};
}

std::optional<ServedProgram> RunTimeProgram::serve() {
  if (m_request.fallback == FallbackPolicy::always) {
    return std::nullopt;
  }
  m_is_looked_up = true;
  find_matches();
  std::optional<ServedProgram> served = serve_binaries();
  if (!served.has_value()) {
    explain_bundles_miss();
  }
  m_report.microseconds = m_stopwatch.microseconds();
  return served;
}

Result<opencl::Program> RunTimeProgram::build() {
  const Stopwatch stopwatch;
  const bool is_il = !m_request.source.il.empty();
  Attempt attempt{.origin = is_il ? Origin::il : Origin::source,
                  .rule = is_il ? Rule::il : Rule::source};
  if (m_builder.unsigned_source() == UnsignedSource::refused) {
    attempt.reason = "a signature is required, and nobody signed it";
    m_session->record(std::move(attempt));
    m_report.microseconds = m_stopwatch.microseconds();
    return base::fail(ErrorCode::not_signed,
                      "no entry of the builder's signed bundles serves '{}', and what is not "
                      "signed may not be built",
                      m_report.program);
  }
  examine(); // reads headers before the driver does
  if (m_builder.has_secret_bundles()) {
    find_groups();
  }
  opencl::BuildOutcome outcome = call_driver();
  attempt.reason = "no binary of this source and these options is known";
  attempt.decision = Decision::loaded;
  const bool is_good = m_session->record_build(std::move(attempt), outcome, stopwatch);
  m_report.microseconds = m_stopwatch.microseconds();
  if (!is_good) {
    return build_error(fmt::format("'{}'", m_report.program), outcome);
  }
  m_report.origin = is_il ? Origin::il : Origin::source;
  return std::move(outcome.program);
}

void RunTimeProgram::keep(cl_program built, KeepTime time) {
  if (claim(time)) {
    store(built, time);
  }
}

void RunTimeProgram::keep_copy(KeepTime time) {
  if (claim(time)) {
    if (const opencl::BuildOutcome copy = call_driver(); copy.program) {
      opencl::watch_process_end();
      store(copy.program.get(), time);
    }
  }
}

void RunTimeProgram::keep_on_pocl(cl_program built) {
  if (!is_on_pocl() || m_builder.settings().on_pocl == cache::CacheOnPocl::no ||
      !m_builder.cache().programs.is_on() || !m_key.why_none.empty()) {
    return;
  }
  PoclKeeping& keeping = m_builder.pocl_keeping();
  switch (moment_of(built)) {
  case Moment::now:
    keep(built, KeepTime::after_launches);
    return;
  case Moment::now_or_never:
    // Also if nothing may be stored: kernels of the source may run soon.
    keeping.take_once(program() + m_options.normalized,
                      [&] { keep(built, KeepTime::after_launches); });
    return;
  case Moment::later:
    break;
  }
  if (m_request.fallback != FallbackPolicy::if_needed || m_request.store == StorePolicy::drop) {
    return;
  }
  const std::string why_not = keeping.add(m_driver, m_context, m_request, built);
  if (!why_not.empty()) {
    m_session->warn_of_cache("the user cache does not store the program: " + why_not);
  }
}

void RunTimeProgram::remember(cl_program program) {
  LivePrograms* const live = m_builder.live_programs();
  if (live != nullptr && m_key.why_none.empty() &&
      m_closure.reads == closure::RunTimeClosure::Reads::text_only) {
    live->add(m_driver, m_context, m_request, m_report, program);
  }
}

std::string RunTimeProgram::program() {
  return base::to_hex(digest());
}

std::string RunTimeProgram::variant() const {
  return source::recorded_variant_name(m_options.normalized);
}

bool RunTimeProgram::is_on_pocl() const {
  return std::ranges::any_of(m_session->identities, is_pocl);
}

const std::string& RunTimeProgram::why_not_keyed() {
  examine();
  return m_key.why_none;
}

} // namespace clbin::loader
