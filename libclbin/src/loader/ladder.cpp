#include "loader/ladder.hpp"

#include <iterator>
#include <unordered_set>

namespace clbin::loader {

using matching::Candidate;
using matching::Turn;

namespace {

bool is_allowed(Step step, const LoadRequest& request) {
  const bool has_constants = !request.constants.empty();
  const bool is_variant_of_bundle = !has_constants && request.extra_options.empty();
  switch (step) {
  case Step::own_entries:
  case Step::compatible_entries:
  case Step::recompiled_entry:
    return request.fallback != FallbackPolicy::always && is_variant_of_bundle;
  case Step::user_cache:
  case Step::build_of_others:
    return request.fallback == FallbackPolicy::if_needed;
  case Step::il: // run-time options need a preprocessor, which IL is past; devices share one build
    return request.devices.size() <= 1 &&
           (has_constants ? request.fallback != FallbackPolicy::never
                          : request.fallback == FallbackPolicy::if_needed && is_variant_of_bundle);
  case Step::source: // constants are a concept of IL
    return request.fallback != FallbackPolicy::never && !has_constants;
  }
  return false;
}

// For several devices, a binary that the driver recompiled counts like any other, because the load
// stores none of them. For a text, it is not used: it could not be stored under the key of the
// text, as a build of the text is, and the driver would recompile it in every process. IL for a
// text has a key of its own, and so precedes builds of the text.
std::vector<Step> order_of(const LoadRequest& request, Subject subject) {
  using enum Step;
  if (subject == Subject::text) {
    return {own_entries, user_cache, compatible_entries, il, build_of_others};
  }
  if (request.devices.size() > 1) {
    return {own_entries, user_cache, compatible_entries, recompiled_entry, build_of_others, source};
  }
  return {own_entries, user_cache, compatible_entries, build_of_others, recompiled_entry,
          il,          source};
}

Result<BinaryToTry> read_entry(const LoadSession& session, const Candidate& candidate) {
  BinaryToTry binary;
  CLBIN_TRY(session.options_checker.check(candidate.entry.options));
  CLBIN_TRY_ASSIGN(binary.payload, payload_digest(*session.bundle, candidate.entry.blob));
  CLBIN_TRY_ASSIGN(binary.bytes,
                   matching::read_candidate(*session.bundle, candidate, &session.budget));
  binary.options = candidate.entry.options;
  binary.kernels = candidate.entry.kernels;
  binary.is_of_series = candidate.is_of_series;
  return binary;
}

Result<BinaryToTry> read_il(const LoadSession& session, const IlModule& module) {
  const Candidate& candidate = module.candidate;
  BinaryToTry il;
  il.language = BinaryToTry::Language::il;
  CLBIN_TRY(session.options_checker.check(candidate.entry.options));
  CLBIN_TRY(module.content);
  il.bytes = module.bytes;
  if (il.bytes.empty()) {
    CLBIN_TRY_ASSIGN(il.bytes,
                     matching::read_candidate(*session.bundle, candidate, &session.budget));
  }
  il.payload = module.payload;
  il.options = opencl::joined_options(candidate.entry.options.str(), session.request.extra_options);
  il.kernels = candidate.entry.kernels;
  return il;
}

bool is_for_text(const Supply& supply) {
  return supply.session.run_time != nullptr;
}

// binary_refused: the message, and what the driver returned in the attempt.
tl::unexpected<base::Error> refused_by_driver(const Attempt& attempt, const std::string& what) {
  return tl::unexpected(
      base::Error{ErrorCode::binary_refused,
                  fmt::format("the driver rejected {}: {}: {}", what, attempt.stage,
                              opencl::cl_error_name(attempt.cl_code)),
                  std::make_shared<base::FailedCall>(
                      base::FailedCall{attempt.stage, attempt.cl_code, attempt.driver_log})});
}

tl::unexpected<base::Error> constants_error(const LoadSession& session,
                                            const std::optional<base::Error>& first_damage) {
  const std::string what = fmt::format("program '{}' for '{}' with specialisation constants",
                                       session.group.program, session.report.devices.front());
  if (first_damage.has_value()) {
    return base::add_context(*first_damage, what);
  }
  const auto& attempts = session.report.attempts;
  if (!attempts.empty() && attempts.back().decision == Decision::refused) {
    return refused_by_driver(attempts.back(), "the IL of " + what);
  }
  return base::fail(ErrorCode::no_matching_entry,
                    "{} needs IL that the device accepts, and the bundle contains none", what);
}

} // namespace

std::vector<Step> steps_of(const LoadRequest& request, Subject subject) {
  std::vector<Step> steps = order_of(request, subject);
  std::erase_if(steps, [&](Step step) { return !is_allowed(step, request); });
  return steps;
}

std::optional<matching::Turn> turn_of(Step step) noexcept {
  switch (step) {
  case Step::own_entries:
    return matching::Turn::before_user_cache;
  case Step::compatible_entries:
    return matching::Turn::after_user_cache;
  default:
    return std::nullopt;
  }
}

Origin origin_of(Step step) noexcept {
  switch (step) {
  case Step::own_entries:
  case Step::compatible_entries:
    return Origin::entry;
  case Step::user_cache:
  case Step::build_of_others:
    return Origin::user_cache;
  case Step::recompiled_entry:
  case Step::il:
    return Origin::il;
  case Step::source:
    return Origin::source;
  }
  return Origin::none;
}

tl::unexpected<base::Error> Ladder::error() const {
  const LoadSession& session = m_supply.session;
  if (!session.request.constants.empty()) {
    return constants_error(session, m_first_damage);
  }
  const std::string what =
      fmt::format("program '{}', variant '{}', for '{}'", session.group.program,
                  session.group.variant, session.report.devices[m_device]);
  if (m_refused > 0) {
    const auto& attempts = session.report.attempts;
    const auto last = std::find_if(attempts.rbegin(), attempts.rend(), [&](const Attempt& attempt) {
      return attempt.device == m_device && attempt.origin == Origin::entry &&
             attempt.decision == Decision::refused;
    });
    return refused_by_driver(*last,
                             fmt::format("{} of the bundle's entries for {}", m_refused, what));
  }
  if (m_wrong > 0) {
    return base::fail(ErrorCode::binary_refused,
                      "{} of the bundle's entries for {} compute{} something wrong: {}", m_wrong,
                      what, m_wrong == 1 ? "s" : "", m_wrong_reason);
  }
  if (m_quarantined > 0) {
    return base::fail(ErrorCode::binary_refused, "{} of the bundle's entries for {}: {}",
                      m_quarantined, what, m_quarantine_reason);
  }
  if (m_first_damage.has_value()) {
    return base::add_context(*m_first_damage, what);
  }
  if (const auto unusable = unusable_packs(); !unusable.empty()) {
    return base::fail(ErrorCode::no_matching_entry, "no entry of {} matches, and {}", what,
                      unusable.front().error.message);
  }
  return base::fail(ErrorCode::no_matching_entry, "no entry of {} matches", what);
}

std::string Ladder::why_no_binary() const {
  if (!m_supply.why_no_entry.empty()) {
    return m_supply.why_no_entry;
  }
  if (m_refused > 0) {
    return "the driver rejected every matching entry";
  }
  if (m_wrong > 0) {
    return "the matching entries compute something wrong";
  }
  if (m_quarantined > 0) {
    return "the matching entries are in quarantine";
  }
  if (m_first_damage.has_value()) {
    return "no matching entry could be read";
  }
  const auto unusable = unusable_packs();
  return unusable.empty() ? "no entry matches this device" : unusable.front().error.message;
}

std::span<const PackSet::Pack> Ladder::unusable_packs() const {
  return m_supply.unusable_packs.empty() ? std::span<const PackSet::Pack>()
                                         : m_supply.unusable_packs[m_device];
}

std::string Ladder::why_not_attempted() const {
  if (!m_supply.why_no_entry.empty()) {
    return "matches, but " + m_supply.why_no_entry;
  }
  if (is_for_text(m_supply) && !m_accepted.has_value()) {
    const auto& steps = m_supply.steps;
    return std::ranges::find(steps, Step::il) != steps.end()
               ? "matches, but is of another bundle"
               : "matches, but this build does not use IL";
  }
  if (!is_for_text(m_supply) && m_accepted.has_value() &&
      m_accepted->binary.attempt.origin == Origin::user_cache) {
    return "matches, but the user cache contains a program built for this device";
  }
  return "matches, but a better entry was loaded";
}

void Ladder::record_unreadable(const LoadSession& session, Attempt attempt,
                               const base::Error& error, const Stopwatch& stopwatch) {
  const bool is_excluded =
      error.code == ErrorCode::unsafe_options || error.code == ErrorCode::no_matching_entry;
  attempt.decision = is_excluded ? Decision::not_attempted : Decision::unreadable;
  attempt.reason = error.message;
  attempt.microseconds = stopwatch.microseconds();
  session.record(std::move(attempt));
  m_first_damage = m_first_damage.value_or(error);
}

void Ladder::rank_entries() {
  m_candidates.emplace();
  for (std::uint32_t i = 0; i < m_supply.groups.size(); ++i) {
    const LoadSession& group = *m_supply.groups[i];
    auto ranked = matching::rank_candidates(*group.bundle, group.group, group.identities[m_device]);
    if (!ranked && is_for_text(m_supply)) {
      group.report.warnings.push_back(
          fmt::format("'{}': {}", group.bundle->name(), ranked.error().message));
    } else if (!ranked) {
      record_unreadable(group, {.device = m_device, .origin = Origin::entry}, ranked.error(),
                        Stopwatch());
    }
    for (Candidate& candidate : ranked.value_or(std::vector<Candidate>())) {
      candidate.bundle = i;
      m_candidates->push_back(std::move(candidate));
    }
  }
  if (!is_for_text(m_supply) && m_supply.groups.size() > 1) {
    matching::sort_by_rank(*m_candidates);
  }
}

void Ladder::note_refusal(const LoadSession& session, Refusal refusal) {
  if (refusal == Refusal::by_driver) {
    ++m_refused;
  } else if (refusal == Refusal::by_answers) {
    ++m_wrong;
    m_wrong_reason = session.report.attempts.back().reason;
  } else {
    ++m_quarantined;
    m_quarantine_reason = session.report.attempts.back().reason;
  }
}

void Ladder::try_entry(const Candidate& candidate) {
  const LoadSession& group = *m_supply.groups[candidate.bundle];
  const Stopwatch stopwatch;
  Result<BinaryToTry> binary = read_entry(group, candidate);
  if (!binary) {
    return record_unreadable(group, attempt_of(candidate, m_device), binary.error(), stopwatch);
  }
  binary->attempt = attempt_of(candidate, m_device);
  auto tried = try_binary(group, *std::move(binary), stopwatch);
  if (!tried) {
    note_refusal(group, tried.error());
    m_may_store &= tried.error() != Refusal::by_quarantine || candidate.is_of_series;
  } else if (!tried->is_recompiled) {
    m_accepted = *std::move(tried);
    m_is_exact = candidate.rule == Rule::exact_identity;
  } else if (!m_recompiled.has_value()) {
    m_recompiled = *std::move(tried);
  }
}

void Ladder::try_entries(Turn turn) {
  if (!m_candidates.has_value()) {
    rank_entries();
  }
  for (const Candidate& candidate : *m_candidates) {
    if (candidate.turn == turn && !m_supply.groups[candidate.bundle]->budget.is_raw_spent()) {
      try_entry(candidate);
    }
    if (m_accepted.has_value()) {
      return;
    }
  }
}

// Uses a program that the driver has built from the IR of an entry. No later step is better.
void Ladder::take_recompiled() {
  const LoadSession& session = m_supply.session;
  m_accepted = std::exchange(m_recompiled, std::nullopt);
  if (!m_accepted.has_value() || session.request.devices.size() > 1) {
    return;
  }
  session.record({.origin = Origin::il,
                  .decision = Decision::loaded,
                  .rule = Rule::recompiled,
                  .reason = "no better entry loads than the binary that the driver recompiled"});
  m_user_cache.keep(m_accepted->program.get(), m_accepted->binary.options);
}

// Passes the IL that the device supports to the driver, best first, until it accepts a module.
void Ladder::try_il() {
  const LoadSession& session = m_supply.session;
  for (const IlModule& module : session.il_modules(m_device)) {
    const Stopwatch stopwatch;
    Attempt attempt = attempt_of(module.candidate, m_device);
    attempt.origin = Origin::il;
    Result<BinaryToTry> il = read_il(session, module);
    if (!il) {
      record_unreadable(session, std::move(attempt), il.error(), stopwatch);
      continue;
    }
    il->attempt = std::move(attempt);
    auto tried = try_binary(session, *std::move(il), stopwatch);
    if (tried) {
      m_accepted = *std::move(tried);
      return;
    }
  }
}

// Builds IL of a bundle as a load of its group does, and under the same key of the user cache. That
// key contains the IL: under the key of the text, a bundle could replace what the text is built to.
void Ladder::build_il_for_text() {
  for (const LoadSession* group : m_supply.groups) {
    const std::vector<IlModule>& modules = group->il_modules(m_device);
    if (modules.empty()) {
      continue;
    }
    const Supply supply{*group, {group}, {Step::user_cache, Step::build_of_others, Step::il}, {}};
    Ladder ladder(supply, m_device);
    ladder.m_quarantined = m_quarantined;
    ladder.m_may_store = m_may_store;
    for (auto step = supply.steps.begin();
         step != supply.steps.end() && !ladder.m_accepted.has_value(); ++step) {
      ladder.attempt(*step);
    }
    if (!ladder.m_accepted.has_value()) {
      continue;
    }
    m_accepted = std::move(ladder.m_accepted);
    if (m_accepted->hit.has_value()) { // the entry of the bundle tells more of its build
      m_accepted->hit.reset();
      m_accepted->binary.attempt.entry = modules.front().candidate.entry.index;
    }
    return;
  }
}

void Ladder::build_il() {
  if (is_for_text(m_supply)) {
    return build_il_for_text();
  }
  try_il();
  if (m_accepted.has_value()) {
    m_user_cache.keep(m_accepted->program.get(), m_accepted->binary.options);
  }
}

void Ladder::attempt(Step step) {
  switch (step) {
  case Step::own_entries:
  case Step::compatible_entries:
    return try_entries(*turn_of(step));
  case Step::user_cache:
    m_accepted = m_user_cache.attempt();
    return;
  case Step::build_of_others:
    // Nothing is stored to replace entries in quarantine: it may be the same binary, which would
    // end the process twice more, unless the entry was made for another GPU. PoCL's binary is taken
    // only after launches, which is too long to wait for, unless the caller makes one.
    if (m_may_store && (m_supply.session.request.take_binary ||
                        format::device_family(m_supply.session.identities[m_device]) !=
                            format::DeviceFamily::pocl)) {
      m_accepted = m_user_cache.wait_for_turn();
    }
    return;
  case Step::recompiled_entry:
    return take_recompiled();
  case Step::il:
    return build_il();
  case Step::source:
    return;
  }
}

void Ladder::end_entries(IlComes il_comes) {
  m_candidates.reset(); // a bundle can have many, for each device of the load
  if (m_is_exact || std::exchange(m_has_ended_entries, true)) {
    return;
  }
  m_source_reason = why_no_binary();
  for (const PackSet::Pack& pack : unusable_packs()) {
    m_supply.session.record(
        {.device = m_device, .origin = Origin::entry, .reason = pack.error.message});
  }
  const bool none_loads = !m_accepted.has_value() && !m_recompiled.has_value();
  for (const LoadSession* group : m_supply.groups) {
    explain_entries(*group, m_device, why_not_attempted(), none_loads ? il_comes : IlComes::no);
  }
}

std::optional<Accepted> Ladder::find_binary() {
  const auto has_entries = [this](Step step) {
    return turn_of(step).has_value() || step == Step::user_cache ||
           (step == Step::il && is_for_text(m_supply));
  };
  const auto end = m_supply.steps.end();
  for (auto step = m_supply.steps.begin(); step != end && !m_accepted.has_value(); ++step) {
    if (std::none_of(step, end, has_entries)) {
      end_entries(std::find(step, end, Step::il) == end ? IlComes::no : IlComes::yes);
    }
    attempt(*step);
  }
  end_entries(IlComes::no);
  return std::exchange(m_accepted, std::nullopt);
}

std::vector<Accepted> find_binaries(const Supply& supply, std::vector<Ladder>& ladders) {
  std::vector<Accepted> binaries;
  for (Ladder& ladder : ladders) {
    std::optional<Accepted> accepted = ladder.find_binary();
    if (!accepted.has_value()) {
      break;
    }
    if (ladders.size() > 1) { // only the bytes are needed
      accepted->program = opencl::Program();
    }
    binaries.push_back(*std::move(accepted));
  }
  if (binaries.size() < ladders.size() &&
      supply.session.request.fallback == FallbackPolicy::if_needed) {
    const auto missing = ladders.begin() + static_cast<std::ptrdiff_t>(binaries.size());
    std::for_each(std::next(missing), ladders.end(),
                  [](Ladder& later) { later.user_cache().claim_if_free(); });
  }
  return binaries;
}

void explain_entries(const LoadSession& session, std::uint32_t device,
                     const std::string& fitting_reason, IlComes il_comes) {
  if (session.bundle == nullptr || session.request.detail == ReportDetail::attempts_only) {
    return;
  }
  const auto candidates =
      matching::explain_candidates(*session.bundle, session.group, session.identities[device]);
  if (!candidates) {
    session.report.warnings.push_back(candidates.error().message);
    return;
  }
  std::unordered_set<std::uint32_t> attempted;
  for (const Attempt& attempt : session.report.attempts) {
    if (attempt.device == device && attempt.pack == session.pack) {
      attempted.insert(attempt.entry);
    }
  }
  for (const Candidate& candidate : *candidates) {
    if (attempted.contains(candidate.entry.index) ||
        (candidate.rule == Rule::il && il_comes == IlComes::yes)) {
      continue;
    }
    Attempt attempt = attempt_of(candidate, device);
    if (candidate.rule != Rule::not_compatible) {
      attempt.reason = fitting_reason;
    }
    if (!session.has_room_for(attempt)) {
      return;
    }
    session.record(std::move(attempt));
  }
}

} // namespace clbin::loader
