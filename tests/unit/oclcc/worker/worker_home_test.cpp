// Nothing of a run is left, however it ends.
#include "worker/worker_home.hpp"

#include "base/file_io.hpp"
#include "targets/driver_compiler.hpp"
#include "unit/oclcc/worker/worker_programs.hpp"
#include "units/unit.hpp"
#include "worker/installed_devices.hpp"
#include "worker/worker_process.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace oclcc::worker {
namespace {

namespace fs = std::filesystem;

class WorkerHomeTest : public ::testing::Test {
protected:
  void SetUp() override {
    ::unsetenv("TMPDIR");
    auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
    ASSERT_TRUE(folder) << folder.error().message;
    m_folder.emplace(std::move(*folder));
    ::setenv("TMPDIR", m_folder->path().c_str(), 1);
  }

  [[nodiscard]] std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(m_folder->path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  // Makes a folder like that of a run killed two minutes ago.
  fs::path make_old_folder(const std::string& name) const {
    const fs::path path = m_folder->path() / name;
    fs::create_directory(path);
    std::ofstream(path / "file") << "text";
    timespec times[2]{};
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= 120;
    times[1] = times[0];
    ::utimensat(AT_FDCWD, path.c_str(), times, 0);
    return path;
  }

  std::optional<clbin::base::TemporaryFolder> m_folder;
};

bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

// Returns the only child of this process.
pid_t only_child() {
  std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  pid_t child = 0;
  file >> child;
  return child;
}

TEST_F(WorkerHomeTest, RemovesItsFolderAndItsGuardAtItsEnd) {
  fs::path path;
  {
    const auto home = WorkerHome::create();
    ASSERT_TRUE(home) << home.error().message;
    path = (*home)->path();
    fs::create_directories(path / "worker" / "pocl");
    std::ofstream(path / "worker" / "pocl" / "file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THAT(left(), ::testing::IsEmpty());
  EXPECT_EQ(only_child(), 0);
}

TEST_F(WorkerHomeTest, IsPrivate) {
  const auto home = WorkerHome::create();
  ASSERT_TRUE(home) << home.error().message;
  EXPECT_EQ(fs::status((*home)->path()).permissions(), fs::perms::owner_all);
}

TEST_F(WorkerHomeTest, EndsARetiredWorkerAtOnceAndItsFolderWithIt) {
  const auto home = WorkerHome::create();
  ASSERT_TRUE(home) << home.error().message;
  const pid_t worker = ::fork();
  if (worker == 0) {
    ::setpgid(0, 0);
    ::pause();
  }
  ::setpgid(worker, worker);
  (*home)->add(worker);
  auto folder = clbin::base::TemporaryFolder::create((*home)->path(), "worker-");
  ASSERT_TRUE(folder);
  const fs::path path = folder->path();
  (*home)->retire(worker, std::move(*folder));
  siginfo_t facts{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(worker), &facts, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(facts.si_status, SIGKILL);
  (*home)->bury_retired();
  EXPECT_EQ(::waitpid(worker, nullptr, WNOHANG), -1) << "it is reaped";
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(WorkerHomeTest, NamesTheFolderThatCannotHoldIt) {
  const fs::path nowhere = m_folder->path() / "nowhere";
  ::setenv("TMPDIR", nowhere.c_str(), 1);
  const auto home = WorkerHome::create();
  ASSERT_FALSE(home);
  EXPECT_EQ(home.error().code, clbin::base::ErrorCode::file_write);
  EXPECT_THAT(home.error().message, ::testing::HasSubstr("no directory for temporary files: "));
}

TEST_F(WorkerHomeTest, IsRemovedWhenItsOwnerIsKilled) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto home = WorkerHome::create();
    std::ofstream((*home)->path() / "file") << "text";
    [[maybe_unused]] const auto written = ::write(pipe[1], home ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char made = 'n';
  ASSERT_EQ(::read(pipe[0], &made, 1), 1);
  ASSERT_EQ(made, 'y');
  ASSERT_EQ(left().size(), 1U);
  ASSERT_EQ(::kill(owner, SIGKILL), 0);
  ASSERT_EQ(::waitpid(owner, nullptr, 0), owner);
  EXPECT_TRUE(comes_true([&] { return left().empty(); }));
}

TEST_F(WorkerHomeTest, RemovesItsFolderItselfWhenItsGuardWasKilled) {
  {
    const auto home = WorkerHome::create();
    ASSERT_TRUE(home) << home.error().message;
    const pid_t guard = only_child();
    ASSERT_GT(guard, 0);
    ASSERT_EQ(::kill(guard, SIGKILL), 0);
    ASSERT_EQ(left().size(), 1U);
  }
  EXPECT_THAT(left(), ::testing::IsEmpty());
}

TEST_F(WorkerHomeTest, OutlivesTheSignalsOfAProcessGroup) {
  const auto home = WorkerHome::create();
  ASSERT_TRUE(home) << home.error().message;
  const pid_t guard = only_child();
  ASSERT_GT(guard, 0);
  EXPECT_EQ(::getpgid(guard), guard);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ::kill(guard, signal);
  }
  EXPECT_EQ(::waitpid(guard, nullptr, WNOHANG), 0);
  EXPECT_TRUE(fs::exists((*home)->path()));
}

TEST_F(WorkerHomeTest, SweepsWhatAKilledGuardLeft) {
  make_old_folder("oclcc-workers-123456");
  const auto home = WorkerHome::create();
  ASSERT_TRUE(home) << home.error().message;
  EXPECT_TRUE(comes_true([&] { return left().size() == 1; }));
  EXPECT_TRUE(fs::exists((*home)->path()));
}

TEST_F(WorkerHomeTest, SweepsNothingThatIsHeldOrYoungOrOfAnotherName) {
  const fs::path held = make_old_folder("oclcc-workers-000001");
  const int file = hold_home(held.string());
  ASSERT_GE(file, 0);
  const fs::path other = make_old_folder("oclcc-workers-of-mine");
  const fs::path young = m_folder->path() / "oclcc-workers-000002";
  fs::create_directory(young);
  const fs::path target = make_old_folder("mine");
  fs::create_directory_symlink(target, m_folder->path() / "oclcc-workers-000003");
  sweep_abandoned_homes(m_folder->path().string());
  EXPECT_TRUE(fs::exists(held / "file"));
  EXPECT_TRUE(fs::exists(other / "file"));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(target / "file"));
  ::close(file);
  sweep_abandoned_homes(m_folder->path().string());
  EXPECT_FALSE(fs::exists(held));
}

// In a child process, because a thread does not return if the stop ends its worker.
TEST_F(WorkerHomeTest, EndsItsWorkersAndGoesWhenAStopIsRequested) {
  const pid_t tester = ::fork();
  if (tester == 0) {
    std::stop_source stop;
    WorkerSettings settings = stub_settings();
    settings.stop = stop.get_token();
    auto own = with_home(settings);
    auto worker = WorkerProcess::start(*own);
    if (!worker || !worker->enumerate({}, "it", std::chrono::seconds(60))) {
      ::_exit(2);
    }
    std::thread([&] {
      BuildRequest request;
      request.source.main = {"a.cl", "a.cl", "hang"};
      (void)worker->build(request, "Stub", std::chrono::seconds(600));
      ::_exit(3);
    }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const fs::path path = own->home->path();
    stop.request_stop();
    ::_exit(fs::exists(path) ? 4 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(tester, &status, 0), tester);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(left(), ::testing::IsEmpty());
}

// If each thread made one, threads would fork in parallel. With AddressSanitizer, the guard then
// blocked for ever on a lock of the allocator that another thread had held.
TEST_F(WorkerHomeTest, IsOneForAllWorkersOfABuild) {
  const WorkerSettings settings = stub_settings();
  auto installed = find_installed_devices(settings, PropertyQuery::skip);
  ASSERT_TRUE(installed) << installed.error().message;
  installed->workers.clear(); // makes each thread start one
  BuildPlan plan;
  plan.compilers = {make_driver_compiler(
      settings, installed->devices, std::vector<EnumeratedWorker>(), std::chrono::seconds(300))};
  plan.jobs = 3;
  auto source = std::make_shared<clbin::format::SourcePackage>();
  source->main = {"a.cl", "a.cl", "a"};
  for (std::size_t device = 0; device < 3; ++device) {
    plan.units.push_back({{device, source, {}}});
  }
  std::barrier all_have_built(3);
  std::atomic<std::size_t> most_homes = 0;
  plan.make = [&](std::size_t, const std::function<UnitResult()>& build) {
    UnitResult result = build();
    all_have_built.arrive_and_wait();
    most_homes = std::max<std::size_t>(most_homes, left().size());
    all_have_built.arrive_and_wait();
    return result;
  };
  for (const UnitResult& result : build_units(plan, [](auto...) {})) {
    EXPECT_TRUE(is_built(result)) << result.failure;
  }
  EXPECT_EQ(most_homes, 1U);
}

} // namespace
} // namespace oclcc::worker
