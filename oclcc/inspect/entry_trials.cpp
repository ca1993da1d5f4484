#include "inspect/entry_trials.hpp"

#include "format/size_limits.hpp"
#include "loader/recorded_options.hpp"
#include "opencl/cl_error.hpp"
#include "opencl/program_build.hpp"
#include "targets/device_pattern.hpp"
#include "worker/driver_compiler.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace oclcc {

namespace base = clbin::base;
using base::Result;

namespace {

Trial trial_of(const UnitResult& result) {
  if (!result.reply) {
    return {Trial::Verdict::refused, result.failure, {}};
  }
  const BuildReply& reply = *result.reply;
  if (!reply.error.empty()) {
    return {Trial::Verdict::refused, reply.error, reply.log};
  }
  if (reply.cl_code != 0) {
    return {Trial::Verdict::refused,
            fmt::format("{} answered {}", reply.stage, clbin::opencl::cl_error_name(reply.cl_code)),
            reply.log};
  }
  if (clbin::opencl::tells_of_recompiling(reply.log)) {
    return {Trial::Verdict::recompiled, std::string(clbin::opencl::k_recompiled_sentence),
            reply.log};
  }
  return {Trial::Verdict::loads, "loads", reply.log};
}

} // namespace

// All payloads stay in memory until the end of the trials.
Result<std::shared_ptr<const base::Bytes>> TrialPlan::read(const clbin::format::EntryView& entry) {
  const std::uint64_t limit = clbin::format::held_bytes_limit(m_bundle.total_bytes());
  CLBIN_TRY_ASSIGN(const clbin::format::BlobView blob, m_bundle.blob(entry.blob));
  if (m_payload_bytes != 0 && blob.raw_bytes > limit - std::min(limit, m_payload_bytes)) {
    return base::fail(base::ErrorCode::limit_exceeded,
                      "the payloads that match the devices of this machine exceed {} bytes", limit);
  }
  m_payload_bytes += blob.raw_bytes;
  CLBIN_TRY_ASSIGN(base::Bytes bytes, m_proved->read(entry.blob));
  const clbin::format::BinaryKind kind = clbin::format::classify_binary(bytes).kind;
  if (kind != entry.kind) {
    return base::fail(base::ErrorCode::damaged,
                      "payload of entry {} of '{}' is {}, but the table records {}", entry.index,
                      m_bundle.name(), clbin::format::to_string(kind),
                      clbin::format::to_string(entry.kind));
  }
  return std::make_shared<const base::Bytes>(std::move(bytes));
}

Result<std::size_t> TrialPlan::add(const clbin::matching::Candidate& candidate,
                                   std::size_t device) {
  CLBIN_TRY(clbin::loader::check_recorded_options(candidate.entry.options));
  CLBIN_TRY(m_texts.take(candidate.entry));
  auto& payload = m_payloads[{candidate.entry.blob, candidate.entry.kind}];
  if (payload == nullptr) {
    CLBIN_TRY_ASSIGN(payload, read(candidate.entry));
  }
  Unit unit{device, nullptr, candidate.entry.options, {}, payload};
  for (const std::string& name : candidate.entry.kernels) {
    unit.kernels.emplace_back().name = name;
  }
  m_units.push_back({std::move(unit)});
  return m_units.size() - 1;
}

Result<void> TrialDevices::ask_drivers() {
  CLBIN_TRY_ASSIGN(m_settings, worker::with_home(std::move(m_settings)));
  CLBIN_TRY_ASSIGN(auto installed,
                   worker::find_installed_devices(m_settings, worker::PropertyQuery::skip));
  for (const std::string& failure : installed.failures) {
    m_reporter.warning(failure);
  }
  CLBIN_TRY_ASSIGN(m_devices, select_devices(installed.devices, m_options.device_patterns));
  m_workers = std::move(installed.workers);
  return {};
}

Result<void> TrialDevices::find() {
  if (!m_found) {
    m_found = ask_drivers();
  }
  return *m_found;
}

std::vector<Trial> TrialDevices::carry_out(TrialPlan plan, const std::string& file) {
  BuildPlan build;
  build.compilers = {
      std::make_shared<worker::DriverCompiler>(m_settings, m_devices, std::exchange(m_workers, {}),
                                               std::chrono::seconds(m_options.timeout_seconds))};
  build.jobs = worker_count(m_options);
  build.units = std::move(plan.m_units);
  const auto show = [&](std::size_t done, std::size_t, UnitResult&) {
    m_reporter.progress(fmt::format("[{}/{}] {}", done, build.units.size(), file));
  };
  std::vector<Trial> trials;
  trials.reserve(build.units.size());
  for (const auto& result : build_units(build, show)) {
    trials.push_back(trial_of(result));
  }
  m_reporter.end_progress();
  return trials;
}

} // namespace oclcc
