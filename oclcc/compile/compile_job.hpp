// The units of one run of the compile mode, programs × variants × targets, and the steps that
// compile.cpp takes with them.
#pragma once

#include "command_line/bundle_file.hpp"
#include "remote/remote_cache.hpp"
#include "terminal/exit_code.hpp"
#include "worker/worker_process.hpp"

namespace clbin::closure {
struct IncludeSearch;
}

namespace oclcc {

class SourceCompression {
public:
  // Ignores null pointers.
  explicit SourceCompression(std::vector<std::shared_ptr<const format::SourcePackage>> sources);

  // Starts a thread; call it at most once. The destructor waits until the source that the thread
  // compresses is finished. Sources of more than 256 KiB are left to the writer of the bundle, so
  // that a run that fails waits for some 0.1 s at most.
  void start();
  // Waits for the thread. Returns what was compressed, for WriteOptions with the default level.
  [[nodiscard]] std::shared_ptr<const format::SourceFrames> finish();

private:
  void compress(const std::stop_token& stop);

  std::vector<std::shared_ptr<const format::SourcePackage>> m_sources;
  std::shared_ptr<format::SourceFrames> m_frames; // the thread's until finish()
  std::jthread m_thread;                          // last, so that it ends first
};

// --optional: if a unit fails, loads on its device build the program's source.
enum class ProgramNeed : std::uint8_t { required, optional };

// A variant of a program of a bundle that is built anew.
struct RecordedVariant {
  std::shared_ptr<const format::SourcePackage> source; // closed
  std::vector<Specialization> specializations{};       // in addition to those of the job
  std::set<std::string> launched{};                    // kernels
  KernelChoice kernels = KernelChoice::all;            // launched: the source has no others
};

struct Program {
  std::string name;
  std::string path; // as given on the command line
  std::shared_ptr<const format::SourcePackage> source;
  std::vector<std::filesystem::path> files; // the main file, then its headers
  // Names that messages replace: those that -ffile-prefix-map put into the source by the original
  // ones, and that of a recorded source by `path`.
  std::map<std::string, std::string> mapped_names;
  ProgramNeed need = ProgramNeed::required;
  // For a program of a bundle, its variants, by their indices in Job::variants. Otherwise empty:
  // every variant of the job is built, from `source`.
  std::map<std::size_t, RecordedVariant> recorded{};
};

// A program of an input that is a SPIR-V module, with its entry. It has no units.
struct IlProgram {
  std::string path; // as given on the command line
  format::ProgramInput program;
};

struct UnitPlace {
  std::size_t program = 0;
  std::size_t variant = 0;
  std::size_t target = 0;
};

// What came of a unit.
struct UnitOutcome {
  UnitResult result{};       // without the binary
  base::KeptBytes binary{};  // empty if there is none
  std::string cache_note{};  // may be empty
  std::string remote_note{}; // likewise, of the remote cache
};

struct JobUnit : UnitOutcome {
  explicit JobUnit(UnitPlace unit_place) : place(unit_place) {}

