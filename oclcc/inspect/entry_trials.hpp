// Entries of bundles, handed to the installed drivers by workers: what --verify --run and --explain
// find out in the same way. A driver that crashes costs its own entry.
#pragma once

#include "command_line/options.hpp"
#include "format/proved_blobs.hpp"
#include "format/text_budget.hpp"
#include "matching/candidate_ranking.hpp"
#include "terminal/reporter.hpp"
#include "worker/unit_builder.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace oclcc {

// How a trial ended.
struct Trial {
  enum class Verdict : std::uint8_t { loads, recompiled, refused };
  Verdict verdict = Verdict::refused;
  std::string outcome; // "loads", "clBuildProgram answered CL_…", "the compiler of … crashed"
  std::string driver_log;
};

// What is to be tried of one bundle, which must outlive the plan.
class TrialPlan {
public:
  explicit TrialPlan(const clbin::format::BundleReader& bundle)
      : m_bundle(bundle), m_proved(std::make_unique<clbin::format::ProvedBlobs>(bundle)),
        m_texts(bundle.total_bytes()) {}

  // Plans the trial of an entry on the device of this number and returns the trial's; two trials of
  // the same bytes hold them once. unsafe_options: its recorded options are not for a driver
  // (loader::check_recorded_options); damaged: its bytes are of another kind; limit_exceeded, of
  // all payloads or texts of the plan together. Any error of ProvedBlobs::read.
  [[nodiscard]] clbin::base::Result<std::size_t> add(const clbin::matching::Candidate& candidate,
                                                     std::size_t device);

private:
  friend class TrialDevices;
  [[nodiscard]] clbin::base::Result<std::shared_ptr<const clbin::base::Bytes>>
  read(const clbin::format::EntryView& entry);

  const clbin::format::BundleReader& m_bundle;
  std::unique_ptr<clbin::format::ProvedBlobs> m_proved;
  clbin::format::TextBudget m_texts;
  std::uint64_t m_payload_bytes = 0;
  // By blob and by what its entry says that it is.
  std::map<std::pair<std::uint32_t, clbin::format::BinaryKind>,
           std::shared_ptr<const clbin::base::Bytes>>
      m_payloads;
  std::vector<worker::Unit> m_units;
};

// The devices of one run of oclcc, by --device, and the workers that go with them. `options` and
// `reporter` must outlive it.
class TrialDevices {
public:
  TrialDevices(const Options& options, worker::WorkerSettings settings, Reporter& reporter)
      : m_options(options), m_settings(std::move(settings)), m_reporter(reporter) {}

  // Asks the drivers, at the first call only, and warns of those that are left out. As
  // worker::with_home, find_installed_devices and select_devices.
  [[nodiscard]] clbin::base::Result<void> find();

  [[nodiscard]] const std::vector<worker::DeviceDescription>& all() const noexcept {
    return m_devices;
  }

  // A trial for each that was planned, in their order. `file` is told in the progress display.
  [[nodiscard]] std::vector<Trial> carry_out(TrialPlan plan, const std::string& file);

private:
  clbin::base::Result<void> ask_drivers();

  const Options& m_options;
  worker::WorkerSettings m_settings;
  Reporter& m_reporter;
  std::optional<clbin::base::Result<void>> m_found;
  std::vector<worker::DeviceDescription> m_devices;
  std::vector<worker::EnumeratedWorker> m_workers; // of the first bundle that is tried
};

} // namespace oclcc
