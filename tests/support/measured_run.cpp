// measured_run ADDRESS_BYTES SECONDS PROGRAM ARGUMENTS…: runs a program without standard output,
// and limits the address space and the processor time of each of its processes. Prints its exit
// status (minus the signal that ended it), the largest resident memory of one of its processes in
// bytes, and the processor time of all of them in seconds. It is a separate program because Linux
// counts the memory of the process that starts another one as that one's.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

void set_limit(decltype(RLIMIT_AS) resource, rlim_t value) {
  const rlimit limit{value, value};
  if (setrlimit(resource, &limit) != 0) {
    std::perror("measured_run: setrlimit");
    std::_Exit(127);
  }
}

[[noreturn]] void start(char** argv) {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_CPU, std::strtoull(argv[2], nullptr, 10));
  set_limit(RLIMIT_AS, std::strtoull(argv[1], nullptr, 10));
  execv(argv[3], argv + 3);
  std::perror("measured_run: execv");
  std::_Exit(127);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: measured_run ADDRESS_BYTES SECONDS PROGRAM ARGUMENTS…\n", stderr);
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) {
    start(argv);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::perror("measured_run");
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  std::printf("%d %ld %.2f\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status),
              usage.ru_maxrss * 1024, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
  return 0;
}
