// Serves programs whose source is known only at run time: from the entries of bundles, then from
// the user cache. What the caller builds instead is stored for the next time.
#pragma once

#include "closure/run_time_closure.hpp"
#include "loader/ladder.hpp"

#include <deque>

namespace clbin::loader {

// The group of a bundle that was made from a source.
struct BundleGroup {
  std::shared_ptr<const format::BundleReader> bundle;
  format::GroupView group;
};

// What the bundles of a builder contain of a source.
struct SourceMatches {
  std::vector<BundleGroup> groups; // with these options: one a bundle
  // A bundle that contains the source encrypted, with any options, so that the user cache must not
  // contain what is built of it, or that cannot be searched; null if there is none.
  std::shared_ptr<const format::BundleReader> encrypted;
};

// How many bundles a variable may list: each is an open file of the application.
inline constexpr std::size_t k_most_listed_bundles = 64;

// Whether the user cache, which is not encrypted, may contain and serve builds of encrypted source.
enum class DecryptedBuilds : std::uint8_t { refused, kept };

// Whether a builder may build source and IL, which nobody signed.
enum class UnsignedSource : std::uint8_t { refused, built };

// What the application passes to OpenCL. A RunTimeProgram borrows strings and IL until it ends.
struct RunTimeSource {
  std::vector<std::string_view> strings;   // of clCreateProgramWithSource, in order
  base::ByteView il;                       // of clCreateProgramWithIL: `strings` is then empty
  std::vector<format::SourceFile> headers; // of clCompileProgram, by include name
  std::string options;
  std::vector<opencl::SpecializationConstant> constants; // of IL
  std::string label; // what stays the same if the source changes ("matmul"); may be empty
};

// What a stored entry says of its kernels.
enum class KernelDetail : std::uint8_t {
  names,
  arguments, // creates every kernel after a build, except on rusticl, where that can crash
};

// Whether serve() builds IL of bundles for the source. Never for several devices, as in a load.
enum class BundleIl : std::uint8_t { ignored, built };

// When a large text is examined for what makes a build depend on more than the text.
enum class Examination : std::uint8_t {
  in_begin,
  // Not if the user cache serves the program. Only for callers that build with build(), which reads
  // headers before the driver does.
  after_a_miss,
};

// begin() sets `program`, `variant` and `constants`; `extra_options` are those of the source.
struct RunTimeRequest : LoadRequest {
  RunTimeSource source;
  KernelDetail kernels = KernelDetail::names;
  BundleIl bundle_il = BundleIl::built;
  Examination examination = Examination::in_begin;
};

// The programs that a builder has returned to its application, which asks for some of them again.
// Thread-safe.
class LivePrograms {
public:
  LivePrograms();
  // Releases the programs, unless the process is ending: the drivers may have been destroyed.
  ~LivePrograms();
  LivePrograms(LivePrograms&&) = delete; // and no copies

  // Returns the program of an equal request, with one more reference; null if there is none. Then
  // fills the report.
  [[nodiscard]] opencl::Program find(const opencl::Driver& driver, cl_context context,
                                     const RunTimeRequest& request, LoadReport& report) const;
  // Retains the program, until others have replaced it. `report` is of the call that made it.
  void add(const opencl::Driver& driver, cl_context context, const RunTimeRequest& request,
           const LoadReport& report, cl_program program);

private:
  struct Live;
  std::int64_t m_owner;                    // the process
  mutable std::mutex m_mutex;              // guards the following
  std::deque<std::shared_ptr<Live>> m_all; // oldest first
  std::size_t m_text_bytes = 0;
};

enum class Reuse : std::uint8_t { off, on };

class BuilderState;

// When a builder takes the binaries of PoCL's programs (doc/decisions/keeping_builds.md): a binary
// contains only what launches have compiled until then, and PoCL compiles every kernel for it.
// Takes the binary of a copy of most programs on a thread of its own, which exists while programs
// wait. Never works while the process is ending, nor in a forked child. Thread-safe.
class PoclKeeping {
public:
  // `builder` must be complete only when add() is called.
  explicit PoclKeeping(BuilderState& builder);
  // Takes the binaries that it can within 5 seconds, and waits for the end of one that it has
  // begun.
  ~PoclKeeping();
  PoclKeeping(PoclKeeping&&) = delete; // and no copies

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

// Thread-safe. The destructor blocks until pending cache entries are written, and as
// ~PoclKeeping().
class BuilderState {
public:
  // Settings are those at the time of the call: BuilderState never reads the environment.
  BuilderState(const cache::CacheSettings& of_user_cache, const cache::CacheSettings& of_quarantine,
               UnsignedSource unsigned_source, Reuse reuse = Reuse::off);
  ~BuilderState();

