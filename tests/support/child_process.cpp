#include "support/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <gtest/gtest.h>
#include <ostream>
#include <sys/wait.h>
#include <unistd.h>

namespace clbin::test {

namespace {

ChildEnd end_of(int status) {
  if (WIFEXITED(status)) {
    return {WEXITSTATUS(status), std::nullopt};
  }
  return {std::nullopt, WTERMSIG(status)};
}

} // namespace

void PrintTo(const ChildEnd& end, std::ostream* out) {
  if (end.exit_code.has_value()) {
    *out << "exit code " << *end.exit_code;
  } else {
    *out << "signal " << end.signal_number.value_or(0);
  }
}

ChildProcess::ChildProcess(const std::function<int()>& body) {
  std::fflush(nullptr);
  m_id = ::fork();
  if (m_id == 0) {
    const int code = body();
    std::fflush(nullptr);
    // Not exit(), because the handlers that the parent registered must run only in the parent.
    ::_exit(code == 0 && ::testing::Test::HasFailure() ? 1 : code);
  }
  EXPECT_GT(m_id, 0) << "fork failed";
}

ChildProcess::~ChildProcess() {
  if (m_id > 0 && !m_end.has_value()) {
    kill_it(SIGKILL);
    (void)wait();
  }
}

void ChildProcess::kill_it(int signal_number) const {
  (void)::kill(m_id, signal_number);
}

bool ChildProcess::is_running() {
  int status = 0;
  if (!m_end.has_value() && ::waitpid(m_id, &status, WNOHANG) == m_id) {
    m_end = end_of(status);
  }
  return !m_end.has_value();
}

ChildEnd ChildProcess::wait() {
  int status = 0;
  while (!m_end.has_value()) {
    if (::waitpid(m_id, &status, 0) == m_id) {
      m_end = end_of(status);
    } else if (errno != EINTR) {
      ADD_FAILURE() << "waitpid failed";
      m_end = ChildEnd();
    }
  }
  return *m_end;
}

ChildEnd run_in_child(const std::function<int()>& body) {
  return ChildProcess(body).wait();
}

} // namespace clbin::test
