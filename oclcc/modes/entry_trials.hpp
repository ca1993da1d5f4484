// Passes entries of bundles to the installed drivers, in workers, for --verify --run, --explain and
// --report --html. A driver crash affects only the entry.
#pragma once

#include "command_line/bundle_file.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "loader/load_program.hpp"
#include "loader/recorded_options.hpp"
#include "modes/tuning_rounds.hpp"
#include "terminal/terminal_text.hpp"
#include "units/unit.hpp"
#include "worker/installed_devices.hpp"

#include <tuple>

namespace oclcc {

// The result of a trial.
struct Trial {
  using Decision = clbin::loader::Decision;
  Decision decision = Decision::refused; // or loaded, or recompiled
  std::string outcome; // "loads", "clBuildProgram answered CL_…", "the compiler of … crashed"
  std::string driver_log;
};

// The planned trials of one bundle, which must outlive the plan.
class TrialPlan {
public:
  explicit TrialPlan(const format::BundleReader& bundle)
      : m_bundle(bundle), m_proved(std::make_unique<format::ProvedBlobs>(bundle)),
        m_texts(bundle.total_bytes()) {}

  // Plans the trial of an entry on the device with this number and returns the number of the trial.
  // Entries with the same bytes, options and kernels share a trial. unsafe_options: its recorded
  // options must not reach a driver (loader::check_recorded_options). damaged: its bytes are of a
  // different kind. limit_exceeded: the payloads or texts of the plan are too large. Any error of
  // ProvedBlobs::read.
  [[nodiscard]] Result<std::size_t> add(const clbin::matching::Candidate& candidate,
                                        std::size_t device);
  // unsafe_options, as above.
  [[nodiscard]] Result<void> check_options(const format::SharedText& options) {
    return m_options_checker.check(options);
  }

private:
  friend class TrialDevices;
  // The device, the blob, the recorded kind, and the addresses of the options and kernels.
  using TrialKey =
      std::tuple<std::size_t, std::uint32_t, format::BinaryKind, const void*, const void*>;
  struct PlannedTrial {
    std::size_t number = 0;
    format::SharedText options; // keep their addresses from being used again
    format::SharedNames kernels;
  };

  [[nodiscard]] Result<std::shared_ptr<const base::Bytes>> read(const format::EntryView& entry);

  const format::BundleReader& m_bundle;
  std::unique_ptr<format::ProvedBlobs> m_proved;
  format::TextBudget m_texts;
  clbin::loader::OptionsChecker m_options_checker;
  std::map<TrialKey, PlannedTrial> m_trials;
  std::uint64_t m_payload_bytes = 0;
  // Indexed by blob and by the recorded kind of the entry.
  std::map<std::pair<std::uint32_t, format::BinaryKind>, std::shared_ptr<const base::Bytes>>
      m_payloads;
  std::vector<PlannedUnit> m_units;
};

// The devices of one run, selected by --device, and their workers. `options` and `reporter` must
// outlive this object.
class TrialDevices {
public:
  TrialDevices(const Options& options, worker::WorkerSettings settings, Reporter& reporter)
      : m_options(options), m_settings(std::move(settings)), m_reporter(reporter) {}

  // Finds the devices, at the first call only, and warns about skipped drivers. Errors as for
  // worker::with_home, find_installed_devices and select_devices.
  [[nodiscard]] Result<void> find();

  [[nodiscard]] const std::vector<worker::DeviceDescription>& all() const noexcept {
    return m_devices;
  }

  // Returns a worker that launches kernels on the device with this number.
  [[nodiscard]] std::unique_ptr<LaunchingWorker> launching_worker(std::size_t device) const {
    return std::make_unique<LaunchingWorker>(m_settings, m_devices[device],
                                             std::chrono::seconds(m_options.timeout_seconds));
  }

  // Returns the results of the planned trials, in order. The progress display shows `file`. Omits
  // build logs beyond 16 MiB and 4 bytes for each byte of the bundle.
  [[nodiscard]] std::vector<Trial> carry_out(TrialPlan plan, const std::string& file);

private:
  Result<void> ask_drivers();

  const Options& m_options;
  worker::WorkerSettings m_settings;
  Reporter& m_reporter;
  std::optional<Result<void>> m_found;
  std::vector<worker::DeviceDescription> m_devices;
  std::vector<worker::EnumeratedWorker> m_workers; // for the first tried bundle
};

// Writes the object of a bundle in the document of --explain. Writes nothing if there is an error:
// those of open_readable_bundle, TrialDevices::find and TrialPlan::add.
[[nodiscard]] Result<void> write_explanation(const std::filesystem::path& path,
                                             const BundleKeys& keys, TrialDevices& devices,
                                             JsonStream& document);

} // namespace oclcc
