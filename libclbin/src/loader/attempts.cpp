// Attempts: what passes a binary, IL or source to the driver, and records what it answered. A
// binary is passed between marks of the quarantine, under digests that cover what the driver
// receives, not what a bundle declares. No bundle can therefore quarantine the binary of another.
#include "loader/load_session.hpp"

#include "base/text.hpp"
#include "model/phone_gpu.hpp"
#include "source/source_closing.hpp"

#include <fmt/format.h>

namespace clbin::loader {

namespace {

constexpr std::string_view k_payload_label = "clbin-quarantine-payload-1";
constexpr std::string_view k_attempt_label = "clbin-quarantine-attempt-1";
constexpr std::string_view k_together_label = "clbin-quarantine-together-1";
constexpr std::string_view k_devices_label = "clbin-quarantine-devices-1";
constexpr std::string_view k_verdict_label = "clbin-verdict-1";
constexpr std::string_view k_source_label = "clbin-verdict-source-1";

void add_frame(base::Hasher& hasher, const format::BlobView& blob) {
  hasher.add_field(blob.stored_digest.bytes);
  hasher.add_u64(blob.raw_bytes);
  hasher.add_u64(blob.codec);
  hasher.add_u64(blob.flags);
}

void add_names(base::Hasher& hasher, const std::vector<std::string>& names) {
  hasher.add_u64(names.size());
  for (const std::string& name : names) {
    hasher.add_field(name);
  }
}

// Whether the driver is called if no marker of the quarantine can be written.
enum class Marker : std::uint8_t { wanted, required };

// Identifies an attempt in the quarantine.
struct QuarantineName {
  base::Digest attempt;
  base::Digest devices; // of the identity of the device, or of those of all devices
};

// Covers the payload and all that is added: language, options, kernels, specialisation constants.
base::Digest attempt_digest(const LoadSession& session, const BinaryToTry& binary) {
  base::Hasher hasher;
  hasher.add_field(k_attempt_label);
  hasher.add_field(binary.payload.bytes);
  hasher.add_u64(static_cast<std::uint64_t>(binary.language));
  hasher.add_field(binary.options);
  add_names(hasher, binary.kernels);
  for (const opencl::SpecializationConstant& constant : session.request.constants) {
    hasher.add_u64(constant.id);
    hasher.add_field(constant.value);
  }
  return hasher.finish();
}

// Covers the binaries, in the order of the devices, and options and kernels of their program.
QuarantineName together_digest(const LoadSession& session, const std::vector<Accepted>& binaries,
                               const std::string& options,
                               const std::vector<std::string>& kernels) {
  base::Hasher attempt;
  attempt.add_field(k_together_label);
  attempt.add_field(options);
  add_names(attempt, kernels);
  base::Hasher devices;
  devices.add_field(k_devices_label);
  for (std::size_t device = 0; device < binaries.size(); ++device) {
    attempt.add_field(binaries[device].binary.payload.bytes);
    devices.add_field(format::identity_digest(session.identities[device]).bytes);
  }
  return {attempt.finish(), devices.finish()};
}

// The check of known answers of one program on one device, if the load checks them.
class AnswerStep {
public:
  using Found = AnswersFound;
  using Verdict = AnswersFound::Verdict;

  // `program` identifies what the driver makes the program of. The base of a pack has the answers.
  AnswerStep(const LoadSession& of_entry, std::uint32_t device, const base::Digest& program)
      : m_session(of_entry.base == nullptr ? of_entry : *of_entry.base), m_device(device) {
    const LoadSession& session = m_session;
    const LoadRequest& request = session.request;
    if (request.answers == nullptr || session.bundle == nullptr || !request.constants.empty() ||
        !request.extra_options.empty() || session.group.manifest_blob == format::k_no_index) {
      return;
    }
    m_check = request.answers;
    const auto manifest = payload_digest(*session.bundle, session.group.manifest_blob);
    if (m_check->when == AnswerCheck::When::once && manifest) {
      base::Hasher hasher;
      hasher.add_field(k_verdict_label);
      hasher.add_field(program.bytes);
      hasher.add_field(format::identity_digest(session.identities[device]).bytes);
      hasher.add_field(manifest->bytes);
      hasher.add_field(session.group.variant);
      m_key = hasher.finish();
      const auto text = session.cache.verdicts.find(*m_key);
      m_known = text ? parse(*text) : std::nullopt;
    }
  }

