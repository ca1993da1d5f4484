#include "compile/compile_job.hpp"

#include "closure/include_closure.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "opencl/program_build.hpp"

#include <new>
#include <system_error>
#include <tuple>

namespace oclcc {

using format::BundleReader;
using format::EntryInput;
using format::EntryView;
using format::GroupView;
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
    const bool is_built_at_load = is_optional || (program.source && !variant.required.empty());
    if (is_built_at_load || std::ranges::find(program.entries, variant.name,
                                              &EntryInput::variant) != program.entries.end()) {
      program.variants.push_back({variant.name, variant.options.text(), variant.required});
    }
  }
  return program;
}

// What no two entries of a bundle have in common: program, variant, target and kind.
using Place = std::tuple<std::string, std::string, base::Digest, format::BinaryKind>;

// The indices of the entries of a bundle, by place.
Result<std::multimap<Place, std::uint32_t>> entries_of(const BundleReader& bundle) {
  std::multimap<Place, std::uint32_t> entries;
  for (std::uint32_t i = 0; i < bundle.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(const GroupView group, bundle.group(i));
    for (std::uint32_t k = 0; k < group.entry_count; ++k) {
      CLBIN_TRY_ASSIGN(const EntryView entry, bundle.entry(group.first_entry + k, group));
      entries.emplace(Place{group.program, group.variant, entry.target.digest, entry.kind},
                      entry.index);
    }
  }
  return entries;
}

Result<BundleReader> open_bytes(const Bytes& bytes) {
  return BundleReader::open(base::memory_source(bytes), {}, format::TrailingBytes::refuse);
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

Result<Bytes> replace_entries(const BundleReader& bundle, const Bytes& newer, SourcePolicy source,
                              const format::Encryption* encryption) {
  CLBIN_TRY_ASSIGN(const BundleReader built, open_bytes(newer));
  CLBIN_TRY_ASSIGN(const auto entries, entries_of(bundle));
  CLBIN_TRY_ASSIGN(const auto newer_entries, entries_of(built));
  std::set<std::uint32_t> kept;
  for (const auto& [place, index] : entries) {
    if (!newer_entries.contains(place)) {
      kept.insert(index);
    }
  }
  if (source == SourcePolicy::drop && kept.empty()) {
    return encryption == nullptr ? Result<Bytes>(newer)
                                 : format::merge_bundles(std::array{&built}, encryption);
  }
  format::StripSelection selection;
  selection.keep = [&kept](const EntryView& entry) { return kept.contains(entry.index); };
  if (source == SourcePolicy::drop) { // what is to be shipped contains no data either
    selection.source = format::KeepSource::no;
    selection.answers = format::KeepAnswers::only_others;
  }
  CLBIN_TRY_ASSIGN(const format::StripResult rest, format::strip_bundle(bundle, selection));
  CLBIN_TRY_ASSIGN(const BundleReader old, open_bytes(rest.bytes));
  const std::array<const BundleReader*, 2> both = {&old, &built};
  return format::merge_bundles(both, encryption);
}

} // namespace oclcc
