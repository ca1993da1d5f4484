#include "compile/compile_bundle.hpp"

#include "base/zstd_codec.hpp"
#include "closure/include_closure.hpp"
#include "opencl/program_build.hpp"

#include <algorithm>

namespace oclcc {

using clbin::format::EntryInput;
using clbin::format::ProgramInput;

namespace {

// Of the build log of an entry. Readers limit the memory that the logs of a bundle take, however
// well they compress, and a bundle may have thousands of entries.
constexpr std::size_t k_max_recorded_log_bytes = 64U << 10U;

EntryInput make_entry(const Job& job, const UnitPlace& place, BuildReply reply,
                      clbin::base::KeptBytes binary) {
  EntryInput entry;
  entry.variant = job.variants[place.variant].name;
  entry.target = job.targets[place.target].target;
  entry.options = unit_options(job, place).text();
  entry.payload = std::move(binary);
  entry.kernels = std::move(reply.kernels);
  entry.build_log = clbin::opencl::both_ends(std::move(reply.log), k_max_recorded_log_bytes);
  entry.tools = std::move(reply.tools);
  entry.tools.insert(
      {{"oclcc", OCLCC_VERSION}, {"libzstd", std::string(clbin::base::zstd_version())}});
  if (entry.target.origin == clbin::format::TargetOrigin::installed_device) {
    entry.tools.emplace("driver", entry.target.identity.driver_version);
  }
  return entry;
}

bool has_entry(const ProgramInput& program, const std::string& variant) {
  return std::any_of(program.entries.begin(), program.entries.end(),
                     [&](const EntryInput& entry) { return entry.variant == variant; });
}

// Adds the keys of its units to `unit_keys`.
ProgramInput make_program(Job& job, std::size_t index, SourcePolicy source,
                          std::vector<clbin::base::Digest>& unit_keys) {
  ProgramInput program;
  program.name = job.programs[index].name;
  if (source == SourcePolicy::keep) {
    program.source = bundled_source(*job.programs[index].source);
  }
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    if (job.places[unit].program == index && is_built(job.results[unit])) {
      program.entries.push_back(make_entry(
          job, job.places[unit], std::move(*job.results[unit].reply), job.binaries[unit]));
      job.results[unit].reply.reset();
      unit_keys.push_back(job.keys[unit]);
    }
  }
  const bool is_optional = job.programs[index].need == ProgramNeed::optional;
  for (const std::size_t index_of_variant : variants_of(job, index)) {
    const VariantOptions& variant = job.variants[index_of_variant];
    if (is_optional || has_entry(program, variant.name)) {
      program.variants.push_back({variant.name, variant.options.text()});
    }
  }
  return program;
}

} // namespace

clbin::format::SourcePackage bundled_source(const clbin::format::SourcePackage& source) {
  return clbin::closure::without_paths(source);
}

BundleOfUnits make_bundle(Job& job, SourcePolicy source) {
  BundleOfUnits made;
  auto& [bundle, unit_keys] = made;
  bundle.producer = "oclcc " OCLCC_VERSION;
  for (std::size_t p = 0; p < job.programs.size(); ++p) {
    ProgramInput program = make_program(job, p, source, unit_keys);
    if (!program.entries.empty() || job.programs[p].need == ProgramNeed::optional) {
      bundle.programs.push_back(std::move(program));
    }
  }
  for (const IlProgram& module : job.modules) {
    bundle.programs.push_back(module.program);
  }
  return made;
}

} // namespace oclcc
