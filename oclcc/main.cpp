#include "compile.hpp"
#include "exit_code.hpp"
#include "info.hpp"
#include "list_devices.hpp"
#include "options.hpp"
#include "reporter.hpp"
#include "worker/temporary_names.hpp"
#include "worker/worker_main.hpp"

#include <exception>

namespace {

using oclcc::ExitCode;

ExitCode print(const std::string& text, oclcc::Reporter& reporter) {
  return reporter.print(text) ? ExitCode::success : ExitCode::file;
}

ExitCode work(oclcc::Reporter& reporter) {
  if (oclcc::worker::run_worker(oclcc::worker::reset_temporary_names)) {
    return ExitCode::success;
  }
  reporter.error("--worker is for oclcc itself: it starts its workers with it");
  return ExitCode::command_line;
}

ExitCode run(const oclcc::Options& options, oclcc::Reporter& reporter) {
  switch (options.mode) {
  case oclcc::Mode::compile:
    return oclcc::compile(options, {}, reporter);
  case oclcc::Mode::list_devices:
    return oclcc::list_devices(options, {}, reporter);
  case oclcc::Mode::info:
    return oclcc::info(options, reporter);
  case oclcc::Mode::help:
    return print(oclcc::help_text(), reporter);
  case oclcc::Mode::version:
    return print(oclcc::version_text(), reporter);
  case oclcc::Mode::worker:
    break;
  }
  return work(reporter);
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto options = oclcc::parse_command_line(words);
  if (!options) {
    oclcc::Reporter reporter(oclcc::ColorMode::automatic, oclcc::Verbosity::normal);
    reporter.error(options.error());
    return static_cast<int>(oclcc::exit_code_of(options.error().code));
  }
  oclcc::Reporter reporter(options->color, options->verbosity);
  try {
    return static_cast<int>(run(*options, reporter));
  } catch (const std::exception& failure) { // std::bad_alloc, mostly
    reporter.error(failure.what());
    return static_cast<int>(oclcc::exit_code_of(clbin::base::ErrorCode::out_of_memory));
  }
}
