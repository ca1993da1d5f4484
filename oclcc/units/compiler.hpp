// The interface of everything that builds units: drivers in worker processes, and programs such as
// ptxas.
#pragma once

#include "units/unit.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stop_token>

namespace oclcc {

// Builds one unit at a time, on the thread that started it. Not thread-safe.
class CompilerSession {
public:
  CompilerSession() = default;
  virtual ~CompilerSession() = default;
  CompilerSession(const CompilerSession&) = delete;
  CompilerSession& operator=(const CompilerSession&) = delete;

  // Starts what building for the target requires. Called before a unit is taken: starting may take
  // as long as many units, so that another session may have built them meanwhile. The next build
  // reports errors.
  virtual void get_ready_for(std::size_t target) = 0;
  [[nodiscard]] virtual UnitResult build(const Unit& unit) = 0;
};

// What a build expects of a compiler.
struct Workload {
  std::size_t units = 0; // for all of its targets
  unsigned sessions = 1; // that exist at the same time, at most
};

// Builds for a number of targets. start_session is thread-safe.
class Compiler {
public:
  Compiler() = default;
  virtual ~Compiler() = default;
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  // Returns the lane of a target. A session is fastest with units of one lane, such as the devices
  // of one platform.
  [[nodiscard]] virtual std::uint32_t lane_of(std::size_t target) const = 0;
  // Called before the sessions of a build start, on the thread that started the build.
  virtual void expect(const Workload& workload) = 0;
  // Returns a session that begins with units of `lane`. When `useless` is requested, all units of
  // the build are built, and what the session is still starting may be ended. The session uses the
  // compiler, and ends on the calling thread.
  [[nodiscard]] virtual std::unique_ptr<CompilerSession> start_session(std::uint32_t lane,
                                                                       std::stop_token useless) = 0;
};

} // namespace oclcc
