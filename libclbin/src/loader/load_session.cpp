#include "loader/load_session.hpp"

#include "base/text.hpp"
#include "opencl/device_query.hpp"

#include <iterator>

namespace clbin::loader {

namespace {

// Includes the copies in the text and the JSON of the report.
std::uint64_t report_bytes_of(const Attempt& attempt) {
  constexpr std::uint64_t k_copies = 4;
  return k_copies * (sizeof(attempt) + attempt.target.size() + attempt.reason.size() +
                     attempt.driver_log.size());
}

} // namespace

void LoadSession::record(Attempt attempt) const {
  attempt.pack = pack;
  if (report_bytes_of(attempt) > report_bytes_left) {
    attempt.reason = format::told(attempt.reason);
    attempt.driver_log = format::told(attempt.driver_log);
  }
  report_bytes_left -= std::min(report_bytes_left, report_bytes_of(attempt));
  if (!attempt.stage.empty()) {
    const std::string name = opencl::cl_error_name(attempt.cl_code);
    attempt.cl_code_name = name.substr(0, name.find(" ("));
  }
  report.attempts.push_back(std::move(attempt));
  if (request.on_attempt) {
    request.on_attempt(report.attempts.back());
  }
}

bool LoadSession::record_build(Attempt attempt, const opencl::BuildOutcome& outcome,
                               const Stopwatch& stopwatch) const {
  const bool is_good = outcome.code == CL_SUCCESS && outcome.program;
  attempt.decision = is_good ? attempt.decision : Decision::refused;
  attempt.cl_code = outcome.code;
  attempt.stage = outcome.stage;
  attempt.driver_log = outcome.log;
  attempt.microseconds = stopwatch.microseconds();
  record(std::move(attempt));
  return is_good;
}

bool LoadSession::has_room_for(const Attempt& attempt) const {
  if (!is_report_full && report_bytes_of(attempt) > report_bytes_left) {
    is_report_full = true;
    report.warnings.push_back(
        "the report omits some entries, because the bundle contains too many");
  }
  return !is_report_full;
}

void LoadSession::warn_of_cache(const std::string& warning) const {
  if (!warning.empty() && !report.has_cache_warning) {
    report.has_cache_warning = true;
    report.warnings.push_back(warning);
  }
}

const Result<format::SourcePackage>& LoadSession::source() const {
  if (!read_source.has_value() && bundle == nullptr) {
    read_source = base::fail(ErrorCode::no_source, "the program is not of a bundle");
  }
  if (!read_source.has_value()) {
    read_source = bundle->read_source(group, &budget);
  }
  return *read_source;
}

const std::vector<IlModule>& LoadSession::il_modules(std::uint32_t device) const {
  const auto [place, is_new] = read_il.try_emplace(device);
  const bool is_wanted = request.extra_options.empty() || !request.constants.empty();
  if (!is_new || !is_wanted || bundle == nullptr) {
    return place->second;
  }
  auto candidates = matching::rank_il(*bundle, group, identities[device]);
  if (!candidates) {
    report.warnings.push_back(candidates.error().message);
    return place->second;
  }
  bool keeps_bytes = true; // of the first module only: there is rarely a second
  for (matching::Candidate& candidate : *candidates) {
    const Result<base::Digest> payload = payload_digest(*bundle, candidate.entry.blob);
    Result<base::Bytes> bytes = matching::read_candidate(*bundle, candidate, &budget);
    IlModule module{std::move(candidate), base::Digest(), payload.value_or(base::Digest()),
                    base::Bytes()};
    if (!bytes) {
      module.content = tl::unexpected(std::move(bytes.error()));
    } else {
      module.content = base::digest_of(*bytes);
      module.bytes = std::exchange(keeps_bytes, false) ? *std::move(bytes) : base::Bytes();
    }
    place->second.push_back(std::move(module));
    if (budget.is_raw_spent()) {
      break;
    }
  }
  return place->second;
}

bool is_tried_before(const format::GroupView& a, const format::GroupView& b) {
  return a.required.size() != b.required.size() ? a.required.size() > b.required.size()
                                                : a.variant < b.variant;
}

std::string LoadSession::source_options() const {
  return opencl::joined_options(group.options.str(), request.extra_options);
}

Result<void> check_devices(const opencl::Driver& driver, cl_context context,
                           const LoadRequest& request) {
  if (request.devices.empty()) {
    return base::fail(ErrorCode::invalid_argument, "no device to load program '{}' for",
                      request.program);
  }
  const auto known = opencl::ask_list<cl_device_id>(
      std::bind_front(driver.GetContextInfo, context, cl_context_info{CL_CONTEXT_DEVICES}));
  if (!known) {
    return opencl::call_failed("clGetContextInfo", "CL_CONTEXT_DEVICES", known.error());
  }
  const auto is_known = [&](cl_device_id device) {
    return std::ranges::find(*known, device) != known->end();
  };
  for (auto device = request.devices.begin(); device != request.devices.end(); ++device) {
    const auto index = std::distance(request.devices.begin(), device);
    cl_device_id listed = *device;
    if (!is_known(listed)) { // PoCL's context of a sub-device lists the parent device instead
      CLBIN_TRY_ASSIGN(listed, opencl::root_device(driver, listed));
    }
    if (!is_known(listed)) {
      return base::fail(ErrorCode::invalid_argument, "device {} is not a device of the context",
                        index);
    }
    if (std::find(request.devices.begin(), device, *device) != device) {
      return base::fail(ErrorCode::invalid_argument, "device {} is given twice", index);
    }
  }
  return {};
}

Result<std::vector<format::DeviceIdentity>>
query_identities(const opencl::Driver& driver, const LoadRequest& request, LoadReport& report) {
  std::vector<format::DeviceIdentity> identities;
  for (cl_device_id device : request.devices) {
    CLBIN_TRY_ASSIGN(auto identity, opencl::query_identity(driver, device));
    report.devices.push_back(fmt::format("{} / {} / {}", identity.platform_name,
                                         identity.device_name, identity.driver_version));
    identities.push_back(std::move(identity));
  }
  return identities;
}

} // namespace clbin::loader
