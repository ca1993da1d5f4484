#include "command_line/modes.hpp"
#include "compile.hpp"
#include "input/input_advice.hpp"
#include "remote/remote_settings.hpp"
#include "terminal/exit_code.hpp"
#include "terminal/interruption.hpp"
#include "terminal/reporter.hpp"
#include "terminal/standard_files.hpp"
#include "worker/spawn.hpp"
#include "worker/worker_main.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

namespace {

using clbin::cache::CacheSettings;
using oclcc::ExitCode;

ExitCode print(const std::string& text, oclcc::Reporter& reporter) {
  return reporter.print(text) ? ExitCode::success : ExitCode::file;
}

ExitCode work(oclcc::Reporter& reporter) {
  if (oclcc::worker::run_worker(
          {oclcc::worker::reset_temporary_names, oclcc::worker::sort_directories})) {
    return ExitCode::success;
  }
  reporter.error("--worker is reserved: oclcc starts its worker processes with it");
  return ExitCode::command_line;
}

oclcc::worker::WorkerSettings worker_settings(const oclcc::Options& options,
                                              const oclcc::Interruption& interruption) {
  oclcc::worker::WorkerSettings settings;
  settings.stop = interruption.stop_token();
  settings.memory_limit_bytes = options.memory_limit_bytes ? options.memory_limit_bytes
                                                           : oclcc::worker::default_memory_limit();
  if (settings.memory_limit_bytes == std::uint64_t{0}) {
    settings.memory_limit_bytes.reset();
  }
  settings.enumeration_timeout =
      std::min(settings.enumeration_timeout, std::chrono::seconds(options.timeout_seconds));
  return settings;
}

// Runs a mode that can call drivers or offline compilers.
ExitCode run_with_workers(const oclcc::Options& options, oclcc::Reporter& reporter) {
  const oclcc::Interruption interruption;
  const oclcc::worker::WorkerSettings settings = worker_settings(options, interruption);
  switch (options.mode) {
  case oclcc::Mode::plan:
    return oclcc::plan_compile(
        options, settings, CacheSettings::from_environment(clbin::cache::this_process()), reporter);
  case oclcc::Mode::list_devices:
    return oclcc::list_devices(options, settings, reporter);
  case oclcc::Mode::list_targets:
    return oclcc::list_targets(
        options, settings, CacheSettings::from_environment(clbin::cache::this_process()), reporter);
  case oclcc::Mode::identity:
    return oclcc::identity(options, settings, reporter);
  case oclcc::Mode::verify:
    return oclcc::verify(options, settings, reporter);
  case oclcc::Mode::explain:
    return oclcc::explain(options, settings, reporter);
  default: {
    const auto environment = clbin::cache::this_process();
    return oclcc::compile(options, settings,
                          {CacheSettings::from_environment(environment),
                           oclcc::remote::read_remote_settings(environment)},
                          reporter);
  }
  }
}

ExitCode run(const oclcc::Options& options, oclcc::Reporter& reporter) {
  switch (options.mode) {
  case oclcc::Mode::compile:
  case oclcc::Mode::plan:
  case oclcc::Mode::list_devices:
  case oclcc::Mode::list_targets:
  case oclcc::Mode::identity:
  case oclcc::Mode::verify:
  case oclcc::Mode::explain:
    return run_with_workers(options, reporter);
  case oclcc::Mode::info:
    return oclcc::info(options, reporter);
  case oclcc::Mode::extract:
    return oclcc::extract(options, reporter);
  case oclcc::Mode::diff:
    return oclcc::diff(options, reporter);
  case oclcc::Mode::merge:
    return oclcc::merge(options, reporter);
  case oclcc::Mode::repack:
    return oclcc::repack(options, reporter);
  case oclcc::Mode::strip:
    return oclcc::strip(options, reporter);
  case oclcc::Mode::record:
    return oclcc::record(options, clbin::cache::this_process(), reporter);
  case oclcc::Mode::keygen: {
    const oclcc::Interruption interruption;
    return oclcc::keygen(options, interruption.stop_token(), reporter);
  }
  case oclcc::Mode::sign: {
    const oclcc::Interruption interruption;
    return oclcc::sign(options, interruption.stop_token(), reporter);
  }
  case oclcc::Mode::sign_message:
    return oclcc::sign_message(options, reporter);
  case oclcc::Mode::strip_signature:
    return oclcc::strip_signature(options, reporter);
  case oclcc::Mode::encrypt:
    return oclcc::encrypt(options, reporter);
  case oclcc::Mode::decrypt:
    return oclcc::decrypt(options, reporter);
  case oclcc::Mode::cache_stats:
    return oclcc::cache_stats(options, clbin::cache::this_process(), reporter);
  case oclcc::Mode::clear_cache:
    return oclcc::clear_cache(clbin::cache::this_process(), reporter);
  case oclcc::Mode::help:
    return print(oclcc::help_text(options.help), reporter);
  case oclcc::Mode::version:
    return print(oclcc::version_text(), reporter);
  case oclcc::Mode::worker:
    break;
  }
  return work(reporter);
}

constexpr std::string_view k_no_memory = "out of memory";

ExitCode run_reporting_exceptions(const oclcc::Options& options, oclcc::Reporter& reporter) {
  try {
    return run(options, reporter);
  } catch (const std::bad_alloc&) {
    reporter.error(k_no_memory);
  } catch (const std::exception& failure) {
    reporter.error(fmt::format("internal error: {}", failure.what()));
  }
  return ExitCode::internal;
}

ExitCode fail_with(const std::string& message, clbin::base::ErrorCode code) {
  oclcc::Reporter reporter(oclcc::ColorMode::automatic, oclcc::Verbosity::normal);
  reporter.error(message);
  return oclcc::exit_code_of(code);
}

ExitCode run_words(const std::vector<std::string>& words) {
  const auto options = oclcc::parse_command_line(words);
  if (!options) {
    return fail_with(options.error().message, options.error().code);
  }
  oclcc::Reporter reporter(options->color, options->verbosity, options->diagnostics_format);
  const ExitCode code = run_reporting_exceptions(*options, reporter);
  if (code != ExitCode::success && options->mode != oclcc::Mode::compile &&
      options->mode != oclcc::Mode::plan) {
    oclcc::explain_source_inputs(*options, reporter);
  }
  reporter.finish(code == ExitCode::success ? oclcc::RunResult::succeeded
                                            : oclcc::RunResult::failed);
  return code;
}

} // namespace

int main(int argc, char** argv) {
  using clbin::base::ErrorCode;
  (void)std::signal(SIGXFSZ, SIG_IGN); // a write beyond `ulimit -f` fails like any other
  (void)std::signal(SIGCHLD, SIG_DFL); // or the exit status of no process would be known
  try {
    if (!oclcc::keep_standard_files_open()) {
      return static_cast<int>(fail_with(
          "a standard stream is closed, and '/dev/null' cannot replace it", ErrorCode::file_read));
    }
    return static_cast<int>(
        run_words(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc)));
  } catch (const std::bad_alloc&) {
    return static_cast<int>(fail_with(std::string(k_no_memory), ErrorCode::out_of_memory));
  } catch (const std::exception& failure) {
    return static_cast<int>(
        fail_with(fmt::format("internal error: {}", failure.what()), ErrorCode::internal));
  }
}
