#include "loader/il_rung.hpp"

#include "loader/attempt_digest.hpp"
#include "loader/recorded_options.hpp"

#include <utility>

namespace clbin::loader {

using base::Result;

const std::vector<IlModule>& il_modules(const LoadSession& session, std::uint32_t device) {
  const auto [place, is_new] = session.read_il.try_emplace(device);
  const bool is_wanted =
      session.request.extra_options.empty() || !session.request.constants.empty();
  if (!is_new || !is_wanted || session.bundle == nullptr) {
    return place->second;
  }
  auto candidates = matching::rank_il(*session.bundle, session.group, session.identities[device]);
  if (!candidates) {
    session.report.warnings.push_back(candidates.error().message);
    return place->second;
  }
  bool keeps_bytes = true; // of the first module only: there is rarely a second
  for (matching::Candidate& candidate : *candidates) {
    const Result<base::Digest> payload = payload_digest(*session.bundle, candidate.entry.blob);
    Result<base::Bytes> bytes =
        matching::read_candidate(*session.bundle, candidate, &session.budget);
    IlModule module{std::move(candidate), base::Digest(), payload.value_or(base::Digest()),
                    base::Bytes()};
    if (!bytes) {
      module.content = tl::unexpected(std::move(bytes.error()));
    } else {
      module.content = base::digest_of(*bytes);
      module.bytes = std::exchange(keeps_bytes, false) ? *std::move(bytes) : base::Bytes();
    }
    place->second.push_back(std::move(module));
    if (session.budget.is_raw_spent()) {
      break;
    }
  }
  return place->second;
}

std::optional<ProvedEntry> try_il(const LoadSession& session, std::uint32_t device,
                                  EntryOutcome& outcome) {
  for (const IlModule& module : il_modules(session, device)) {
    const Stopwatch stopwatch;
    BinaryToTry il;
    il.language = BinaryToTry::Language::il;
    il.attempt = attempt_of(module.candidate, device);
    il.attempt.origin = Origin::il;
    const Result<void> options = session.options_checker.check(module.candidate.entry.options);
    if (!options || !module.content) {
      record_unreadable(session, std::move(il.attempt),
                        options ? module.content.error() : options.error(), stopwatch, outcome);
      continue;
    }
    Result<base::Bytes> bytes =
        module.bytes.empty()
            ? matching::read_candidate(*session.bundle, module.candidate, &session.budget)
            : module.bytes;
    if (!bytes) {
      record_unreadable(session, std::move(il.attempt), bytes.error(), stopwatch, outcome);
      continue;
    }
    il.bytes = *std::move(bytes);
    il.payload = module.payload;
    il.options = module.candidate.entry.options;
    if (!session.request.extra_options.empty()) {
      il.options += (il.options.empty() ? "" : " ") + session.request.extra_options;
    }
    il.kernels = module.candidate.entry.kernels;
    AttemptOutcome tried = try_binary(session, std::move(il), ForLater::program_only, stopwatch);
    if (tried.proved.has_value()) {
      return std::move(tried.proved);
    }
  }
  return std::nullopt;
}

} // namespace clbin::loader
