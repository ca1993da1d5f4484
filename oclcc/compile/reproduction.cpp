#include "compile/reproduction.hpp"

#include "format/binary/binary_kernels.hpp"
#include "format/binary/elf_object.hpp"
#include "listing/bundle_summary.hpp"
#include "targets/offline_compiler.hpp"
#include "terminal/terminal_text.hpp"

#include <fmt/format.h>
#include <tuple>

namespace oclcc {

namespace {

bool is_offline(const RecordedEntry& entry) {
  return entry.details->target.origin == format::TargetOrigin::offline;
}

// Returns why nothing can be built for an offline target here; empty if it can.
std::string why_missing(const std::string& spec, const offline::ToolPaths& tools,
                        offline::ToolDigests& digests) {
  const auto targets = offline::parse_targets(spec);
  if (!targets || targets->size() != 1) {
    return "this oclcc has no such target";
  }
  const auto job = offline::find_job(targets->front(), tools, digests);
  return job ? "" : job.error().message;
}

// "; the code of kernel 'scale' differs": of the kernels whose code is known. Of PTX, the kernel
// that contains the byte at `offset`.
std::string changed_kernels(base::ByteView recorded, base::ByteView built, std::size_t offset) {
  std::vector<std::string> names;
  const auto here = format::read_kernel_codes(built);
  const auto there = format::read_kernel_codes(recorded);
  const std::string_view text = base::as_text(recorded).substr(0, offset);
  for (const auto& [name, code] : here&& there ? *there : format::KernelCodes()) {
    const auto found = here->find(name);
    const bool is_known = found != here->end() && !code.code.empty();
    if (is_known && !std::ranges::equal(code.code, found->second.code)) {
      names.push_back(name);
    }
  }
  constexpr std::string_view k_entry = ".entry ";
  const std::size_t entry = text.rfind(k_entry);
  if (format::classify_binary(recorded).kind == format::BinaryKind::ptx &&
      entry != std::string_view::npos) {
    const std::string_view name = text.substr(entry + k_entry.size());
    names.emplace_back(name.substr(0, name.find('(')));
  }
  return names.empty() ? "" : fmt::format("; the code of '{}' differs", fmt::join(names, "', '"));
}

// The first byte in which two binaries differ, the section that contains it, and kernels.
std::string difference(base::ByteView recorded, base::ByteView built) {
  const auto first = std::ranges::mismatch(recorded, built).in1;
  const auto offset = static_cast<std::size_t>(first - recorded.begin());
  std::string text = fmt::format("byte {} of {}", offset, recorded.size());
  if (recorded.size() != built.size()) {
    text += fmt::format(", and {} bytes here", built.size());
  }
  const std::string kernels = changed_kernels(recorded, built, offset);
  const auto object = format::parse_elf(recorded);
  if (!object || first == recorded.end()) {
    return text + kernels;
  }
  const auto section =
      std::ranges::find_if(object->sections, [&](const format::ElfSection& candidate) {
        const base::ByteView bytes = candidate.bytes;
        return !bytes.empty() && &*first >= bytes.data() && &*first < bytes.data() + bytes.size();
      });
  if (section != object->sections.end() && section->name < object->names.size()) {
    const std::string_view names = base::as_text(object->names).substr(section->name);
    text += fmt::format(", in section '{}'", names.substr(0, names.find('\0')));
  }
  return text + kernels;
}

// "clang 15.0.6, here 19.1.7": the programs whose versions differ.
std::string changed_tools(const std::map<std::string, std::string>& recorded,
                          const std::map<std::string, std::string>& used) {
  std::string text;
  for (const auto& [name, version] : recorded) {
    const auto found = used.find(name);
    if (found != used.end() && found->second != version) {
      text += fmt::format("; {} {}, here {}", name, version, found->second);
    }
  }
  return text;
}

enum class Finding : std::uint8_t { same, differs, failed, missing };
constexpr std::string_view k_findings[] = {"same", "differs", "failed", "missing"};

struct Comparison {
  Finding finding = Finding::missing;
  std::string text{}; // for people; empty for `same`
};

std::string failure_of(const JobUnit& unit) {
  const UnitResult& result = unit.result;
  if (!result.failure.empty()) {
    return result.failure;
  }
  if (result.reply && !result.reply->error.empty()) {
    return result.reply->error;
  }
  const auto error = std::ranges::find(unit.diagnostics, Severity::error, &Diagnostic::severity);
  return error == unit.diagnostics.end() ? "it does not compile" : error->text;
}

class Comparer {
public:
  explicit Comparer(const Job& job) : m_blobs(*job.bundle) {
    for (const JobUnit& unit : job.units) {
      const auto& [program, variant, target] = unit.place;
      m_units.emplace(Place{job.programs[program].name, job.variants[variant].name,
                            target_digest(job.targets[target].target)},
                      &unit);
    }
  }

