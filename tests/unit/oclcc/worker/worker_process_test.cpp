#include "unit/oclcc/worker/worker_programs.hpp"
#include "worker/worker_process.hpp"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <sched.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace oclcc::worker {
namespace {

using clbin::base::ErrorCode;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::seconds k_patience{60};

WorkerProcess start_stub(const std::string& mode = "devices") {
  auto worker = WorkerProcess::start(stub_settings(mode));
  EXPECT_TRUE(worker) << worker.error().message;
  return std::move(*worker);
}

BuildRequest request_to(const std::string& deed) {
  BuildRequest request;
  request.source.main = {"a.cl", "a.cl", deed};
  return request;
}

// Returns the error for a compiler that does `deed`. The worker must be gone afterwards.
std::string failure_of(const std::string& deed, std::chrono::seconds timeout = k_patience) {
  WorkerProcess worker = start_stub();
  const auto reply = worker.build(request_to(deed), "Stub", timeout);
  EXPECT_FALSE(worker.alive());
  if (reply) {
    return "it was built";
  }
  EXPECT_EQ(reply.error().code, ErrorCode::internal);
  return reply.error().message;
}

TEST(WorkerProcess, ListsDevicesAndBuilds) {
  WorkerProcess worker = start_stub();
  const auto devices = worker.enumerate({}, "it", k_patience);
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ(devices->devices.size(), 3U);
  const auto reply = worker.build(request_to("text"), "Stub", k_patience);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(clbin::base::as_text(reply->binary), "binary of text");
  EXPECT_TRUE(worker.alive());
}

TEST(WorkerProcess, ServesManyUnitsWithOneProcess) {
  WorkerProcess worker = start_stub();
  const auto first = worker.build(request_to("a"), "Stub", k_patience);
  const auto second = worker.build(request_to("b"), "Stub", k_patience);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->stage, second->stage) << "the stub reports its process id there";
}

TEST(WorkerProcess, CarriesALargeSource) {
  WorkerProcess worker = start_stub();
  const std::string text(5U << 20U, 'x');
  const auto reply = worker.build(request_to(text), "Stub", k_patience);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->binary.size(), text.size() + std::string_view("binary of ").size());
}

TEST(WorkerProcess, NamesTheSignalOfACrash) {
  EXPECT_EQ(failure_of("crash"), "the compiler of 'Stub' crashed (signal 11)");
  EXPECT_EQ(failure_of("abort"), "the compiler of 'Stub' crashed (signal 6)");
}

TEST(WorkerProcess, TellsAKilledCompilerFromACrashedOne) {
  EXPECT_EQ(failure_of("killed"),
            "the compiler of 'Stub' was killed (signal 9); the machine may be out of memory");
}

TEST(WorkerProcess, TellsTheStatusOfACompilerThatExits) {
  EXPECT_EQ(failure_of("exit"), "the compiler of 'Stub' ended the worker process (exit status 3)");
}

TEST(WorkerProcess, EndsACompilerThatHangs) {
  EXPECT_EQ(failure_of("hang", std::chrono::seconds(1)),
            "the compiler of 'Stub' did not finish within 1 s");
}

