// From the words of the command line to the exit status: parses them, runs the function of their
// mode, and prints its error.
#include "command_line/bundle_file.hpp"
#include "command_line/modes.hpp"
#include "compile.hpp"
#include "compile/watch.hpp"
#include "terminal/interruption.hpp"
#include "worker/spawn.hpp"
#include "worker/worker_main.hpp"

#include <exception>
#include <new>

namespace oclcc {

namespace {

Result<ExitCode> run_compile(const Options& options, const ModeContext& context) {
  return compile(options, context.workers,
                 {clbin::cache::CacheSettings::from_environment(context.environment),
                  remote::read_remote_settings(context.environment)},
                 context.reporter, context.installed);
}

Result<ExitCode> help(const Options& options, const ModeContext& context) {
  return print_result(help_text(options.help), context.reporter);
}

Result<ExitCode> version(const Options&, const ModeContext& context) {
  return print_result(version_text(), context.reporter);
}

Result<ExitCode> work(const Options&, const ModeContext&) {
  worker::sort_directories();
  if (worker::run_worker(worker::reset_temporary_names)) {
    return ExitCode::success;
  }
  return fail(ErrorCode::invalid_argument,
              "--worker is reserved: oclcc starts its worker processes with it");
}

// clean_up: Ctrl-C stops processes and removes temporary files first. A thread waits for it.
enum class Signals : std::uint8_t { end_at_once, clean_up };

struct ModeRow {
  Mode mode;
  RunMode* run;
  Signals signals = Signals::end_at_once;
};

// The function of each mode. The option table contains its option and its help.
constexpr ModeRow k_modes[] = {
    {Mode::compile, run_compile, Signals::clean_up},
    {Mode::plan, run_compile, Signals::clean_up},
    {Mode::reproduce, run_compile, Signals::clean_up},
    {Mode::list_devices, list_devices, Signals::clean_up},
    {Mode::list_targets, list_targets, Signals::clean_up},
    {Mode::identity, identity, Signals::clean_up},
    {Mode::verify, verify, Signals::clean_up},
    {Mode::explain, explain, Signals::clean_up},
    {Mode::tune, tune, Signals::clean_up},
    {Mode::warm, warm, Signals::clean_up},
    {Mode::keygen, keygen, Signals::clean_up},
    {Mode::sign, sign, Signals::clean_up},
    {Mode::import_binaries, import_binaries, Signals::clean_up},
    {Mode::info, info},
    {Mode::extract, extract},
    {Mode::disassemble, disassemble, Signals::clean_up},
    {Mode::provenance, provenance},
    {Mode::sbom, sbom},
    {Mode::diff, diff},
    {Mode::report, report, Signals::clean_up},
    {Mode::merge, merge},
    {Mode::repack, repack},
    {Mode::split, split, Signals::clean_up},
    {Mode::strip, strip},
    {Mode::record, record},
    {Mode::sign_message, sign_message},
    {Mode::strip_signature, strip_signature},
    {Mode::encrypt, encrypt},
    {Mode::decrypt, decrypt},
    {Mode::cache_stats, cache_stats},
    {Mode::clear_cache, clear_cache},
    {Mode::help, help},
    {Mode::version, version},
    {Mode::worker, work},
};

worker::WorkerSettings worker_settings(const Options& options, std::stop_token stop) {
  worker::WorkerSettings settings;
  settings.stop = std::move(stop);
  settings.memory_limit_bytes =
      options.memory_limit_bytes ? options.memory_limit_bytes : worker::default_memory_limit();
  if (settings.memory_limit_bytes == std::uint64_t{0}) {
    settings.memory_limit_bytes.reset();
  }
  settings.enumeration_timeout =
      std::min(settings.enumeration_timeout, std::chrono::seconds(options.timeout_seconds));
  return settings;
}

// The devices of a round of --watch, which are found before it starts.
struct PreparedRound {
  worker::WorkerSettings workers;
  std::optional<worker::InstalledDevices> devices; // std::nullopt if the round is to find them
};

PreparedRound prepare_round(const Options& options, worker::WorkerSettings settings) {
  PreparedRound round{std::move(settings), std::nullopt};
  auto workers = uses_drivers(options) ? worker::with_home(round.workers)
                                       : Result<worker::WorkerSettings>(round.workers);
  if (workers && workers->home) {
    round.workers = *std::move(workers);
    if (auto found = worker::find_installed_devices(round.workers, worker::PropertyQuery::skip)) {
      round.devices = *std::move(found);
    }
  }
  return round;
}

Result<ExitCode> run(const Options& options, Reporter& reporter, const RoundHooks& hooks) {
  const ModeRow& row = *std::ranges::find(k_modes, options.mode, &ModeRow::mode);
  const clbin::cache::ProcessEnvironment environment = clbin::cache::this_process();
  std::optional<Interruption> interruption;
  worker::WorkerSettings workers;
  if (row.signals == Signals::clean_up) {
    interruption.emplace();
    workers = worker_settings(options, interruption->stop_token());
  }
  if (!hooks.wait) {
    return row.run(options, {reporter, workers, environment});
  }
  PreparedRound round = prepare_round(options, std::move(workers));
  hooks.wait();
  return row.run(options,
                 {reporter, round.workers, environment, round.devices ? &*round.devices : nullptr});
}

// Returns what `run` returns, or its exception as an error.
template <typename Run>
Result<ExitCode> without_exceptions(const Run& run) {
  try {
    return run();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& failure) {
    return fail(ErrorCode::internal, "internal error: {}", failure.what());
  }
}

ExitCode fail_with(const Error& error) {
  Reporter reporter(ColorMode::automatic, Verbosity::normal);
  return report_errors({&error, 1}, reporter);
}

ExitCode run_options(const Options& options, const RoundHooks& hooks = {}) {
  Reporter reporter(options.color, options.verbosity, options.diagnostics_format);
  const ExitCode code =
      report_result(without_exceptions([&] { return run(options, reporter, hooks); }), reporter);
  if (code != ExitCode::success && options.mode != Mode::compile && options.mode != Mode::plan) {
    explain_source_inputs(options, reporter);
  }
  if (const std::string text = hooks.outcome ? hooks.outcome(code) : ""; !text.empty()) {
    reporter.note(text);
  }
  reporter.finish(code == ExitCode::success ? RunResult::succeeded : RunResult::failed);
  return code;
}

ExitCode run_words(const std::vector<std::string>& words) {
  const auto options = parse_command_line(words);
  if (!options) {
    return fail_with(options.error());
  }
  if (options->watch == WatchPolicy::no) {
    return run_options(*options);
  }
  Reporter reporter(options->color, options->verbosity);
  return report_result(without_exceptions([&] { return watch(words, run_options, reporter); }),
                       reporter);
}

ExitCode run_main(const std::vector<std::string>& words) {
  const auto code = without_exceptions([&]() -> Result<ExitCode> {
    if (!prepare_process()) {
      return fail(ErrorCode::file_read,
                  "a standard stream is closed, and '/dev/null' cannot replace it");
    }
    return run_words(words);
  });
  return code ? *code : fail_with(code.error());
}

} // namespace
} // namespace oclcc

int main(int argc, char** argv) {
  return static_cast<int>(oclcc::run_main(oclcc::command_line_words(argc, argv)));
}