  [[nodiscard]] ProgramCache& cache() noexcept { return m_cache; }
  [[nodiscard]] const cache::CacheSettings& settings() const noexcept {
    return m_cache.programs.settings();
  }
  [[nodiscard]] PoclKeeping& pocl_keeping() noexcept { return m_pocl_keeping; }
  [[nodiscard]] UnsignedSource unsigned_source() const noexcept { return m_unsigned_source; }
  // Null if programs are not reused.
  [[nodiscard]] LivePrograms* live_programs() noexcept {
    return m_reuse == Reuse::on ? &m_live_programs : nullptr;
  }

  // Later builds use the entries of the bundle, in the order in which bundles were added.
  // `decrypted_builds` concerns an encrypted bundle only, which must be unlocked.
  void add_bundle(std::shared_ptr<const format::BundleReader> bundle,
                  DecryptedBuilds decrypted_builds = DecryptedBuilds::refused);
  // Every later report contains the warning.
  void add_warning(std::string warning);
  [[nodiscard]] std::vector<std::string> warnings() const;
  // Returns true if the builder has no bundles, so that no name of a program is needed.
  [[nodiscard]] bool has_no_bundles() const;
  // Returns whether there are programs of which nothing may be stored: find_groups tells which.
  [[nodiscard]] bool has_secret_bundles() const;

  // Returns the groups whose source and options are these. Looks for the recorded name of the
  // program first, then for a group whose source in the bundle has the digest. The first such
  // search of a bundle reads all its sources. Damaged bundles yield warnings.
  [[nodiscard]] SourceMatches find_groups(const base::Digest& source,
                                          const std::string& normalized_options,
                                          std::vector<std::string>& warnings) const;
  // Returns what differs in the program that is most like the wanted one, as a sentence, or that
  // none is like it. Tells nothing of encrypted bundles. Call it if find_groups() found no group.
  [[nodiscard]] std::string explain_miss(std::string_view text,
                                         const std::vector<format::SourceFile>& headers,
                                         std::string_view normalized_options) const;

private:
  class IndexedBundle;
  [[nodiscard]] std::vector<std::shared_ptr<IndexedBundle>> bundles() const;
  ProgramCache m_cache;
  UnsignedSource m_unsigned_source = UnsignedSource::built;
  Reuse m_reuse = Reuse::off;
  LivePrograms m_live_programs;
  mutable std::mutex m_mutex; // guards the following
  std::vector<std::shared_ptr<IndexedBundle>> m_bundles;
  std::vector<std::string> m_warnings;
  PoclKeeping m_pocl_keeping{*this}; // its thread uses all other members
};

// The details of one binary. They are read only if they are needed.
struct ServedDetails {
  std::shared_ptr<const format::BundleReader> bundle;
  format::GroupView group;
  std::uint32_t entry = 0;
  // Errors of the reader. Thread-safe.
  [[nodiscard]] base::Result<ProgramDetails> read() const;
};

struct ServedProgram {
  opencl::Program program; // built; its kernels can be created
  Origin origin = Origin::none;
  std::vector<ServedDetails> details; // one a device
};

// When the binary of a built program is taken. PoCL compiles the code of a work-group size at its
// first launch, and its binary contains only what was compiled until then.
enum class KeepTime : std::uint8_t {
  after_build,
  after_launches,
  after_more_launches, // replaces the entry that the caller stored after_launches
};

// One request to build a program. Used by one thread; `begin` borrows everything but the request.
class RunTimeProgram {
public:
  // Resolves includes and computes the key. With Examination::after_a_miss, first assumes that a
  // large text is self-contained, and resolves its includes when serve() has not found that key, or
  // in build() or keep(). Fills `report`, which later calls extend. invalid_argument: there is no
  // source, source and IL, or headers or constants that do not fit; there is no device, one is not
  // in the context or is listed twice. opencl_call: a query failed.
  [[nodiscard]] static base::Result<std::unique_ptr<RunTimeProgram>>
  begin(const opencl::Driver& driver, BuilderState& builder, cl_context context,
        RunTimeRequest request, LoadReport& report);
  RunTimeProgram(RunTimeProgram&&) = delete; // and no copies

  // Tries entries of bundles that were made for this device, the user cache, compatible entries,
  // IL of bundles. Never builds what the request contains. If another thread or process builds the
  // same program for the cache, waits for it, as a load does. std::nullopt: the caller builds;
  // until keep() or the destructor, others may wait for that build. With FallbackPolicy::never,
  // only device binaries of bundles serve; with always, nothing does.
  [[nodiscard]] std::optional<ServedProgram> serve();

