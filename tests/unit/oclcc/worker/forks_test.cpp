#include "worker/forks.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace oclcc::worker {
namespace {

using clbin::base::as_bytes;
using clbin::base::as_text;
using clbin::base::Bytes;
using clbin::base::ByteView;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using ::testing::ElementsAre;

Bytes bytes_of(const std::string& text) {
  const ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

struct Driver {
  int builds = 0;
  pid_t process = 0;
};

std::vector<std::string> answers_of(const WarmCopy& copy, const std::string& request) {
  std::vector<std::string> answers;
  copy.serve(as_bytes(request), [&](const Message& message) {
    answers.push_back(message.kind == MessageKind::settled ? "settled"
                                                           : std::string(as_text(message.body)));
  });
  return answers;
}

TEST(WarmCopy, StartsEveryUnitFromTheSameState) {
  Driver driver;
  const auto copy = WarmCopy::start(
      [&] { ++driver.builds; },
      [&](ByteView request) {
        ++driver.builds;
        return bytes_of(fmt::format("{} is build {}", as_text(request), driver.builds));
      });
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_THAT(answers_of(*copy, "a"), ElementsAre("a is build 2", "settled"));
  EXPECT_THAT(answers_of(*copy, "b"), ElementsAre("b is build 2", "settled"));
  EXPECT_EQ(driver.builds, 0) << "this process has built nothing";
}

TEST(WarmCopy, WarmsUpOnce) {
  Driver driver;
  const auto copy =
      WarmCopy::start([&] { driver.process = ::getpid(); },
                      [&](ByteView) { return bytes_of(std::to_string(driver.process)); });
  ASSERT_TRUE(copy) << copy.error().message;
  const auto first = answers_of(*copy, "");
  EXPECT_EQ(answers_of(*copy, ""), first);
  EXPECT_NE(first.front(), std::to_string(::getpid()));
}

TEST(WarmCopy, CarriesALargeAnswer) {
  const auto copy =
      WarmCopy::start([] {}, [](ByteView) { return Bytes(std::size_t{5} << 20U, std::byte{7}); });
  ASSERT_TRUE(copy) << copy.error().message;
  std::size_t size = 0;
  copy->serve({}, [&](const Message& message) { size += message.body.size(); });
  EXPECT_EQ(size, std::size_t{5} << 20U);
}

// Returns the wait status of a process that serves a request with these functions.
int status_of(const std::function<void()>& warm_up, const WarmCopy::Build& build) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto copy = WarmCopy::start(warm_up, build);
    if (copy) {
      copy->serve({}, [](const Message&) {});
    }
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

// Resets the handler, because sanitizers would turn the signal into an exit.
void crash(int signal_number) {
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

TEST(WarmCopy, EndsThisProcessAsTheUnitEnds) {
  for (const int signal_number : {SIGSEGV, SIGABRT, SIGKILL}) {
    const int status = status_of([] {},
                                 [&](ByteView) {
                                   crash(signal_number);
                                   return Bytes();
                                 });
    ASSERT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), signal_number);
  }
  for (const int code : {0, 3}) {
    const int status = status_of([] {}, [&](ByteView) -> Bytes { ::_exit(code); });
    ASSERT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), code);
  }
}

TEST(WarmCopy, EndsThisProcessAsTheWarmUpEnds) {
  const auto build = [](ByteView) { return Bytes(); };
  const int crashed = status_of([] { crash(SIGSEGV); }, build);
  ASSERT_TRUE(WIFSIGNALED(crashed)) << crashed;
  EXPECT_EQ(WTERMSIG(crashed), SIGSEGV);
  const int ended = status_of([] { ::_exit(4); }, build);
  ASSERT_TRUE(WIFEXITED(ended)) << ended;
  EXPECT_EQ(WEXITSTATUS(ended), 4);
}

TEST(WarmCopy, DiesWithThisProcess) {
  // The copies have the write end open, so the pipe closes when the last copy ends.
  std::array<int, 2> pipe{-1, -1};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto copy = WarmCopy::start([] {},
                                      [](ByteView) -> Bytes {
                                        for (;;) {
                                          ::pause();
                                        }
                                      });
    if (copy) {
      ::alarm(1); // ends this process while the unit hangs
      copy->serve({}, [](const Message&) {});
    }
    ::_exit(99);
  }
  ::close(pipe[1]);
  char byte = 0;
  EXPECT_EQ(::read(pipe[0], &byte, 1), 0) << "no copy is left";
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGALRM);
}

TEST(ChildStep, HandsTheAnswerOverAndLeavesThisProcessAsItIs) {
  int value = 1;
  const auto done = run_in_child("for a test", [&]() -> Result<Bytes> {
    value = 2;
    return Bytes(300'000, std::byte{7}); // more than a pipe can buffer
  });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(*done, Bytes(300'000, std::byte{7}));
  EXPECT_EQ(value, 1);
}

TEST(ChildStep, CarriesTheErrorOver) {
  const auto done = run_in_child("for a test", []() -> Result<Bytes> {
    return fail(ErrorCode::opencl_call, "the driver says {}", -5);
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::internal);
  EXPECT_EQ(done.error().message, "for a test: the driver says -5");
}

TEST(ChildStep, TellsACrash) {
  const auto done = run_in_child("for a test", []() -> Result<Bytes> {
    ::signal(SIGSEGV, SIG_DFL); // otherwise a sanitizer's handler would exit
    ::raise(SIGSEGV);
    return Bytes();
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "the compiler crashed (signal 11) for a test");
}

TEST(ChildStep, TellsAnEndThatNobodyAskedFor) {
  const auto done = run_in_child("for a test", []() -> Result<Bytes> { ::_exit(3); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "for a test: the driver ended the process");
}

} // namespace
} // namespace oclcc::worker
