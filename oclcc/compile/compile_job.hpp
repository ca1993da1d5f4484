// The units of one run of the compile mode: programs × variants × targets.
#pragma once

#include "cache/compile_cache.hpp"
#include "command_line/options.hpp"
#include "units/unit.hpp"

#include <thread>

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

// A unit, and what came of it.
struct JobUnit {
  UnitPlace place;
  base::Digest key{};                    // recipe_key
  UnitResult result{};                   // without the binary
  base::KeptBytes binary{};              // empty if there is none
  std::string cache_note{};              // may be empty
  std::string remote_note{};             // likewise, of the remote cache
  std::vector<Diagnostic> diagnostics{}; // by read_build_logs
};

struct VariantOptions {
  std::string name;
  BuildOptions options; // recorded; source fallback builds with them
  // Indexed by target; empty unless --device-option adds options. Recorded in the entries of the
  // target.
  std::vector<BuildOptions> target_options{};
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
  // For the keys of the remote cache; null if none is used.
  std::shared_ptr<ContentDigests> contents;
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

// Return what a unit is built from and with.
[[nodiscard]] const std::shared_ptr<const format::SourcePackage>&
unit_source(const Job& job, const UnitPlace& place);
[[nodiscard]] const BuildOptions& unit_options(const Job& job, const UnitPlace& place);
[[nodiscard]] std::vector<Specialization> unit_specializations(const Job& job,
                                                               const UnitPlace& place);

// Returns the unit whose binary `unit`, which is one of `job.units`, converts; null if it is built
// from source.
[[nodiscard]] auto* input_of(const Job& job, format::Is<JobUnit> auto& unit) {
  const auto& input = job.targets[unit.place.target].input;
  // The units of a variant are beside each other, in the order of their targets.
  return input ? &unit - (unit.place.target - *input) : nullptr;
}

// Returns the number of units of a program that are built from source.
[[nodiscard]] std::size_t source_unit_count(const Job& job, std::size_t program);

// Returns the label of the target, and the variant if the program has several.
[[nodiscard]] std::string place_label(const Job& job, const UnitPlace& place);
// Returns the label of the target and its form, the program's path, and the variant if the program
// has several.
[[nodiscard]] std::string unit_label(const Job& job, const UnitPlace& place);

// Whether a failed unit of a required program is only a variant that its target cannot build. This
// requires that the compiler reports an error, the target builds another variant of the program,
// and another target builds this variant.
[[nodiscard]] bool is_absent_variant(const Job& job, const JobUnit& unit);

// Whether a failed unit, for any reason, belongs to an optional program, which is then built from
// source. False for cubins, without which the PTX remains.
[[nodiscard]] bool is_left_to_source(const Job& job, const JobUnit& unit);

// Fills the units of `job`, and builds those that `cache` does not contain. Compilers start
// sessions only if something is to be built, and all end. Builds equal units once. `facts` are
// those of the oclcc that the workers run, and `executable` is its file.
void build_job(Job& job, const Options& options, const CompilerFacts& facts,
               const std::filesystem::path& executable, CompileCache& cache, Reporter& reporter);

// Fills the units of `job` like build_job, but builds nothing: only those that `cache` contains
// have results. `facts` as for build_job.
void look_up_job(Job& job, const CompilerFacts& facts, CompileCache& cache);

} // namespace oclcc