  // Builds as the application would, for clbin_build. build_failed, with the build log. not_signed,
  // if the builder refuses unsigned source.
  [[nodiscard]] base::Result<opencl::Program> build();

  // Passes the binary of a program that the caller built from exactly this request to the store
  // queue, with its build log. Stores nothing if no key identifies the program, if a header has
  // changed since begin(), or on PoCL after_build. Does not require serve(). Problems are warnings.
  void keep(cl_program built, KeepTime time = KeepTime::after_build);
  // As keep(), of a program that the driver builds from the same request for that.
  void keep_copy(KeepTime time);
  // Lets the builder choose when the binary of PoCL's program `built`, which build() has returned,
  // is taken: PoclKeeping takes that of a copy later, unless PoCL could not stand it or a copy
  // would be incomplete. Call it before anybody can launch kernels of the program. Does nothing for
  // other drivers, or if the user cache does not serve PoCL.
  void keep_on_pocl(cl_program built);

  // Lets the builder return `program`, which serve() or build() has made, to equal requests, unless
  // it does not reuse programs, or more than the text and the options decides what is built.
  void remember(cl_program program);

  // The names under which a bundle records the program.
  [[nodiscard]] std::string program();
  [[nodiscard]] std::string variant() const;
  [[nodiscard]] const std::string& normalized_options() const noexcept {
    return m_options.normalized;
  }
  // The closed source; its main text is empty for IL.
  [[nodiscard]] const format::SourcePackage& package();
  // Returns whether a device is one of PoCL.
  [[nodiscard]] bool is_on_pocl() const;
  // Why no key identifies the program, as "source:3: …"; empty if one does.
  [[nodiscard]] const std::string& why_not_keyed();

private:
  RunTimeProgram(const opencl::Driver& driver, BuilderState& builder, cl_context context,
                 RunTimeRequest request, LoadReport& report);
  [[nodiscard]] base::Result<void> prepare();
  [[nodiscard]] bool is_likely_self_contained() const;
  void close_source();
  bool examine();
  // As the key and the digest contain them.
  [[nodiscard]] std::string_view main_text() const;
  [[nodiscard]] const std::vector<format::SourceFile>& headers() const;
  [[nodiscard]] base::Digest main_digest();
  void make_key();
  [[nodiscard]] const base::Digest& digest();
  // `bundle` is null for the session of the user cache.
  [[nodiscard]] LoadSession session_of(const format::BundleReader* bundle, format::GroupView group,
                                       std::vector<format::DeviceIdentity> identities) const;
  void find_groups();
  void find_matches();
  void explain_bundles_miss() const;
  [[nodiscard]] ServedDetails details_of(Accepted& accepted) const;
  [[nodiscard]] std::optional<ServedProgram> serve_binaries();
  [[nodiscard]] bool is_unchanged();
  [[nodiscard]] ProgramDetails build_details_of(cl_program built, std::uint32_t device) const;
  [[nodiscard]] opencl::BuildOutcome call_driver() const;
  [[nodiscard]] bool claim(KeepTime time);
  void store(cl_program built, KeepTime time);
  [[nodiscard]] bool is_taken(std::uint32_t device, KeepTime time) const;
  // When the binary of PoCL's program is taken.
  enum class Moment : std::uint8_t { now, now_or_never, later };
  [[nodiscard]] Moment moment_of(cl_program built) const;

  opencl::Driver m_driver; // see find_groups()
  BuilderState& m_builder;
  cl_context m_context;
  RunTimeRequest m_request;
  LoadReport& m_report;
  std::string m_joined_text;     // if there are several strings
  std::string_view m_given_text; // the whole source, without zero bytes at its end
  Stopwatch m_stopwatch;
  source::BuildOptions m_options;
  closure::RunTimeClosure m_closure;
  bool m_is_examined = true; // false: m_closure and m_key assume a self-contained text
  RunTimeKey m_key;
  std::optional<base::Digest> m_given_digest;    // of m_given_text; set by main_digest()
  std::optional<base::Digest> m_read_digest;     // set by digest()
  std::unique_ptr<const LoadSession> m_session;  // of the user cache: without a bundle
  std::optional<Supply> m_supply;                // of m_session and m_matches
  std::vector<Ladder> m_ladders;                 // one a device
  std::optional<SourceMatches> m_source_matches; // set by find_groups(), as is:
  std::string m_why_uncached;                    // see LoadSession
  std::vector<std::unique_ptr<const LoadSession>> m_matches; // of the groups of m_source_matches
  bool m_is_looked_up = false;                               // serve() was called
};

} // namespace clbin::loader