// A processor for this test and its workers, three quarters of which others use.
class BusyProcessor {
public:
  BusyProcessor() {
    EXPECT_EQ(::sched_getaffinity(0, sizeof m_all, &m_all), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    EXPECT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    for (int i = 0; i < 3; ++i) {
      m_others.emplace_back([](const std::stop_token& end) {
        while (!end.stop_requested()) {
        }
      });
    }
  }
  BusyProcessor(const BusyProcessor&) = delete;
  BusyProcessor& operator=(const BusyProcessor&) = delete;
  ~BusyProcessor() { EXPECT_EQ(::sched_setaffinity(0, sizeof m_all, &m_all), 0); }

private:
  cpu_set_t m_all{};
  std::vector<std::jthread> m_others;
};

TEST(WorkerProcess, DoesNotCountWhatACompilerWaitsForAProcessor) {
  const BusyProcessor busy;
  WorkerProcess worker = start_stub();
  const auto start = std::chrono::steady_clock::now();
  const auto reply = worker.build(request_to("compute"), "Stub", std::chrono::seconds(1));
  EXPECT_TRUE(reply) << reply.error().message;
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(WorkerProcess, EndsAWorkerThatClosesItsChannelAndStays) {
  EXPECT_EQ(failure_of("close"), "the compiler of 'Stub' stopped answering");
}

TEST(WorkerProcess, RefusesAnswersThatAreNoMessage) {
  const std::string expected =
      "the compiler of 'Stub' damaged its worker process: the answer is not a message";
  EXPECT_EQ(failure_of("garbage"), expected);
  EXPECT_EQ(failure_of("oversize"), expected);
  EXPECT_EQ(failure_of("wrong kind"), expected);
}

TEST(WorkerProcess, RefusesAnAnswerWithADamagedBody) {
  EXPECT_THAT(failure_of("damaged body"),
              HasSubstr("the compiler of 'Stub' damaged its worker process: "));
}

TEST(WorkerProcess, DoesNotAllocateWhatAnAnswerOnlyAnnounces) {
  EXPECT_EQ(failure_of("liar"), "the compiler of 'Stub' ended the worker process (exit status 0)");
}

TEST(WorkerProcess, RefusesHalfAMessage) {
  EXPECT_EQ(failure_of("half a head"),
            "the compiler of 'Stub' ended the worker process (exit status 0)");
}

TEST(WorkerProcess, EndsACompilerThatEatsMemory) {
  WorkerSettings settings = stub_settings();
  settings.memory_limit_bytes = 200U << 20U; // a sanitizer uses part of it
  auto worker = WorkerProcess::start(settings);
  ASSERT_TRUE(worker) << worker.error().message;
  ASSERT_TRUE(worker->build(request_to("modest"), "Stub", k_patience));
  const auto reply = worker->build(request_to("eat"), "Stub", k_patience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message,
            "the compiler of 'Stub' used more than 200 MiB of memory (--memory-limit)");
  EXPECT_FALSE(worker->alive());
}

TEST(WorkerProcess, RefusesFurtherWorkOnceItsProcessIsLost) {
  WorkerProcess worker = start_stub();
  ASSERT_FALSE(worker.build(request_to("crash"), "Stub", k_patience));
  const auto reply = worker.build(request_to("a"), "Stub", k_patience);
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().message, "the compiler of 'Stub' has no worker process");
}

TEST(WorkerProcess, KeepsWhatADriverPrints) {
  WorkerProcess worker = start_stub();
  ASSERT_TRUE(worker.build(request_to("chatter"), "Stub", k_patience));
  EXPECT_EQ(worker.take_output(), "on stdout\non stderr\n");
  EXPECT_EQ(worker.take_output(), "");
  ASSERT_TRUE(worker.build(request_to("chatter"), "Stub", k_patience));
  EXPECT_EQ(worker.take_output(), "on stdout\non stderr\n");
}

TEST(WorkerProcess, KeepsWhatADriverPrintsBeforeItCrashes) {
  WorkerProcess worker = start_stub();
  ASSERT_FALSE(worker.build(request_to("crash"), "Stub", k_patience));
  EXPECT_EQ(worker.take_output(), "about to crash\n");
}

std::string surroundings(const WorkerSettings& settings) {
  auto worker = WorkerProcess::start(settings);
  EXPECT_TRUE(worker);
  const auto reply = worker->build(request_to("surroundings"), "Stub", k_patience);
  return reply ? reply->log : reply.error().message;
}

TEST(WorkerProcess, RunsUnderConstantNames) {
  ::setenv("HOME", "/home/of/the/user", 1);
  const std::string text = surroundings(stub_settings());
  EXPECT_THAT(text, HasSubstr("\nPOCL_CACHE_DIR=/proc/self/cwd/pocl\n"));
  EXPECT_THAT(text, HasSubstr("\nCUDA_CACHE_DISABLE=1\n"));
  EXPECT_THAT(text, HasSubstr("\nHOME=/home/of/the/user\n"));
}

TEST(WorkerProcess, DoesNotGetTheTokenOfTheRemoteCache) {
  ::setenv("CLBIN_REMOTE_TOKEN", "sesame", 1);
  const std::string text = surroundings(stub_settings());
  ::unsetenv("CLBIN_REMOTE_TOKEN");
  EXPECT_THAT(text, HasSubstr("\nCLBIN_REMOTE_TOKEN=(unset)\n"));
}

TEST(WorkerProcess, TunesMallocAndLetsTheUsersTunablesWin) {
  ::unsetenv("GLIBC_TUNABLES");
  EXPECT_THAT(surroundings(stub_settings()), HasSubstr(":glibc.malloc.mmap_threshold=33554432\n"));
  ::setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=3", 1);
  const std::string text = surroundings(stub_settings());
  ::unsetenv("GLIBC_TUNABLES");
  EXPECT_THAT(text, HasSubstr("\nGLIBC_TUNABLES=glibc.malloc.tcache_count=65535:"));
  EXPECT_THAT(text, HasSubstr(":glibc.malloc.mmap_threshold=33554432:"
                              "glibc.malloc.tcache_count=3\n"));
}

TEST(WorkerProcess, RunsInAFolderThatGoesWithIt) {
  const std::string text = surroundings(stub_settings());
  const std::size_t start = text.find("cwd=") + 4;
  const std::filesystem::path folder = text.substr(start, text.find('\n') - start);
  EXPECT_NE(folder, std::filesystem::current_path());
  EXPECT_THAT(folder.parent_path().filename().string(), HasSubstr("oclcc-workers-"));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(WorkerProcess, HasItsRealFolderInPwdBelowATmpdirThatIsALink) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
  ASSERT_TRUE(folder);
  std::filesystem::create_directory(folder->path() / "real");
  std::filesystem::create_directory_symlink("real", folder->path() / "link");
  const char* const before = std::getenv("TMPDIR");
  const std::string old_folder = before == nullptr ? "/tmp" : before;
  ::setenv("TMPDIR", (folder->path() / "link").c_str(), 1);
  const std::string text = surroundings(stub_settings());
  ::setenv("TMPDIR", old_folder.c_str(), 1);
  const std::string cwd = text.substr(4, text.find('\n') - 4);
  EXPECT_THAT(cwd, HasSubstr("/real/oclcc-workers-"));
  EXPECT_THAT(text, HasSubstr("\nPWD=" + cwd + "\n"));
}

TEST(WorkerProcess, InheritsNoFileButItsChannel) {
  const int careless = ::fcntl(1, F_DUPFD, 10); // not closed on exec
  ASSERT_GT(careless, k_worker_channel);
  EXPECT_THAT(surroundings(stub_settings()), HasSubstr("\nfiles= 0 1 2 3\n"));
  ::close(careless);
}

TEST(WorkerProcess, MakesARelativeVendorFolderAbsolute) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
  ASSERT_TRUE(folder);
  std::filesystem::create_directory(folder->path() / "icd");
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder->path());
  ::setenv("OCL_ICD_VENDORS", "icd", 1);
  const std::string text = surroundings(stub_settings());
  std::filesystem::current_path(before);
  EXPECT_THAT(text, HasSubstr("\nOCL_ICD_VENDORS=" + (folder->path() / "icd").string() + "\n"));
}

