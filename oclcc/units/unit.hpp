// Units: what is compiled, for what, with which options and which result; and the interface of the
// compilers that build them.
#pragma once

#include "cache/cache_recipe.hpp"
#include "command_line/specialization.hpp"
#include "model/bundle.hpp"
#include "terminal/reporter.hpp"

#include <stop_token>

namespace oclcc {

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
  // Returns the words, without the quotes of a recorded text. In it, "-D NAME" is one word,
  // "-DNAME", as is "-U NAME".
  [[nodiscard]] std::vector<std::string> words() const;
  // Returns the recorded text; std::nullopt if the options are words.
  [[nodiscard]] const std::optional<std::string>& recorded_text() const noexcept {
    return m_recorded;
  }

  friend bool operator==(const BuildOptions&, const BuildOptions&) = default;
  friend void visit(format::Is<BuildOptions> auto& options, const auto& member) {
    member("options", options.m_words);
    member("recorded_options", options.m_recorded);
  }

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

// The answer of a compiler. The unit was built if `error` is empty and `cl_code` is 0. Then
// `binary` is not empty, unless a binary was loaded.
struct BuildReply {
  std::int32_t cl_code = 0; // 0 if built
  std::string stage;
  std::string log;
  std::string error; // a failure outside the compiler
  base::Bytes binary;
  std::vector<format::KernelReflection> kernels;
  // Versions of the programs that made the binary ("ptxas": "13.0.88"), except oclcc and drivers.
  std::map<std::string, std::string> tools{};
};
void visit(format::Is<BuildReply> auto& reply, const auto& member) {
  auto& [cl_code, stage, log, error, binary, kernels, tools] = reply;
  member("cl_code", cl_code);
  member("stage", stage);
  member("log", log);
  member("error", error);
  member("binary", binary);
  member("kernels", kernels);
  member("tools", tools);
}

struct UnitResult {
  // skipped: the unit needs the binary of another unit, which was not built or is of a kind that
  // its compiler does not convert.
  enum class State : std::uint8_t { attempted, skipped };

  std::optional<BuildReply> reply;
  std::string failure;       // why there is no reply: "the compiler of 'NAME' crashed (signal 11)"
  std::string driver_output; // output of the driver
  State state = State::attempted;
};

// Whether there is a binary. Otherwise, unless the unit was skipped, `failure`, the reply's `error`
// or its `cl_code` has the reason.
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
  // For cache keys, unless the target is a device that its driver compiles for: what the compiler
  // is.
  std::vector<clbin::cache::Ingredient> compiler_facts{};
  // The same for keys that other machines compute, too: files by their contents. std::nullopt if no
  // remote cache is used, or a file cannot be read.
  std::optional<std::vector<clbin::cache::Ingredient>> shared_facts{};
};

// Returns the devices as targets of the first compiler.
[[nodiscard]] std::vector<BuildTarget>
device_targets(const std::vector<format::DeviceDescription>& devices);

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
  Compiler() = default;
  virtual ~Compiler() = default;
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  // Returns the lane of a target; by default, there is one. A session is fastest with units of one
  // lane, such as the devices of one platform.
  [[nodiscard]] virtual std::uint32_t lane_of(std::size_t /*target*/) const { return 0; }
  // Called before the sessions of a build start, on the thread that started the build.
  virtual void expect(const Workload& /*workload*/) {}
  // Returns a session that begins with units of `lane`. When `useless` is requested, all units of
  // the build are built, and what the session is still starting may be ended. The session uses the
  // compiler, and ends on the calling thread.
  [[nodiscard]] virtual std::unique_ptr<CompilerSession> start_session(std::uint32_t lane,
                                                                       std::stop_token useless) = 0;
};

} // namespace oclcc
