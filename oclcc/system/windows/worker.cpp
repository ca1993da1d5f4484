// Workers without forks and without a guard: the system ends the processes of a job with oclcc, and
// a later run removes the folder of a run that was killed.
#include "worker/worker_home.hpp"

#include "base/system/windows/names.hpp"
#include "worker/forks.hpp"
#include "worker/spawn.hpp"
#include "worker/worker_main.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <io.h>
#include <system_error>
#include <thread>

namespace oclcc::worker {

namespace windows = base::windows;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_name_start = "oclcc-workers-";
// Open, and so not removable, as long as the folder is in use.
constexpr const char* k_lock_name = "in-use";

// Removes the directory and its contents, while ending processes may still write to it.
void remove_home(const fs::path& folder) noexcept {
  constexpr int k_attempts = 500;
  constexpr std::chrono::milliseconds k_pause{10};
  std::error_code error;
  for (int attempt = 0; attempt < k_attempts; ++attempt) {
    fs::remove_all(folder, error);
    if (!error && !fs::exists(folder, error)) {
      return;
    }
    std::this_thread::sleep_for(k_pause);
  }
}

FileDescriptor open_lock(const fs::path& folder, DWORD creation) noexcept {
  auto file = windows::open_named(windows::full_name(folder / k_lock_name),
                                  {GENERIC_WRITE, creation, windows::k_new_file, 0});
  return file ? *std::move(file) : FileDescriptor();
}

} // namespace

// ---- Homes --------------------------------------------------------------------------------------

void adopt_strays(Adoption /*adoption*/) noexcept {} // no process leaves its job

void end_strays(const std::string& /*home*/) noexcept {}

void WorkerHome::tell_guard(pid_t /*news*/) const noexcept {} // there is none

void sweep_abandoned_homes(const std::string& parent_folder) noexcept {
  std::error_code error;
  for (fs::directory_iterator entry(parent_folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const bool is_home = base::name_of(entry->path().filename()).starts_with(k_name_start);
    if (is_home && open_lock(entry->path(), OPEN_EXISTING).is_open()) {
      std::error_code ignored;
      fs::remove_all(entry->path(), ignored);
    }
  }
}

Result<std::shared_ptr<WorkerHome>> WorkerHome::create(std::stop_token stop) {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    return fail(ErrorCode::file_write, "no directory for temporary files: {}", error.message());
  }
  sweep_abandoned_homes(parent.string());
  const auto path = base::create_private_folder(parent, k_name_start);
  if (!path) {
    return fail(ErrorCode::file_write, "cannot create a temporary directory in {}: {}",
                base::in_quotes(parent), reason_of(path.error()));
  }
  std::shared_ptr<WorkerHome> home(new WorkerHome);
  home->m_path = *path;
  home->m_hold = open_lock(*path, CREATE_NEW);
  home->m_on_stop.emplace(std::move(stop), [raw = home.get()] { raw->interrupt(); });
  return home;
}

WorkerHome::~WorkerHome() {
  m_on_stop.reset(); // waits for a running callback
  bury_retired();
  release();
}

void WorkerHome::release() noexcept {
  if (!std::exchange(m_is_released, true)) {
    (void)m_hold.close();
    remove_home(m_path);
  }
}

// ---- In a worker --------------------------------------------------------------------------------

void settle_worker() noexcept {
  ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
}

void end_at_once() noexcept {
  ::TerminateProcess(::GetCurrentProcess(), 0);
  ::abort(); // not reached
}

// A worker of one driver cannot be made from its library.
std::string library_containing(const void* /*function*/) {
  return {};
}

QuietOutput::QuietOutput() noexcept : m_output(::_dup(base::k_standard_output)) {
  std::fflush(stdout);
  const int nowhere = ::_open("NUL", _O_WRONLY | _O_BINARY);
  for (const int standard : {base::k_standard_output, base::k_standard_error}) {
    (void)::_dup2(nowhere, standard);
  }
  (void)::_close(nowhere);
}

QuietOutput::~QuietOutput() {
  std::fflush(stdout);
  (void)::_dup2(m_output, base::k_standard_output);
  (void)::_dup2(m_output, base::k_standard_error);
  (void)::_close(m_output);
}

bool has_forks() noexcept {
  return false;
}

Result<Bytes> run_in_child(const std::string& purpose, const std::function<Result<Bytes>()>& step) {
  auto done = step();
  return done ? std::move(done)
              : fail(ErrorCode::internal, "{}: {}", purpose, done.error().message);
}

Result<WarmCopy> WarmCopy::start(const std::function<void()>& /*warm_up*/, const Build& /*build*/) {
  return fail(ErrorCode::internal, "Windows cannot copy a process");
}

void WarmCopy::serve(ByteView /*request*/,
                     const std::function<void(const Message& message)>& /*answer*/) const {}

// Drivers call the functions of their own C runtime.
void reset_temporary_names() noexcept {}
void sort_directories() noexcept {}

} // namespace oclcc::worker
