#include "base/text.hpp"
#include "loader/ladder.hpp"
#include "model/phone_gpu.hpp"

#include <fmt/format.h>

namespace clbin::loader {
namespace {

using format::DeviceFamily;

constexpr std::size_t k_changes_shown = 3;
constexpr const char* k_left_to_pocl = "not used: PoCL caches its own builds";

// Adds the contents of source and IL, not the digests that the bundle declares, which have not been
// checked. No bundle can therefore replace the cached program of another.
void add_what_is_built(cache::Recipe& recipe, const LoadSession& session, std::uint32_t device) {
  if (session.run_time != nullptr) {
    recipe.ingredients.insert(recipe.ingredients.end(), session.run_time->ingredients.begin(),
                              session.run_time->ingredients.end());
    return;
  }
  if (session.source().has_value()) {
    cache::add_source(recipe, *session.source());
  }
  for (const IlModule& module : session.il_modules(device)) {
    if (module.content.has_value()) {
      recipe.ingredients.push_back({"IL", base::to_hex(*module.content), cache::ShowValue::no});
    }
  }
}

// Word by word for run-time source, so that a miss reports the first word that differs. Words do
// not determine options with quotes or other white space.
void add_options(cache::Recipe& recipe, const LoadSession& session) {
  const std::string options = session.source_options();
  const std::vector<std::string_view> words = base::words_between_spaces(options);
  const bool is_of_words = session.run_time != nullptr;
  for (std::size_t i = 0; is_of_words && i < words.size(); ++i) {
    recipe.ingredients.push_back({"option", std::string(words[i])});
  }
  if (!is_of_words || fmt::format("{}", fmt::join(words, " ")) != options) {
    recipe.ingredients.push_back({"options", options});
  }
}

cache::Recipe recipe_of(const LoadSession& session, std::uint32_t device) {
  const format::DeviceIdentity& identity = session.identities[device];
  cache::Recipe recipe;
  recipe.subject = session.run_time != nullptr
                       ? fmt::format("{} / {}", session.run_time->subject, identity.device_name)
                       : fmt::format("{} / {} / {}", session.group.program, session.group.variant,
                                     identity.device_name);
  recipe.ingredients.push_back({"libclbin", CLBIN_LIBRARY_VERSION});
  add_options(recipe, session);
  for (const opencl::SpecializationConstant& constant : session.request.constants) {
    recipe.ingredients.push_back(
        {fmt::format("specialisation constant {}", constant.id), base::to_hex(constant.value)});
  }
  add_what_is_built(recipe, session, device);
  cache::add_identity(recipe, identity);
  return recipe;
}

} // namespace

// PoCL has its own cache, and takes 0.65 s to return the binary of 2 kernels and 2.9 s for 20.
bool UserCacheStep::is_left_to_pocl() const {
  const bool is_kept = m_session.request.take_binary ||
                       (m_session.run_time != nullptr &&
                        m_session.cache.programs.settings().on_pocl == cache::CacheOnPocl::yes);
  return !is_kept && format::device_family(m_session.identities[m_device]) == DeviceFamily::pocl;
}

// rusticl's binary is the IL with the default values of its constants (doc/drivers.md).
std::string UserCacheStep::why_not_used() const {
  const RunTimeKey* const run_time = m_session.run_time;
  const DeviceFamily family = format::device_family(m_session.identities[m_device]);
  const cache::KeyedStore& cache = m_session.cache.programs;
  if (is_left_to_pocl() && (run_time != nullptr || !cache.is_on())) {
    return k_left_to_pocl;
  }
  if (family == DeviceFamily::rusticl && !m_session.request.constants.empty()) {
    return "not used: a binary of rusticl loses the values of specialisation constants";
  }
  if (!cache.is_on()) {
    m_session.warn_of_cache(cache.settings().warning);
    return "off: " + cache.settings().why_off;
  }
  if (run_time != nullptr && !run_time->why_none.empty()) {
    return "not used: " + run_time->why_none;
  }
  if (m_session.why_uncached != nullptr && !m_session.why_uncached->empty()) {
    return "not used: " + *m_session.why_uncached;
  }
  const bool has_nothing = run_time == nullptr && !m_session.source().has_value() &&
                           m_session.il_modules(m_device).empty();
  return has_nothing ? "not used: " + m_session.source().error().message : std::string();
}

void UserCacheStep::plan() {
  m_recipe.reset();
  m_why_not = why_not_used();
  if (m_why_not.empty()) {
    m_recipe = recipe_of(m_session, m_device);
    m_key = cache::recipe_key(*m_recipe);
  }
  if (is_left_to_pocl() && (!m_recipe.has_value() || !m_session.cache.programs.contains(m_key))) {
    m_recipe.reset();
    m_why_not = k_left_to_pocl;
  }
}

bool UserCacheStep::replan() {
  const RunTimeKey* const key = m_session.run_time;
  if (key == nullptr || !key->confirm || !key->confirm()) {
    return false;
  }
  plan();
  return true;
}

cache::LookUp UserCacheStep::read(cache::AbsentEntry absent) const {
  cache::LookUp found = m_session.cache.programs.look_up(m_key, absent);
  m_session.warn_of_cache(found.warning);
  return found;
}

// Looks up the key that was assumed, and if it is not found, the one that replaces it.
cache::LookUp UserCacheStep::read_confirmed() {
  if (m_session.run_time == nullptr || !m_session.run_time->confirm) {
    return read(cache::AbsentEntry::is_miss);
  }
  cache::LookUp found = read(cache::AbsentEntry::is_not_counted);
  if (found.hit.has_value()) {
    return found;
  }
  if (!replan()) {
    if (found.cause == cache::MissCause::absent) {
      m_session.cache.programs.count_miss();
    }
    return found;
  }
  return m_recipe.has_value() ? read(cache::AbsentEntry::is_miss)
                              : cache::LookUp{std::nullopt, m_why_not, {}};
}

void UserCacheStep::record_miss(std::string reason, const Stopwatch& stopwatch) const {
  if (m_session.request.detail == ReportDetail::attempts_only) {
    return;
  }
  m_session.record({.device = m_device,
                    .origin = Origin::user_cache,
                    .rule = Rule::user_cache,
                    .reason = std::move(reason),
                    .microseconds = stopwatch.microseconds()});
}

// Only after a miss, because it takes longer than the look-up.
void UserCacheStep::add_lines() {
  if (m_session.run_time != nullptr && m_recipe->line_digests.empty()) {
    m_recipe->line_digests = cache::line_digests_of(m_session.run_time->text);
  }
}

std::string UserCacheStep::explain_miss(const std::string& reason) {
  if (m_session.request.detail == ReportDetail::attempts_only) {
    return reason;
  }
  add_lines();
  const auto changes = m_session.cache.programs.explain_miss(*m_recipe);
  std::string text = reason;
  for (std::size_t i = 0; i < std::min(changes.size(), k_changes_shown); ++i) {
    text += (i == 0 ? "; the last stored entry differs in " : "; ") + cache::describe(changes[i]);
  }
  return text;
}

std::optional<Accepted> UserCacheStep::try_hit(cache::CacheHit hit, const std::string& on_hit,
                                               const Stopwatch& stopwatch) {
  const cache::KeyedStore& cache = m_session.cache.programs;
  const auto candidates =
      matching::rank_candidates(hit.bundle, hit.group, m_session.identities[m_device]);
  const auto payload = payload_digest(hit.bundle, hit.entry.blob);
  if (!candidates || !payload || candidates->empty() ||
      candidates->front().rule != Rule::exact_identity ||
      format::classify_binary(hit.payload).kind != hit.entry.kind) {
    cache.remove(m_key);
    record_miss("removed an entry for another device", stopwatch);
    return std::nullopt;
  }
  BinaryToTry binary{.attempt = attempt_of(candidates->front(), m_device),
                     .bytes = std::move(hit.payload),
                     .payload = *payload,
                     .options = hit.entry.options,
                     .kernels = hit.entry.kernels};
  binary.attempt.entry = format::k_no_index;
  binary.attempt.origin = Origin::user_cache;
  binary.attempt.rule = Rule::user_cache;
  binary.attempt.reason = on_hit;
  auto tried = try_binary(m_session, std::move(binary), stopwatch);
  if (tried) {
    tried->hit.emplace(std::move(hit));
    return *std::move(tried);
  }
  if (tried.error() != Refusal::by_quarantine) {
    cache.remove(m_key);
  } else {
    m_recipe.reset(); // a build would produce the same binary again
  }
  return std::nullopt;
}

std::optional<Accepted> UserCacheStep::look_up(const std::string& on_hit, Misses misses) {
  const Stopwatch stopwatch;
  cache::LookUp found = read_confirmed();
  if (found.hit.has_value()) {
    auto accepted = try_hit(std::move(*found.hit), on_hit, stopwatch);
    if (!accepted.has_value()) {
      (void)replan(); // what is built now may be stored
    }
    return accepted;
  }
  if (misses == Misses::recorded) {
    record_miss(m_recipe.has_value() ? explain_miss(found.reason) : found.reason, stopwatch);
  }
  return std::nullopt;
}

std::optional<Accepted> UserCacheStep::attempt() {
  const Stopwatch stopwatch;
  plan();
  if (!m_recipe.has_value()) {
    record_miss(m_why_not, stopwatch);
    return std::nullopt;
  }
  return look_up("an earlier build of the same source for this device", Misses::recorded);
}

std::optional<Accepted> UserCacheStep::wait_for_turn() {
  if (!m_recipe.has_value() || m_session.request.store == StorePolicy::drop) {
    return std::nullopt;
  }
  m_claim = m_session.cache.programs.claim_build(m_key);
  m_session.warn_of_cache(m_claim->warning);
  if (m_claim->turn != cache::Turn::look_again) {
    return std::nullopt;
  }
  auto accepted = look_up("another load has just built it", Misses::ignored);
  if (accepted.has_value()) {
    m_claim.reset();
  }
  return accepted;
}

void UserCacheStep::claim_if_free(StoredEntry stored) {
  if (!replan()) {
    plan();
  }
  if (!m_recipe.has_value() || m_session.request.store == StorePolicy::drop || is_left_to_pocl()) {
    return;
  }
  auto claim = m_session.cache.programs.claim_build(m_key, cache::Patience::none);
  m_session.warn_of_cache(claim.warning);
  const bool is_replaced = stored == StoredEntry::is_replaced &&
                           claim.turn == cache::Turn::look_again && claim.lock.has_value();
  if (claim.turn == cache::Turn::build || is_replaced) {
    m_claim = std::move(claim);
  }
}

// Mali's driver compiles kernels when they are created, and only its binary of compiled ones saves
// time when it is loaded (viennacl/viennacl-dev, pull request 225: 50 times).
base::Result<base::Bytes> UserCacheStep::binary_of(cl_program program) const {
  if (m_session.request.take_binary) {
    return m_session.request.take_binary(program);
  }
  const opencl::Driver& driver = m_session.driver;
  std::vector<opencl::Kernel> kernels; // exist until the driver has returned the binary
  if (format::phone_gpu(m_session.identities[m_device]) == format::PhoneGpu::mali) {
    CLBIN_TRY_ASSIGN(const auto names, opencl::program_kernel_names(driver, program));
    auto created = opencl::create_kernels(driver, program, names);
    if (!created) {
      return base::fail(base::ErrorCode::opencl_call, "{}: {}", created.error().log,
                        opencl::cl_error_name(created.error().code));
    }
    kernels = std::move(*created);
  }
  return opencl::program_binary(driver, program, m_session.request.devices[m_device]);
}

void UserCacheStep::keep(cl_program program, const std::string& options, ProgramDetails details) {
  if (!can_keep()) {
    return;
  }
  auto binary = binary_of(program);
  if (!binary.has_value()) {
    m_session.warn_of_cache(
        fmt::format("the user cache does not store the program: {}", binary.error().message));
    return;
  }
  // rusticl 22.3 panics on an incomplete binary and ends the process.
  if (format::device_family(m_session.identities[m_device]) == DeviceFamily::rusticl &&
      format::classify_binary(*binary).kind != format::BinaryKind::rusticl) {
    m_session.warn_of_cache(
        fmt::format("the user cache does not store the program: the driver returned {} bytes, "
                    "which are not a complete binary of its format",
                    binary->size()));
    return;
  }
  format::EntryInput entry;
  entry.target.identity = m_session.identities[m_device];
  entry.options = options;
  entry.payload = *std::move(binary);
  entry.build_log = std::move(details.build_log);
  entry.kernels = std::move(details.kernels);
  if (entry.kernels.empty()) {
    for (std::string& name : opencl::program_kernel_names(m_session.driver, program)
                                 .value_or(std::vector<std::string>())) {
      entry.kernels.emplace_back().name = std::move(name);
    }
  }
  add_lines();
  m_session.report.is_kept = true;
  m_session.cache.stores.add(
      {*std::move(m_recipe), m_session.group.program, std::move(entry), *std::move(m_claim)});
  m_recipe.reset();
  m_claim.reset();
}

} // namespace clbin::loader