  // Whether an earlier load has found that the program computes something wrong. Changes the
  // attempt accordingly.
  [[nodiscard]] bool is_known_as_wrong(Attempt& attempt) const {
    if (!m_known || m_known->verdict != Verdict::wrong) {
      return false;
    }
    apply({Verdict::wrong, m_known->reason + " (found by an earlier load)"}, attempt);
    return true;
  }

  // Whether examine() launches kernels.
  [[nodiscard]] bool is_pending() const noexcept { return m_check != nullptr && !m_known; }

  // Checks the program, unless it was checked before, and changes the attempt by what is found.
  void examine(cl_program program, Attempt& attempt) const {
    if (m_check == nullptr) {
      return;
    }
    const Found found = m_known ? *m_known : m_check->examine(m_session, m_device, program);
    if (m_key && !m_known && found.is_lasting) {
      m_session.warn_of_cache(m_session.cache.verdicts.remember(*m_key, text_of(found)));
    }
    apply(found, attempt);
  }

private:
  static constexpr std::array<std::string_view, 4> k_words{"none", "right", "wrong", "unchecked"};

  static std::string text_of(const Found& found) {
    return fmt::format("{}: {}", k_words[static_cast<std::size_t>(found.verdict)], found.reason);
  }
  // std::nullopt: not a text of this version, or one that was cut by a crash of the machine.
  static std::optional<Found> parse(const std::string& text) {
    const std::size_t end = text.find(": ");
    const auto* const word = std::ranges::find(k_words, std::string_view(text).substr(0, end));
    if (end == std::string::npos || word == k_words.end()) {
      return std::nullopt;
    }
    return Found{static_cast<Verdict>(word - k_words.begin()), text.substr(end + 2)};
  }
  static void apply(const Found& found, Attempt& attempt) {
    if (found.verdict == Verdict::wrong) {
      attempt.decision = Decision::wrong_answer;
      attempt.reason = found.reason;
    } else if (found.verdict == Verdict::right) {
      attempt.reason += "; it gives its known answers";
    } else if (found.verdict == Verdict::unchecked) {
      attempt.reason += "; known answers were not checked: " + found.reason;
    }
  }

