// What one run of the compile mode builds: programs × variants × devices, a unit each.
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

// --optional: a unit that fails leaves the program's source to the loads of its device.
enum class ProgramNeed : std::uint8_t { required, optional };

struct Program {
  std::string name;
  std::string path; // as the user wrote it
  std::shared_ptr<const clbin::format::SourcePackage> source;
  std::vector<std::filesystem::path> files; // all that it is made of, the main file first
  // Names that -ffile-prefix-map put into the source, and the user's own for them.
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
  std::string options; // recorded, and what source fallback builds with
  // By device where --device-option adds to them, else empty: recorded in the device's entries.
  std::vector<std::string> device_options{};
};

struct Job {
  std::vector<Program> programs;
  std::vector<VariantOptions> variants;
  std::vector<worker::DeviceDescription> devices;
  std::vector<Specialization> specializations;  // of every unit
  std::vector<UnitPlace> places;                // a unit each, by program, variant, device
  std::vector<worker::UnitResult> results;      // as places, once built; without the binaries
  std::vector<clbin::base::KeptBytes> binaries; // as places; empty where there is none
  // Holds what is not wanted before the bundle is written; empty: memory does.
  std::shared_ptr<clbin::base::SpillFile> spill;
  // As places: of --emit-cubin, beside the PTX; empty where there is none, or no list at all.
  std::vector<clbin::base::Bytes> cubins;
  std::string ptxas_version;
  // As places: what the build log of each says, by its program's -w and -Werror; filled once, by
  // read_build_logs.
  std::vector<std::vector<Diagnostic>> diagnostics;
  std::vector<std::string> cache_notes; // as places: what the compile cache answered; may be empty
  AbsentVariants absent_variants = AbsentVariants::warn;
};

// What a unit is built with.
[[nodiscard]] const std::string& unit_options(const Job& job, const UnitPlace& place);

// "NAME", with its numbers where devices of one name are told apart by nothing else.
[[nodiscard]] std::string device_label(const Job& job, std::size_t device);
// The device, and the variant where there are several.
[[nodiscard]] std::string place_label(const Job& job, const UnitPlace& place);
// The device, the program's path, and the variant where there are several.
[[nodiscard]] std::string unit_label(const Job& job, const UnitPlace& place);

// Whether a unit of a required program that was not built is only a variant that its device cannot
// build: the compiler says so, it builds another variant of the program, and another device builds
// this variant.
[[nodiscard]] bool is_absent_variant(const Job& job, std::size_t unit);

// Whether a unit that was not built, for whatever reason, is one of an optional program.
[[nodiscard]] bool is_left_to_source(const Job& job, std::size_t unit);

// Plans the units of `job` and builds those that `cache` does not know: `places`, `results`,
// `binaries` and `cache_notes`. `enumerated` are the workers that found the devices; no other is
// started unless something is to be built. Units that are the same are built once.
void build_job(Job& job, const Options& options, const worker::WorkerSettings& settings,
               std::vector<worker::EnumeratedWorker> enumerated, CompileCache& cache,
               Reporter& reporter);

} // namespace oclcc
