#include "modes/entry_trials.hpp"

#include "targets/driver_compiler.hpp"
#include "targets/patterns.hpp"

namespace oclcc {

using clbin::loader::Decision;

namespace {

// `log_bytes_left` limits the build logs of a bundle's trials together, because each trial can have
// one.
Trial trial_of(const UnitResult& result, std::uint64_t& log_bytes_left) {
  if (!result.reply) {
    return {Decision::refused, result.failure, {}};
  }
  const BuildReply& reply = *result.reply;
  Trial trial{Decision::loaded, "loads", reply.log};
  if (!reply.error.empty()) {
    trial = {Decision::refused, reply.error, reply.log};
  } else if (reply.cl_code != 0) {
    trial = {
        Decision::refused,
        fmt::format("{} answered {}", reply.stage, clbin::opencl::cl_error_name(reply.cl_code)),
        reply.log};
  } else if (clbin::opencl::reports_recompiling(reply.log)) {
    trial = {Decision::recompiled, std::string(clbin::opencl::k_recompiled_sentence), reply.log};
  }
  if (trial.driver_log.size() > log_bytes_left) {
    trial.driver_log = fmt::format("{} bytes of build log are omitted", reply.log.size());
  } else {
    log_bytes_left -= reply.log.size();
  }
  return trial;
}

} // namespace

// All payloads stay in memory until the end of the trials.
Result<std::shared_ptr<const base::Bytes>> TrialPlan::read(const format::EntryView& entry) {
  const std::uint64_t limit = format::held_bytes_limit(m_bundle.total_bytes());
  CLBIN_TRY_ASSIGN(const format::BlobView blob, m_bundle.blob(entry.blob));
  if (m_payload_bytes != 0 && blob.raw_bytes > limit - std::min(limit, m_payload_bytes)) {
    return fail(ErrorCode::limit_exceeded,
                "the payloads that match the devices of this machine exceed {} bytes", limit);
  }
  CLBIN_TRY_ASSIGN(base::Bytes bytes, m_proved->read(entry.blob));
  m_payload_bytes += blob.raw_bytes;
  const format::BinaryKind kind = format::classify_binary(bytes).kind;
  if (kind != entry.kind) {
    return fail(ErrorCode::damaged, "payload of entry {} of '{}' is {}, but the table records {}",
                entry.index, m_bundle.name(), format::to_string(kind),
                format::to_string(entry.kind));
  }
  return std::make_shared<const base::Bytes>(std::move(bytes));
}

Result<std::size_t> TrialPlan::add(const clbin::matching::Candidate& candidate,
                                   std::size_t device) {
  const format::EntryView& entry = candidate.entry;
  CLBIN_TRY(m_options_checker.check(entry.options));
  const TrialKey key(device, entry.blob, entry.kind, entry.options.identity(),
                     entry.kernels.identity());
  if (const auto planned = m_trials.find(key); planned != m_trials.end()) {
    return planned->second.number;
  }
  CLBIN_TRY(m_texts.take(entry));
  CLBIN_TRY(m_texts.take(sizeof(format::KernelReflection) * entry.kernels.size()));
  auto& payload = m_payloads[{entry.blob, entry.kind}];
  if (payload == nullptr) {
    CLBIN_TRY_ASSIGN(payload, read(entry));
  }
  m_trials[key] = {m_units.size(), entry.options, entry.kernels};
  Unit unit{device, nullptr, BuildOptions::recorded(entry.options), {}, payload};
  for (const std::string& name : entry.kernels) {
    unit.kernels.emplace_back().name = name;
  }
  m_units.push_back({std::move(unit)});
  return m_units.size() - 1;
}

Result<void> TrialDevices::ask_drivers() {
  CLBIN_TRY_ASSIGN(auto found,
                   find_selected_devices(m_settings, m_options.device_patterns, m_reporter));
  m_devices = std::move(found.devices);
  m_workers = std::move(found.workers);
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
  build.compilers = {worker::make_driver_compiler(m_settings, m_devices,
                                                  std::exchange(m_workers, {}),
                                                  std::chrono::seconds(m_options.timeout_seconds))};
  build.jobs = worker_count(m_options);
  build.units = std::move(plan.m_units);
  std::uint64_t log_bytes_left =
      format::limit_for_file(plan.m_bundle.total_bytes(), 16ULL << 20U, 4);
  std::vector<Trial> trials(build.units.size());
  const auto finish = [&](std::size_t done, std::size_t unit, UnitResult& result) {
    m_reporter.progress(fmt::format("[{}/{}] {}", done, build.units.size(), file));
    trials[unit] = trial_of(std::exchange(result, {}), log_bytes_left);
  };
  (void)build_units(build, finish);
  m_reporter.end_progress();
  return trials;
}

} // namespace oclcc
