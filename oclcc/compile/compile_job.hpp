// The units of one run of the compile mode: programs × variants × devices.
#pragma once

#include "cache/compile_cache.hpp"
#include "command_line/options.hpp"
#include "terminal/reporter.hpp"
#include "worker/unit_builder.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace oclcc {

// --optional: if a unit fails, loads on its device build the program's source.
enum class ProgramNeed : std::uint8_t { required, optional };

struct Program {
  std::string name;
  std::string path; // as given on the command line
  std::shared_ptr<const clbin::format::SourcePackage> source;
  std::vector<std::filesystem::path> files; // the main file, then its headers
  // Names that -ffile-prefix-map put into the source, and the original names.
  std::map<std::string, std::string> mapped_names;
  ProgramNeed need = ProgramNeed::required;
};

struct UnitPlace {
  std::size_t program = 0;
  std::size_t variant = 0;
  std::size_t device = 0;
};

struct VariantOptions {
  std::string name;
  std::string options; // recorded; source fallback builds with them
  // Indexed by device; empty unless --device-option adds options. Recorded in the entries of the
  // device.
  std::vector<std::string> device_options{};
};

struct Job {
  std::vector<Program> programs;
  std::vector<VariantOptions> variants;
  std::vector<worker::DeviceDescription> devices;
  std::vector<Specialization> specializations; // of every unit
  std::vector<UnitPlace> places;           // one per unit, sorted by program, variant and device
  std::vector<worker::UnitResult> results; // indexed like places; without the binaries
  std::vector<clbin::base::KeptBytes> binaries; // indexed like places; empty if there is none
  // Stores binaries until the bundle is written; in memory if it is null.
  std::shared_ptr<clbin::base::SpillFile> spill;
  // Indexed like places: cubins of --emit-cubin in addition to the PTX. An element is empty if
  // there is none; the list may be empty.
  std::vector<clbin::base::Bytes> cubins;
  std::string ptxas_version;
  // As places: what the build log of each says, by its program's -w and -Werror; filled once, by
  // read_build_logs.
  std::vector<std::vector<Diagnostic>> diagnostics;
  std::vector<std::string> cache_notes; // indexed like places; may be empty
  AbsentVariants absent_variants = AbsentVariants::warn;
};

// Returns the options with which a unit is built.
[[nodiscard]] const std::string& unit_options(const Job& job, const UnitPlace& place);

// Returns the name of a device, with its numbers if another device has the same name.
[[nodiscard]] std::string device_label(const Job& job, std::size_t device);
// Returns the device, and the variant if there are several.
[[nodiscard]] std::string place_label(const Job& job, const UnitPlace& place);
// Returns the device, the program's path, and the variant if there are several.
[[nodiscard]] std::string unit_label(const Job& job, const UnitPlace& place);

// Whether a failed unit of a required program is only a variant that its device cannot build. This
// requires that the compiler reports an error, the device builds another variant of the program,
// and another device builds this variant.
[[nodiscard]] bool is_absent_variant(const Job& job, std::size_t unit);

// Whether a failed unit, for any reason, belongs to an optional program.
[[nodiscard]] bool is_left_to_source(const Job& job, std::size_t unit);

// Plans the units of `job` and builds those that `cache` does not contain. Fills `places`,
// `results`, `binaries` and `cache_notes`. `enumerated` are the workers that found the devices;
// others start only if something is to be built. Builds identical units once.
void build_job(Job& job, const Options& options, const worker::WorkerSettings& settings,
               std::vector<worker::EnumeratedWorker> enumerated, CompileCache& cache,
               Reporter& reporter);

} // namespace oclcc
