// Units: what is compiled, for what, with which options and which result; the interface of the
// compilers that build them; and building them concurrently.
#pragma once

#include "cache/cache_recipe.hpp"
#include "model/bundle.hpp"
#include "terminal/reporter.hpp"

#include <deque>
#include <stop_token>

namespace oclcc {

using format::BuildReply;
using format::Specialization;

// The words of the command line, which programs receive as they are and drivers as one text; or the
// text that a bundle records, which drivers receive unchanged.
class BuildOptions {
public:
  BuildOptions() = default;
  explicit BuildOptions(std::vector<std::string> words) : m_words(std::move(words)) {}
  // `text` is that of a bundle.
  [[nodiscard]] static BuildOptions recorded(std::string text);

  // Returns one text, for a driver or a bundle.
  [[nodiscard]] std::string text() const;
  // Without the quotes of a recorded text, in which "-D NAME" and "-U NAME" are one word each.
  [[nodiscard]] std::vector<std::string> words() const;

  friend bool operator==(const BuildOptions&, const BuildOptions&) = default;

private:
  std::vector<std::string> m_words;
  std::optional<std::string> m_recorded; // if set, there are no words
};

// A program in one variant for one target, to be built from source, or a binary to be loaded or
// converted.
struct Unit {
  std::size_t target = 0; // the number of the target at its compiler
  std::shared_ptr<const format::SourcePackage> source;
  BuildOptions options;
  std::vector<Specialization> specializations{};
  std::shared_ptr<const base::Bytes> binary{};     // if not null, `source` is null
  std::vector<format::KernelReflection> kernels{}; // of `binary`; to load it, names suffice
};

struct UnitResult {
  // skipped: the unit needs the binary of another unit, which was not built or is of a kind that
  // its compiler does not convert.
  enum class State : std::uint8_t { attempted, skipped };

  std::optional<BuildReply> reply;
  std::string failure;       // why there is no reply: "the compiler of 'NAME' crashed (signal 11)"
  std::string driver_output; // output of the driver
  State state = State::attempted;
};

// Otherwise, unless the unit was skipped, `failure`, the reply's `error` or its `cl_code` has the
// reason.
[[nodiscard]] bool is_built(const UnitResult& result);

struct BuildTarget {
  format::Target target; // recorded in the entries
  // The installed device that the units are built for; std::nullopt for an offline target.
  std::optional<format::DeviceDescription> device;
  // The name in messages: the name of the device, with its numbers if another one has the same.
  std::string label;
  std::string form{};       // what its entries are, if it differs from another target only in that
  std::size_t compiler = 0; // index in Job::compilers
  std::size_t compiler_target = 0; // its number at the compiler
  // The target whose binaries are converted, before this one in the list; std::nullopt if the
  // units are built from source.
  std::optional<std::size_t> input{};
  // What the compiler is, for cache keys; of a driver, by add_driver_facts().
  std::vector<clbin::cache::Ingredient> compiler_facts{};
  // The same by the contents of files, for the remote cache. std::nullopt if none is used, or a
  // file cannot be read.
  std::optional<std::vector<clbin::cache::Ingredient>> shared_facts{};
};

// Returns the devices as targets of the first compiler.
[[nodiscard]] std::vector<BuildTarget>
device_targets(const std::vector<format::DeviceDescription>& devices);

// Builds one unit at a time, on the thread that started it. Not thread-safe.
class CompilerSession {
public:
  virtual ~CompilerSession() = default;

  // Starts what building for the target requires; the next build reports errors. Called before a
  // unit is taken, because other sessions may build many units meanwhile.
  virtual void get_ready_for(std::size_t /*target*/) {}
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
  virtual ~Compiler() = default;

  // A session is fastest with units of one lane, such as the devices of one platform.
  [[nodiscard]] virtual std::uint32_t lane_of(std::size_t /*target*/) const { return 0; }
  // Called before the sessions of a build start, on the thread that started the build.
  virtual void expect(const Workload& /*workload*/) {}
  // Returns a session that begins with units of `lane`. When `useless` is requested, all units of
  // the build are built, and what the session is still starting may be ended. The session uses the
  // compiler, and ends on the calling thread.
  [[nodiscard]] virtual std::unique_ptr<CompilerSession> start_session(std::uint32_t lane,
                                                                       std::stop_token useless) = 0;
};

// A compiler of a plan, and one of its lanes.
using Lane = std::pair<std::size_t, std::uint32_t>;

class UnitQueue {
public:
  void add(Lane lane, std::size_t unit);

  // Returns the lane that the caller's session serves next: `current`, its last one, as long as
  // that has units; otherwise the one with the most units per session. std::nullopt if all units
  // are taken.
  [[nodiscard]] std::optional<Lane> choose(std::optional<Lane> current);
  // Returns the next unit of a lane without, or with, removing it; std::nullopt if other sessions
  // have taken all units.
  [[nodiscard]] std::optional<std::size_t> front(Lane lane) const;
  [[nodiscard]] std::optional<std::size_t> take(Lane lane);

private:
  struct Units {
    Lane lane;
    std::deque<std::size_t> units{};
    std::size_t sessions = 0;
  };
  std::vector<Units> m_lanes; // in the order of their first units
};

struct PlannedUnit {
  Unit unit;
  std::size_t compiler = 0; // index in BuildPlan::compilers
  // Another unit of the plan, which must be built before, and reported. Not itself, directly or
  // through others.
  std::optional<std::size_t> input{};
};

struct BuildPlan {
  std::vector<std::shared_ptr<Compiler>> compilers;
  std::vector<PlannedUnit> units;
  unsigned jobs = 1; // concurrent sessions; at least 1
  // Adds what a unit takes from another one, so that it is in memory no longer than its build. If
  // it fails, so does the unit. If empty, units are complete. Called concurrently on the building
  // threads, after on_finished was called for the unit's input.
  std::function<Result<void>(std::size_t unit, Unit& complete)> complete;
  // Returns the result of a unit, from `build` or from another source; if empty, `build` is used.
  // Called concurrently on the building threads, once per unit that is not skipped.
  std::function<UnitResult(std::size_t unit, const std::function<UnitResult()>& build)> make;
};

// Returns one result per unit, in the order of the units. Calls `on_finished` on the caller's
// thread with the number of finished units, the last unit, and its result. `on_finished` may move
// the result, or parts of it, to release memory early.
[[nodiscard]] std::vector<UnitResult> build_units(
    const BuildPlan& plan,
    const std::function<void(std::size_t done, std::size_t unit, UnitResult& result)>& on_finished);

} // namespace oclcc