TEST(WorkerProcess, ShowsOneDriverOnly) {
  WorkerSettings settings = stub_settings();
  settings.only_driver = "/stub/second.so";
  auto worker = WorkerProcess::start(settings);
  ASSERT_TRUE(worker) << worker.error().message;
  const auto devices = worker->enumerate({}, "it", k_patience);
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->devices.size(), 1U);
  EXPECT_EQ(devices->devices[0].identity.device_name, "Stub C");
}

TEST(WorkerProcess, NamesAnExecutableThatCannotBeStarted) {
  WorkerSettings settings;
  settings.executable = "/nowhere/oclcc";
  const auto worker = WorkerProcess::start(settings);
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().message,
            "cannot start a worker process ('/nowhere/oclcc'): No such file or directory");
}

bool is_gone_soon(pid_t process) {
  for (int i = 0; i < 1000; ++i) {
    std::ifstream status("/proc/" + std::to_string(process) + "/stat");
    std::string number;
    std::string name;
    std::string state;
    status >> number >> name >> state;
    if (state.empty() || state == "Z" || state == "X") {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A process that a driver started is not a child of oclcc. The guard ends it.
TEST(WorkerProcess, LeavesNoProgramOfADriverWhenItsParentIsKilled) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
  ASSERT_TRUE(folder);
  int channel[2];
  ASSERT_EQ(::pipe(channel), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::setenv("TMPDIR", folder->path().c_str(), 1);
    auto worker = WorkerProcess::start(stub_settings());
    const auto reply = worker->build(request_to("start a program"), "Stub", k_patience);
    const pid_t program = std::stoi(reply->log);
    [[maybe_unused]] const auto written = ::write(channel[1], &program, sizeof(program));
    ::pause();
    ::_exit(0);
  }
  ::close(channel[1]);
  pid_t program = 0;
  ASSERT_EQ(::read(channel[0], &program, sizeof(program)), ssize_t{sizeof(program)});
  ::close(channel[0]);
  ASSERT_EQ(::kill(program, 0), 0);
  ASSERT_EQ(::kill(parent, SIGKILL), 0);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(is_gone_soon(program)) << program << " outlived oclcc";
}

// How a run ends whose driver has started a daemon.
enum class RunEnd { ordinary, killed, stopped };

// Returns the daemon's process id after the run.
pid_t daemon_of_a_run(RunEnd end, const std::filesystem::path& folder) {
  int channel[2];
  EXPECT_EQ(::pipe(channel), 0);
  const pid_t run = ::fork();
  if (run == 0) {
    ::setenv("TMPDIR", folder.c_str(), 1);
    std::stop_source stop;
    WorkerSettings settings = stub_settings();
    settings.stop = stop.get_token();
    {
      auto worker = WorkerProcess::start(settings);
      const auto reply = worker->build(request_to("start a daemon"), "Stub", k_patience);
      const pid_t daemon = std::stoi(reply->log);
      [[maybe_unused]] const auto written = ::write(channel[1], &daemon, sizeof(daemon));
      if (end == RunEnd::killed) {
        ::raise(SIGKILL);
      }
      if (end == RunEnd::stopped) {
        stop.request_stop();
        ::_exit(0);
      }
    }
    ::_exit(0);
  }
  ::close(channel[1]);
  pid_t daemon = 0;
  EXPECT_EQ(::read(channel[0], &daemon, sizeof(daemon)), ssize_t{sizeof(daemon)});
  ::close(channel[0]);
  EXPECT_EQ(::waitpid(run, nullptr, 0), run);
  return daemon;
}

TEST(WorkerProcess, LeavesNoDaemonOfADriverHoweverARunEnds) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
  ASSERT_TRUE(folder);
  for (const RunEnd end : {RunEnd::ordinary, RunEnd::killed, RunEnd::stopped}) {
    const pid_t daemon = daemon_of_a_run(end, folder->path());
    ASSERT_GT(daemon, 0);
    EXPECT_TRUE(is_gone_soon(daemon)) << daemon << " outlived run " << static_cast<int>(end);
  }
}

// The parent is killed at once, while its worker hangs in a "driver".
TEST(WorkerProcess, DiesWithItsParent) {
  const auto folder = clbin::base::TemporaryFolder::create({}, "oclcc-test-");
  ASSERT_TRUE(folder); // contains what the killed parent leaves behind
  int channel[2];
  ASSERT_EQ(::pipe(channel), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::setenv("TMPDIR", folder->path().c_str(), 1);
    ::setenv("OCL_ICD_VENDORS", folder->path().c_str(), 1); // the test needs no driver
    WorkerSettings settings;
    settings.executable = oclcc_program();
    auto worker = WorkerProcess::start(settings);
    // A worker that answers has already requested the signal.
    const bool answered = worker && worker->enumerate({}, "it", k_patience);
    [[maybe_unused]] const auto written = ::write(channel[1], answered ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  ::close(channel[1]);
  char answered = 'n';
  ASSERT_EQ(::read(channel[0], &answered, 1), 1);
  EXPECT_EQ(answered, 'y');
  std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) +
                     "/children");
  const std::vector<pid_t> children{std::istream_iterator<pid_t>(file), {}};
  ASSERT_GE(children.size(), 2U) << "the guard of its home, and the worker";
  ASSERT_EQ(::kill(parent, SIGKILL), 0);
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  for (const pid_t child : children) {
    EXPECT_TRUE(is_gone_soon(child)) << child << " outlived its parent";
  }
  ::close(channel[0]);
}

} // namespace
} // namespace oclcc::worker
