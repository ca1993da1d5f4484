// When a builder takes the binaries of PoCL's programs (doc/decisions/keeping_builds.md): a binary
// contains only what launches have compiled until then, and PoCL compiles every kernel for it.
#pragma once

#include "loader/run_time_program.hpp"

namespace clbin::loader {

// Takes the binary of a copy of most programs on a thread of its own, which exists while programs
// wait. Never works while the process is ending, nor in a forked child. Thread-safe.
class PoclKeeping {
public:
  // `builder` must be complete only when add() is called.
  explicit PoclKeeping(BuilderState& builder);
  // Takes the binaries that it can within 5 seconds, and waits for the end of one that it has
  // begun.
  ~PoclKeeping();
  PoclKeeping(const PoclKeeping&) = delete;
  PoclKeeping& operator=(const PoclKeeping&) = delete;

  // Takes the binary one second after the last call of add(). Copies the request, and retains
  // `program`, which was built from it, until then. Returns why it does not; empty if it does.
  [[nodiscard]] std::string add(const opencl::Driver& driver, cl_context context,
                                const RunTimeRequest& request, cl_program program);

  // PoCL before 6 ends the process if the binary of a program is requested while a kernel with a
  // required work-group size of that program, or of another of the same source, runs. Such a binary
  // is therefore taken before the first program of a source is returned, and never again.
  //
  // Calls `take`, which takes it, once for each source. All other callers wait for that.
  void take_once(const std::string& source, const std::function<void()>& take);

private:
  struct Work;
  std::unique_ptr<Work> m_work;
};

} // namespace clbin::loader