  UnitPlace place;
  base::Digest key;                    // recipe_key
  std::vector<Diagnostic> diagnostics; // by read_build_logs
};

struct VariantOptions {
  std::string name;
  BuildOptions options; // recorded; source fallback builds with them
  // Indexed by target; empty unless --device-option adds options. Recorded in the entries of the
  // target.
  std::vector<BuildOptions> target_options{};
  std::set<std::string> required{}; // extensions; see VariantInput
};

struct Job {
  // The bundle whose programs are built anew; std::nullopt if the inputs are sources.
  std::optional<format::BundleReader> bundle;
  // How the output is encrypted. If an input is encrypted, the output is, too.
  std::optional<format::Encryption> encryption;
  // trust::note_of_plain_inputs() of the inputs, unless the options request an encryption.
  std::optional<std::string> plain_inputs_note;
  std::vector<Program> programs;
  std::vector<IlProgram> modules;
  std::vector<VariantOptions> variants;
  // The remote cache, and what its keys are made of; null if none is used.
  std::unique_ptr<remote::RemoteCache> remote;
  std::unique_ptr<ContentDigests> contents;
  std::vector<BuildTarget> targets;
  std::vector<std::shared_ptr<Compiler>> compilers;
  std::vector<Specialization> specializations; // of every unit
  std::vector<JobUnit> units;                  // sorted by program, variant and target
  // Stores binaries until the bundle is written; in memory if it is null.
  std::shared_ptr<base::SpillFile> spill;
  // build_job starts it if a unit is missing from the caches; null if the output contains no
  // source.
  std::unique_ptr<SourceCompression> sources;
  AbsentVariants absent_variants = AbsentVariants::warn;
};

// Returns the indices of the variants of a program, in order.
[[nodiscard]] std::vector<std::size_t> variants_of(const Job& job, std::size_t program);
// Returns the extensions that the variant requires and the installed device lacks, between commas;
// empty for other targets, whose compilers reject what they lack.
[[nodiscard]] std::string lacking_extensions(const Job& job, const UnitPlace& place);
// Returns the places of the units, sorted by program, variant and target: without those of devices
// that lack what the variant requires.
[[nodiscard]] std::vector<UnitPlace> places_of(const Job& job);
[[nodiscard]] const std::shared_ptr<const format::SourcePackage>&
unit_source(const Job& job, const UnitPlace& place);
[[nodiscard]] const BuildOptions& unit_options(const Job& job, const UnitPlace& place);

// Returns the unit whose binary `unit`, which is one of `job.units`, converts; null if it is built
// from source.
[[nodiscard]] auto* input_of(const Job& job, format::Is<JobUnit> auto& unit) {
  const auto& input = job.targets[unit.place.target].input;
  // The units of a variant are beside each other, in the order of their targets.
  return input ? &unit - (unit.place.target - *input) : nullptr;
}

// Returns the label of the target and its form, the program's path, and the variant if the program
// has several.
[[nodiscard]] std::string unit_label(const Job& job, const UnitPlace& place);

// Returns where the headers of sources are searched, and the macros that may name them.
[[nodiscard]] clbin::closure::IncludeSearch include_search(const Options& options);

// Returns the variants of the command line, or "default" if there are none.
[[nodiscard]] std::vector<VariantOptions> read_variants(const Options& options);

// Adds the options of --device-option for the targets. no_device if a pattern matches no device,
// unless a unit of a plan is built, whose options name the devices of other units, too.
[[nodiscard]] Result<void> add_device_options(const Options& options, Job& job);

// Fills the programs of `job` with the inputs that are source, and its modules with those that are
// SPIR-V modules. Reads every input, so that one run reports the errors of all. `outputs` must not
// be among the files read. A module is a program with one entry, whose target, kernels and
// specialization constants it determines, and with the options that apply to building IL (OpenCL
// 3.0, section "Compiler Options": -cl-* without -cl-std). It must be valid, have a kernel, and
// import nothing that nothing defines. Returns the status of the last error.
[[nodiscard]] ExitCode read_inputs(const Options& options,
                                   std::span<const std::filesystem::path> outputs,
                                   Reporter& reporter, Job& job);

// -ffile-prefix-map: returns `name` with its prefix replaced by the last matching mapping, as in
// gcc; unchanged if none matches.
[[nodiscard]] std::string map_prefix(std::span<const PrefixMapping> mappings,
                                     std::string_view name);

// Replaces the names in the #line directives of the package. Other names (#include lines, __FILE__)
// contain no path of the build machine. Returns a map from new to old names.
[[nodiscard]] std::map<std::string, std::string>
map_line_names(std::span<const PrefixMapping> mappings, format::SourcePackage& package);

// Fills `bundle`, `programs` and `variants` of `job`: every program with a source, in the variants
// and with the options of the bundle. If the inputs of `options` are several bundles, their merge
// is read. The sources are closed, so that no compiler opens a file of this machine for them.
// Prints a warning for a program without a source, and for a variant whose options may not be
// passed to a compiler: both keep their entries. Errors: those of the reader and of merging; the
// first of these reasons if no program is left; invalid_argument for an unknown program of
// --optional. `keys` open encrypted inputs; unless `options` request another encryption,
// `encryption` of `job` is theirs.
[[nodiscard]] Result<void> read_recorded_programs(const Options& options, const BundleKeys& keys,
                                                  Job& job, Reporter& reporter);

// Checks the words of --target and --tool, whether or not anything is compiled. invalid_argument.
[[nodiscard]] Result<void> check_offline_options(const Options& options);

// Adds the targets of --target, each once, and their compiler, which uses the compile cache of
// `cache`. `settings` must have a home.
// invalid_argument: a word is no target. no_device: a compiler is not installed. file_not_found: a
// tool of --tool does not exist.
[[nodiscard]] Result<void> add_offline_targets(Job& job, const Options& options,
                                               const worker::WorkerSettings& settings,
                                               const clbin::cache::CacheSettings& cache);

// Adds a target after each NVIDIA device: the cubins that ptxas makes of the device's PTX. Does
// nothing if there is no NVIDIA device. `settings`, with a home, and `timeout` apply to ptxas.
// no_device: there is no ptxas.
[[nodiscard]] Result<void> add_cubin_targets(Job& job, const worker::WorkerSettings& settings,
                                             std::chrono::seconds timeout);

// Fills the units of `job`, and builds those that `cache` does not contain. Compilers start
// sessions only if something is to be built, and all end. Builds equal units once. `facts` are
// those of the oclcc that the workers run, and `executable` is its file.
void build_job(Job& job, const Options& options, const CompilerFacts& facts,
               const std::filesystem::path& executable, CompileCache& cache, Reporter& reporter);

// Like build_job, but builds nothing: only the units that `cache` contains have results.
void look_up_job(Job& job, const CompilerFacts& facts, CompileCache& cache);

// Parses the build log of each unit, once, into JobUnit::diagnostics. Marks units as failed that
// were built in spite of an error, because Oclgrind ignores -Werror.
void read_build_logs(Job& job);

// Prints the diagnostics of every unit, without duplicates, and the failures without a diagnostic.
// Call read_build_logs first. Returns whether every unit was built, except variants that a device
// cannot build and units of optional programs.
[[nodiscard]] bool report_results(const Job& job, Reporter& reporter);

// Prints "TITLE:" and the text with -v, unless the text is empty.
void report_text(std::string_view title, std::string_view text, Reporter& reporter);

// Checks a job after its units were built. Skips failed units; if a unit of an optional program
// failed, every specialization passes. invalid_argument if no unit has the kernel of a
// specialization (with the existing kernels), or if the kernel cannot be launched with the size.
[[nodiscard]] Result<void> require_specialized_kernels(const Job& job);

// With -v, prints a note for each program and device with kernels that compile at their first
// launch, because the binary contains no code for their work-groups, and the options that avoid it.
void note_first_launches(const Job& job, Reporter& reporter);

// Returns the bundle and takes the binaries out of `job`. Omits variants and programs that no
// device built. For an optional program, the source remains; `source` must keep it.
[[nodiscard]] BundleOfUnits make_bundle(Job& job, SourcePolicy source);

// Reads the keys of `settings`. Errors: those of read_public_keys and read_secret_key.
[[nodiscard]] Result<remote::RemoteTrust> read_remote_trust(const remote::RemoteSettings& settings);

// Returns the bytes of `bundle` with the entries of `newer`, which has no source. An entry of
// `newer` replaces the entry of the same program, variant, target and kind. All other entries are
// copied without compressing them again. `newer` is plain, and the contents of `bundle` can be
// read; `encryption` is that of the result (null: plain). Errors: those of the reader, of
// strip_bundle and of merge_bundles.
[[nodiscard]] Result<base::Bytes> replace_entries(const format::BundleReader& bundle,
                                                  const base::Bytes& newer, SourcePolicy source,
                                                  const format::Encryption* encryption);

} // namespace oclcc
