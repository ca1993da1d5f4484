#include "compile/compile_job.hpp"

#include "base/zstd_codec.hpp"
#include "closure/include_closure.hpp"
#include "opencl/program_build.hpp"

#include <new>
#include <system_error>

namespace oclcc {

using format::EntryInput;
using format::ProgramInput;

namespace {

constexpr std::uint64_t k_max_bytes = 256ULL << 10U;

std::uint64_t size_of(const format::SourcePackage& source) {
  std::uint64_t size = source.main.text.size();
  for (const auto& header : source.headers) {
    size += header.text.size();
  }
  return size;
}

// Of the build log of an entry. Readers limit the memory that the logs of a bundle take, however
// well they compress, and a bundle may have thousands of entries.
constexpr std::size_t k_max_recorded_log_bytes = 64U << 10U;

// Takes the reply out of `unit`.
EntryInput make_entry(const Job& job, JobUnit& unit) {
  const UnitPlace& place = unit.place;
  EntryInput entry = entry_of(job.targets[place.target].target, unit_options(job, place).text(),
                              *std::exchange(unit.result.reply, std::nullopt));
  entry.variant = job.variants[place.variant].name;
  entry.payload = unit.binary;
  entry.build_log = clbin::opencl::both_ends(std::move(entry.build_log), k_max_recorded_log_bytes);
  entry.tools.emplace("libzstd", base::zstd_version());
  if (entry.target.origin == format::TargetOrigin::installed_device) {
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
                          std::vector<base::Digest>& unit_keys) {
  ProgramInput program;
  program.name = job.programs[index].name;
  if (source == SourcePolicy::keep) {
    program.source = clbin::closure::without_paths(*job.programs[index].source);
  }
  for (JobUnit& unit : job.units) {
    if (unit.place.program == index && is_built(unit.result)) {
      program.entries.push_back(make_entry(job, unit));
      unit_keys.push_back(unit.key);
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

SourceCompression::SourceCompression(
    std::vector<std::shared_ptr<const format::SourcePackage>> sources)
    : m_sources(std::move(sources)), m_frames(std::make_shared<format::SourceFrames>()) {
  m_frames->compression_level = format::WriteOptions().compression_level;
}

// The writer compresses what is missing, and reports errors.
void SourceCompression::compress(const std::stop_token& stop) {
  try {
    for (const auto& source : m_sources) {
      if (stop.stop_requested()) {
        return;
      }
      if (source && size_of(*source) <= k_max_bytes) {
        (void)compress_source(clbin::closure::without_paths(*source), *m_frames);
      }
    }
  } catch (const std::bad_alloc&) {
  }
}

void SourceCompression::start() {
  try {
    m_thread = std::jthread([this](const std::stop_token& stop) { compress(stop); });
  } catch (const std::system_error&) { // a limit of processes
  }
}

std::shared_ptr<const format::SourceFrames> SourceCompression::finish() {
  if (m_thread.joinable()) {
    m_thread.join();
  }
  return m_frames;
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
