#include "loader/load_program.hpp"

#include "loader/load_session.hpp"
#include "opencl/cl_error.hpp"
#include "opencl/device_query.hpp"

#include <algorithm>
#include <iterator>

namespace clbin::loader {

using base::ErrorCode;
using base::Result;

void LoadSession::record(Attempt attempt) const {
  report.attempts.push_back(std::move(attempt));
  if (request.on_attempt) {
    request.on_attempt(report.attempts.back());
  }
}

namespace {

Result<std::vector<cl_device_id>> context_devices(const opencl::Driver& driver,
                                                  cl_context context) {
  std::size_t size = 0;
  cl_int code = driver.GetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &size);
  std::vector<cl_device_id> devices(size / sizeof(cl_device_id));
  if (code == CL_SUCCESS) {
    code = driver.GetContextInfo(context, CL_CONTEXT_DEVICES, devices.size() * sizeof(cl_device_id),
                                 devices.data(), nullptr);
  }
  if (code != CL_SUCCESS) {
    return base::fail(ErrorCode::opencl_call, "clGetContextInfo(CL_CONTEXT_DEVICES) failed: {}",
                      opencl::cl_error_name(code));
  }
  return devices;
}

// PoCL's context of a sub-device lists the device that it is a part of.
Result<bool> is_of_context(const opencl::Driver& driver, const std::vector<cl_device_id>& known,
                           cl_device_id device) {
  const auto is_known = [&](cl_device_id wanted) {
    return std::find(known.begin(), known.end(), wanted) != known.end();
  };
  if (is_known(device)) {
    return true;
  }
  CLBIN_TRY_ASSIGN(cl_device_id root, opencl::root_device(driver, device));
  return is_known(root);
}

Result<void> check_request(const opencl::Driver& driver, cl_context context,
                           const LoadRequest& request) {
  if (request.devices.empty()) {
    return base::fail(ErrorCode::invalid_argument, "no device to load program '{}' for",
                      request.program);
  }
  CLBIN_TRY_ASSIGN(const auto known, context_devices(driver, context));
  for (auto device = request.devices.begin(); device != request.devices.end(); ++device) {
    const auto index = std::distance(request.devices.begin(), device);
    CLBIN_TRY_ASSIGN(const bool is_of, is_of_context(driver, known, *device));
    if (!is_of) {
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

// What entries failed with, for the case that source may not serve or is not there.
tl::unexpected<base::Error> entries_error(const LoadSession& session, std::uint32_t device,
                                          const EntryOutcome& outcome) {
  const std::string what =
      fmt::format("program '{}', variant '{}', for '{}'", session.group.program,
                  session.group.variant, session.report.devices[device]);
  if (outcome.refused > 0) {
    const auto& attempts = session.report.attempts;
    const auto last = std::find_if(attempts.rbegin(), attempts.rend(), [&](const Attempt& attempt) {
      return attempt.device == device && attempt.decision == Decision::refused;
    });
    return base::fail(ErrorCode::binary_refused,
                      "the driver refused {} of the bundle's entries for {}: {}: {}",
                      outcome.refused, what, last->stage, opencl::cl_error_name(last->cl_code));
  }
  if (outcome.first_damage.has_value()) {
    return base::add_context(*outcome.first_damage, what);
  }
  return base::fail(ErrorCode::no_matching_entry, "no entry of {} fits", what);
}

std::string source_reason(const EntryOutcome& outcome) {
  if (outcome.refused > 0) {
    return "the driver refused every entry that fits";
  }
  return outcome.first_damage.has_value() ? "no entry that fits could be read"
                                          : "no entry fits this device";
}

// Source, or where the bundle has none, why the entries did not serve.
Result<opencl::Program> fall_back(const LoadSession& session, std::uint32_t device,
                                  const EntryOutcome& outcome, std::string reason) {
  if (session.request.fallback == FallbackPolicy::never) {
    return entries_error(session, device, outcome);
  }
  Result<opencl::Program> program = build_source(session, std::move(reason));
  if (program || program.error().code != ErrorCode::no_source) {
    return program;
  }
  const base::Error entries = entries_error(session, device, outcome).value();
  const bool none_fits = entries.code == ErrorCode::no_matching_entry;
  return base::fail(none_fits ? ErrorCode::no_source : entries.code,
                    "{}, and the bundle has no source of it", entries.message);
}

Result<opencl::Program> load_for_one(const LoadSession& session) {
  EntryOutcome outcome = try_entries(session, 0, ForLater::program_only);
  if (!outcome.exact) {
    explain_entries(session, 0, "fits, but a better entry was loaded");
  }
  if (outcome.proved.has_value()) {
    session.report.origin = Origin::entry;
    return std::move(outcome.proved->program);
  }
  Result<opencl::Program> program = fall_back(session, 0, outcome, source_reason(outcome));
  if (program) {
    session.report.origin = Origin::source;
  }
  return program;
}

std::vector<std::string> common_kernels(const std::vector<ProvedEntry>& entries) {
  std::vector<std::string> common = entries.front().kernels;
  for (const ProvedEntry& entry : entries) {
    std::erase_if(common, [&](const std::string& name) {
      return std::find(entry.kernels.begin(), entry.kernels.end(), name) == entry.kernels.end();
    });
  }
  return common;
}

// One build for all devices takes one string: the entries' own where they agree.
std::string common_options(const LoadSession& session, const std::vector<ProvedEntry>& entries) {
  const bool agree = std::all_of(entries.begin(), entries.end(), [&](const ProvedEntry& entry) {
    return entry.options == entries.front().options;
  });
  return agree ? entries.front().options : session.group.options;
}

opencl::BuildOutcome create_together(const LoadSession& session,
                                     const std::vector<ProvedEntry>& entries) {
  const Stopwatch stopwatch;
  std::vector<base::ByteView> binaries;
  binaries.reserve(entries.size());
  for (const ProvedEntry& entry : entries) {
    binaries.emplace_back(entry.binary);
  }
  opencl::BuildOutcome outcome = opencl::build_from_binaries(
      session.driver, session.context, session.request.devices, binaries,
      common_options(session, entries), common_kernels(entries));
  Attempt attempt;
  attempt.origin = Origin::entry;
  attempt.rule = "several devices";
  attempt.decision = outcome.code == CL_SUCCESS ? Decision::loaded : Decision::refused;
  attempt.reason = fmt::format("the binaries of {} devices in one program", entries.size());
  attempt.cl_code = outcome.code;
  attempt.stage = outcome.stage;
  attempt.driver_log = outcome.log;
  attempt.microseconds = stopwatch.microseconds();
  session.record(std::move(attempt));
  return outcome;
}

Result<opencl::Program> load_together(const LoadSession& session,
                                      const std::vector<ProvedEntry>& entries) {
  opencl::BuildOutcome outcome = create_together(session, entries);
  if (outcome.code == CL_SUCCESS) {
    session.report.origin = Origin::entry;
    return std::move(outcome.program);
  }
  std::string refusal = fmt::format(
      "the driver accepts the binaries of program '{}' one by one but not together for {} devices "
      "({}: {})",
      session.group.program, entries.size(), outcome.stage, opencl::cl_error_name(outcome.code));
  if (session.request.fallback == FallbackPolicy::never) {
    return tl::unexpected(
        base::Error{ErrorCode::several_devices_refused,
                    refusal + ", and source may not be built; load for each device alone"});
  }
  Result<opencl::Program> program =
      build_source(session, "the driver refused the binaries of several devices in one program");
  if (program) {
    session.report.origin = Origin::source;
  } else if (program.error().code == ErrorCode::no_source) {
    return tl::unexpected(
        base::Error{ErrorCode::several_devices_refused,
                    refusal + ", and the bundle has no source; load for each device alone"});
  }
  return program;
}

Result<opencl::Program> load_for_several(const LoadSession& session) {
  std::vector<ProvedEntry> entries;
  for (std::uint32_t device = 0; device < session.request.devices.size(); ++device) {
    EntryOutcome outcome = try_entries(session, device, ForLater::keep_bytes);
    if (!outcome.exact) {
      explain_entries(session, device, "fits, but a better entry was loaded");
    }
    if (!outcome.proved.has_value()) {
      Result<opencl::Program> program =
          fall_back(session, device, outcome,
                    fmt::format("device {} has no binary: {}", device, source_reason(outcome)));
      if (program) {
        session.report.origin = Origin::source;
      }
      return program;
    }
    // Kept as bytes; the proof itself is released before the next one is made.
    outcome.proved->program = opencl::Program();
    entries.push_back(std::move(*outcome.proved));
  }
  return load_together(session, entries);
}

Result<opencl::Program> load_source_only(const LoadSession& session, const std::string& reason) {
  for (std::uint32_t device = 0; device < session.request.devices.size(); ++device) {
    explain_entries(session, device, "fits, but " + reason);
  }
  Result<opencl::Program> program = build_source(session, reason);
  if (program) {
    session.report.origin = Origin::source;
  }
  return program;
}

Result<opencl::Program> walk_ladder(const LoadSession& session) {
  const LoadRequest& request = session.request;
  if (!request.extra_options.empty()) {
    const std::string reason =
        fmt::format("no entry was made with the extra options '{}'", request.extra_options);
    if (request.fallback == FallbackPolicy::never) {
      return base::fail(ErrorCode::no_matching_entry,
                        "{} of program '{}', and source may not be built", reason,
                        session.group.program);
    }
    return load_source_only(session, reason);
  }
  if (request.fallback == FallbackPolicy::always) {
    return load_source_only(session, "the caller asked for source");
  }
  return request.devices.size() == 1 ? load_for_one(session) : load_for_several(session);
}

} // namespace

Result<opencl::Program> load_program(const opencl::Driver& driver,
                                     const format::BundleReader& bundle, cl_context context,
                                     const LoadRequest& request, LoadReport& report) {
  const Stopwatch stopwatch;
  report = LoadReport();
  report.program = request.program;
  report.variant =
      request.variant.empty() ? std::string(format::k_default_variant) : request.variant;
  const auto load = [&]() -> Result<opencl::Program> {
    CLBIN_TRY(check_request(driver, context, request));
    CLBIN_TRY_ASSIGN(auto group, bundle.find_group(request.program, report.variant));
    CLBIN_TRY_ASSIGN(auto identities, query_identities(driver, request, report));
    return walk_ladder(LoadSession{driver, bundle, context, request, report, std::move(group),
                                   std::move(identities)});
  };
  Result<opencl::Program> program = load();
  report.microseconds = stopwatch.microseconds();
  return program;
}

} // namespace clbin::loader