  const LoadSession& m_session;
  std::uint32_t m_device;
  const AnswerCheck* m_check = nullptr; // null: nothing is checked
  std::optional<base::Digest> m_key;    // of what is remembered
  std::optional<Found> m_known;         // by an earlier load
};

std::string target_text(const format::TargetView& target) {
  using format::told;
  if (!target.spec.empty()) {
    return told(target.spec);
  }
  const std::string platform =
      target.platform_name.empty() ? "" : told(target.platform_name) + " / ";
  return fmt::format("{}{} / {}", platform, told(target.device_name), told(target.driver_version));
}

bool is_recompiled(const opencl::BuildOutcome& outcome) {
  return outcome.code == CL_SUCCESS && opencl::reports_recompiling(outcome.log);
}

// On Mali, only the creation of kernels shows whether the driver takes the binary. Imported entries
// do not record their kernels: those that the program lists.
opencl::BuildOutcome with_kernels(const LoadSession& session, const BinaryToTry& binary,
                                  opencl::BuildOutcome built) {
  const format::DeviceIdentity& device = session.identities[binary.attempt.device];
  if (built.code != CL_SUCCESS || format::phone_gpu(device) != format::PhoneGpu::mali) {
    return built;
  }
  const cl_program program = built.program.get();
  const auto names = binary.kernels.empty()
                         ? opencl::program_kernel_names(session.driver, program)
                         : base::Result<std::vector<std::string>>(binary.kernels);
  if (!names || names->empty()) {
    return {{},
            CL_INVALID_KERNEL_NAME,
            "clGetProgramInfo",
            names ? "the program has no kernel" : names.error().message};
  }
  auto created = opencl::create_kernels(session.driver, program, *names);
  return created ? std::move(built) : std::move(created.error());
}

opencl::BuildOutcome build(const LoadSession& session, const BinaryToTry& binary) {
  cl_device_id device = session.request.devices[binary.attempt.device];
  if (binary.language == BinaryToTry::Language::il) {
    return opencl::build_from_il(session.driver, session.context, {device}, binary.bytes,
                                 session.request.constants, binary.options, binary.kernels);
  }
  return with_kernels(session, binary,
                      opencl::build_from_binary(session.driver, session.context, device,
                                                binary.bytes, binary.options, binary.kernels));
}

// Returns why the driver is not called, as a sentence; empty if it is.
std::string obstacle_of(const cache::AttemptPermit& permit, Marker marker) {
  if (permit.verdict == cache::AttemptVerdict::quarantined) {
    return "in quarantine: " + permit.reason;
  }
  return marker == Marker::required && !permit.is_marked
             ? "a binary for a whole series is not passed to a driver without a marker of the "
               "quarantine, because it can crash it"
             : std::string();
}

// Calls `call_driver` unless in quarantine. `attempt`, which is recorded, is that of a success;
// `call_driver` changes it if the program computes something wrong.
template <typename CallDriver>
tl::expected<opencl::BuildOutcome, Refusal>
try_driver(const LoadSession& session, const QuarantineName& name, Marker marker, Attempt attempt,
           const Stopwatch& stopwatch, const CallDriver& call_driver) {
  cache::AttemptPermit permit = session.cache.quarantine.begin(name.attempt, name.devices);
  session.warn_of_cache(permit.warning);
  const std::string obstacle = obstacle_of(permit, marker);
  if (!obstacle.empty()) {
    attempt.decision = Decision::not_attempted;
    attempt.reason = obstacle;
    attempt.microseconds = stopwatch.microseconds();
    session.record(std::move(attempt));
    return tl::unexpected(Refusal::by_quarantine);
  }
  permit.marker.hand_over();
  opencl::BuildOutcome built = call_driver(attempt);
  permit.marker.take_back();
  const bool is_wrong = attempt.decision == Decision::wrong_answer;
  if (!is_wrong && attempt.rule != Rule::several_devices && is_recompiled(built)) {
    attempt.decision = Decision::recompiled;
    attempt.reason = opencl::k_recompiled_sentence;
  }
  if (!session.record_build(std::move(attempt), built, stopwatch)) {
    return tl::unexpected(Refusal::by_driver);
  }
  if (is_wrong) {
    return tl::unexpected(Refusal::by_answers);
  }
  return built;
}

std::vector<std::string> common_kernels(const std::vector<Accepted>& binaries) {
  std::vector<std::string> common = binaries.front().binary.kernels;
  for (const Accepted& accepted : binaries) {
    const auto& kernels = accepted.binary.kernels;
    std::erase_if(common, [&](const std::string& name) {
      return std::ranges::find(kernels, name) == kernels.end();
    });
  }
  return common;
}

// One build has one option string: that of the entries if they agree, otherwise that of the group.
std::string common_options(const LoadSession& session, const std::vector<Accepted>& binaries) {
  const std::string& first = binaries.front().binary.options;
  const bool agree = std::ranges::all_of(
      binaries, [&](const Accepted& accepted) { return accepted.binary.options == first; });
  return agree ? first : session.group.options.str();
}

std::string extensions_of(const std::string& options) {
  return fmt::format("{}", fmt::join(base::requested_extensions(options), " "));
}

std::string refusal_of(const LoadSession& session, const Attempt& attempt, std::size_t devices) {
  const std::string program = fmt::format("the binaries of program '{}'", session.group.program);
  if (attempt.decision == Decision::not_attempted) {
    return fmt::format("{} are not loaded as one program for {} devices: {}", program, devices,
                       attempt.reason);
  }
  return fmt::format(
      "the driver accepts {} one by one, but not in one program for {} devices ({}: {})", program,
      devices, attempt.stage, opencl::cl_error_name(attempt.cl_code));
}

// Checks what the driver of each device has built, until one program computes something wrong.
void examine_source(const LoadSession& session, const std::string& options, cl_program program,
                    Attempt& attempt) {
  if (session.request.answers == nullptr) {
    return;
  }
  base::Hasher hasher;
  hasher.add_field(k_source_label);
  hasher.add_field(options);
  const auto source = payload_digest(*session.bundle, session.group.source_blob);
  hasher.add_field(source ? source->bytes : base::Digest().bytes);
  const base::Digest digest = hasher.finish();
  const auto count = static_cast<std::uint32_t>(session.request.devices.size());
  for (std::uint32_t device = 0; device < count; ++device) {
    const AnswerStep answers(session, device, digest);
    if (answers.is_known_as_wrong(attempt)) {
      return;
    }
    // What ends the process counts as for a binary.
    cache::AttemptPermit permit;
    if (answers.is_pending()) {
      permit = session.cache.quarantine.begin(digest,
                                              format::identity_digest(session.identities[device]));
      session.warn_of_cache(permit.warning);
    }
    if (permit.verdict == cache::AttemptVerdict::quarantined) {
      attempt.decision = Decision::wrong_answer;
      attempt.reason = "its known answers are in quarantine: " + permit.reason;
      return;
    }
    permit.marker.hand_over();
    answers.examine(program, attempt);
    permit.marker.take_back();
    if (attempt.decision == Decision::wrong_answer) {
      return;
    }
  }
}

std::string quoted_devices(const LoadSession& session) {
  std::string text;
  for (const format::DeviceIdentity& identity : session.identities) {
    text += text.empty() ? "'" : ", '";
    text += identity.device_name + "'";
  }
  return text;
}

} // namespace

base::Result<base::Digest> payload_digest(const format::BundleReader& bundle, std::uint32_t blob) {
  CLBIN_TRY_ASSIGN(const format::BlobView own, bundle.blob(blob));
  base::Hasher hasher;
  hasher.add_field(k_payload_label);
  add_frame(hasher, own);
  if (own.reference != format::k_no_index) {
    CLBIN_TRY_ASSIGN(const format::BlobView reference, bundle.blob(own.reference));
    add_frame(hasher, reference);
  }
  return hasher.finish();
}

tl::unexpected<base::Error> build_error(std::string_view what,
                                        const opencl::BuildOutcome& outcome) {
  std::string message = fmt::format("building {} failed: {}: {}", what, outcome.stage,
                                    opencl::cl_error_name(outcome.code));
  message += outcome.log.empty() ? "" : "\n" + outcome.log;
  return tl::unexpected(base::Error{ErrorCode::build_failed, std::move(message),
                                    std::make_shared<base::FailedCall>(base::FailedCall{
                                        outcome.stage, outcome.code, outcome.log})});
}

Attempt attempt_of(const matching::Candidate& candidate, std::uint32_t device) {
  return {.device = device,
          .entry = candidate.entry.index,
          .target = target_text(candidate.entry.target),
          .origin = Origin::entry,
          .rule = candidate.rule,
          .reason = candidate.reason};
}

tl::expected<Accepted, Refusal> try_binary(const LoadSession& session, BinaryToTry binary,
                                           const Stopwatch& stopwatch) {
  const bool is_for_several = session.request.devices.size() > 1;
  binary.attempt.decision = is_for_several ? Decision::accepted : Decision::loaded;
  const QuarantineName name{attempt_digest(session, binary),
                            format::identity_digest(session.identities[binary.attempt.device])};
  const AnswerStep answers(session, binary.attempt.device, name.attempt);
  if (answers.is_known_as_wrong(binary.attempt)) {
    binary.attempt.microseconds = stopwatch.microseconds();
    session.record(std::move(binary.attempt));
    return tl::unexpected(Refusal::by_answers);
  }
  const Marker marker = binary.is_of_series ? Marker::required : Marker::wanted;
  auto built = try_driver(session, name, marker, binary.attempt, stopwatch, [&](Attempt& attempt) {
    opencl::BuildOutcome outcome = build(session, binary);
    if (outcome.code == CL_SUCCESS && outcome.program) {
      answers.examine(outcome.program.get(), attempt);
    }
    return outcome;
  });
  if (!built) {
    return tl::unexpected(built.error());
  }
  if (!is_for_several) {
    binary.bytes = base::Bytes();
  }
  return Accepted{std::move(binary), std::move(built->program), is_recompiled(*built), &session};
}

Origin common_origin(const std::vector<Accepted>& binaries) {
  const auto is_cached = [](const Accepted& accepted) {
    return accepted.binary.attempt.origin == Origin::user_cache;
  };
  if (binaries.size() == 1) {
    return binaries.front().binary.attempt.origin;
  }
  return std::ranges::all_of(binaries, is_cached) ? Origin::user_cache : Origin::entry;
}

tl::expected<opencl::Program, std::string> create_program(const LoadSession& session,
                                                          std::vector<Accepted>& binaries) {
  const std::string options = common_options(session, binaries);
  session.report.extensions = extensions_of(options);
  if (binaries.size() == 1) {
    return std::move(binaries.front().program);
  }
  const Stopwatch stopwatch;
  const std::vector<std::string> kernels = common_kernels(binaries);
  std::vector<base::ByteView> bytes;
  bytes.reserve(binaries.size());
  for (const Accepted& accepted : binaries) {
    bytes.emplace_back(accepted.binary.bytes);
  }
  Attempt attempt{.origin = common_origin(binaries),
                  .decision = Decision::loaded,
                  .rule = Rule::several_devices,
                  .reason =
                      fmt::format("the binaries of {} devices in one program", binaries.size())};
  auto built = try_driver(session, together_digest(session, binaries, options, kernels),
                          Marker::wanted, std::move(attempt), stopwatch, [&](Attempt& /*same*/) {
                            return opencl::build_from_binaries(session.driver, session.context,
                                                               session.request.devices, bytes,
                                                               options, kernels);
                          });
  if (!built) {
    return tl::unexpected(refusal_of(session, session.report.attempts.back(), binaries.size()));
  }
  return std::move(built->program);
}

Result<opencl::Program> build_source(const LoadSession& session, std::string reason) {
  const Stopwatch stopwatch;
  Attempt attempt{.origin = Origin::source, .rule = Rule::source, .reason = std::move(reason)};
  const auto record_failure = [&](Decision decision, const base::Error& error) {
    attempt.decision = decision;
    attempt.reason = error.message;
    session.record(std::move(attempt));
  };
  const Result<format::SourcePackage>& recorded = session.source();
  if (!recorded) {
    record_failure(recorded.error().code == ErrorCode::no_source ? Decision::not_attempted
                                                                 : Decision::unreadable,
                   recorded.error());
    return tl::unexpected(recorded.error());
  }
  if (const Result<void> options = check_recorded_options(session.group.options); !options) {
    record_failure(Decision::not_attempted, options.error());
    return base::add_context(options.error(), session.group.program);
  }
  const std::string options = session.source_options();
  session.report.extensions = extensions_of(options);
  const format::SourcePackage closed = source::close_source(*recorded, options);
  opencl::BuildOutcome outcome = opencl::build_from_source(
      session.driver, session.context, session.request.devices, closed, options);
  outcome.log = source::with_open_names(outcome.log);
  attempt.decision = Decision::loaded;
  const std::string what =
      fmt::format("'{}' for {}", recorded->main.display_name, quoted_devices(session));
  if (outcome.code == CL_SUCCESS && outcome.program) {
    examine_source(session, options, outcome.program.get(), attempt);
  }
  const std::string wrong = attempt.decision == Decision::wrong_answer ? attempt.reason : "";
  if (!session.record_build(std::move(attempt), outcome, stopwatch)) {
    return build_error(what, outcome);
  }
  if (!wrong.empty()) {
    return base::fail(ErrorCode::build_failed, "{} was built, and computes something wrong: {}",
                      what, wrong);
  }
  return std::move(outcome.program);
}

} // namespace clbin::loader