  Result<Comparison> compare(const RecordedEntry& entry) {
    if (!entry.why_missing.empty()) {
      return Comparison{Finding::missing, entry.why_missing};
    }
    const auto [first, last] = m_units.equal_range(
        {entry.program, entry.details->variant, target_digest(entry.details->target)});
    if (first == last) {
      return Comparison{Finding::missing, is_offline(entry) ? "the bundle has no source of it"
                                                            : "the device is not on this machine"};
    }
    CLBIN_TRY_ASSIGN(const base::Bytes recorded, m_blobs.read(entry.blob));
    for (auto unit = first; unit != last; ++unit) { // PTX and the cubin that is made of it
      if (unit->second->binary.empty()) {
        continue;
      }
      CLBIN_TRY_ASSIGN(const base::ByteRegion built, unit->second->binary.read());
      if (format::classify_binary(built.view()).kind == entry.kind) {
        return compare_bytes(entry, recorded, built.view(), unit->second->result);
      }
    }
    return Comparison{Finding::failed, failure_of(*first->second)};
  }

private:
  using Place = std::tuple<std::string, std::string, base::Digest>;

  static Comparison compare_bytes(const RecordedEntry& entry, base::ByteView recorded,
                                  base::ByteView built, const UnitResult& result) {
    if (std::ranges::equal(recorded, built)) {
      return {Finding::same};
    }
    return {Finding::differs,
            difference(recorded, built) +
                (result.reply ? changed_tools(entry.details->tools, result.reply->tools) : "")};
  }

  format::ProvedBlobs m_blobs;
  std::multimap<Place, const JobUnit*> m_units;
};

std::string shown(const RecordedEntry& entry) {
  const format::Target& target = entry.details->target;
  return fmt::format("'{}' ({}) for '{}'", entry.program, entry.details->variant,
                     is_offline(entry) ? target.spec : target.identity.device_name);
}

} // namespace

Result<std::vector<RecordedEntry>> recorded_entries(const format::BundleReader& bundle) {
  const auto summary = clbin::listing::summarize(bundle, clbin::listing::ErrorList({}));
  if (!summary.errors.empty()) {
    return tl::unexpected(summary.errors.front());
  }
  std::vector<RecordedEntry> entries;
  format::TextBudget budget(bundle.total_bytes());
  for (const clbin::listing::GroupSummary& group : summary.groups) {
    for (const clbin::listing::EntrySummary& entry : group.entries) {
      CLBIN_TRY(budget.take(group.group)); // its names are copied for each entry
      entries.push_back(
          {group.group.program.str(), entry.entry.blob, entry.entry.kind, entry.details});
    }
  }
  return entries;
}

std::vector<std::string>
reproducible_targets(std::vector<RecordedEntry>& entries,
                     const std::map<std::string, std::filesystem::path, std::less<>>& tools) {
  offline::ToolDigests digests{ContentDigests({})};
  std::map<std::string, std::string> missing; // by target; empty: nothing is
  for (RecordedEntry& entry : entries) {
    if (is_offline(entry)) {
      const std::string& spec = entry.details->target.spec;
      const auto found = missing.find(spec);
      entry.why_missing =
          found == missing.end()
              ? missing.emplace(spec, why_missing(spec, tools, digests)).first->second
              : found->second;
    }
  }
  std::erase_if(missing, [](const auto& target) { return !target.second.empty(); });
  std::vector<std::string> targets;
  std::ranges::transform(missing, std::back_inserter(targets),
                         [](const auto& target) { return target.first; });
  return targets;
}

void use_recorded_options(const std::vector<RecordedEntry>& entries, Job& job) {
  for (const RecordedEntry& entry : entries) {
    for (const format::KernelReflection& kernel : entry.details->kernels) {
      for (const format::GroupSize& size : kernel.specialized_sizes) {
        add_specialization(job.specializations, {kernel.name, size});
      }
    }
  }
  std::map<std::tuple<std::string, base::Digest>, const std::string*> options;
  for (std::size_t p = 0; p < job.programs.size(); ++p) {
    options.clear();
    for (const RecordedEntry& entry : entries) {
      if (entry.program == job.programs[p].name) {
        options[{entry.details->variant, target_digest(entry.details->target)}] =
            &entry.details->options;
      }
    }
    for (const std::size_t index : variants_of(job, p)) {
      VariantOptions& variant = job.variants[index];
      for (const BuildTarget& target : job.targets) {
        const auto found = options.find({variant.name, target_digest(target.target)});
        variant.target_options.push_back(
            found == options.end() ? variant.options : BuildOptions::recorded(*found->second));
      }
    }
  }
}

Result<ExitCode> compare_with_recorded(const std::vector<RecordedEntry>& entries, const Job& job,
                                       Reporter& reporter) {
  Comparer comparer(job);
  std::size_t counts[std::size(k_findings)] = {};
  for (const RecordedEntry& entry : entries) {
    CLBIN_TRY_ASSIGN(const Comparison comparison, comparer.compare(entry));
    const auto finding = static_cast<std::size_t>(comparison.finding);
    ++counts[finding];
    const std::string line = fmt::format("{:<8}{}{}{}", k_findings[finding], shown(entry),
                                         comparison.text.empty() ? "" : ": ", comparison.text);
    if (!reporter.print(printable(line) + "\n")) {
      return ExitCode::file;
    }
  }
  const auto [same, differs, failed, missing] = counts;
  if (differs + failed != 0) {
    return ExitCode::compile_failed;
  }
  return same == 0 ? ExitCode::no_device : ExitCode::success;
}

} // namespace oclcc
