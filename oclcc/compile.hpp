// The compile mode: compiles sources into one bundle, or one raw device binary.
#pragma once

#include "command_line/options.hpp"
#include "remote/remote_settings.hpp"
#include "terminal/exit_code.hpp"
#include "worker/installed_devices.hpp"

namespace oclcc {

// The settings of the compile cache, and of the remote cache behind it.
struct Caches {
  clbin::cache::CacheSettings local;
  remote::RemoteSettings remote{};
};

// Prints the error of the run. Returns ExitCode::compile_failed if a unit fails. Then it writes
// nothing, or with --keep-going, the units that compiled. With Mode::plan, plans the same compile
// for another engine (plan/unit_plan.hpp), and compiles nothing; the units of the plan use the
// remote cache when they are built. If `installed` is not null, the drivers are not asked for their
// devices, and its workers compile.
[[nodiscard]] ExitCode compile(const Options& options, const worker::WorkerSettings& settings,
                               const Caches& caches, Reporter& reporter,
                               worker::InstalledDevices* installed = nullptr);

// Whether a compile of sources asks the drivers for their devices.
[[nodiscard]] bool uses_drivers(const Options& options) noexcept;

} // namespace oclcc
