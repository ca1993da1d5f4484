#include "output/launcher_output.hpp"

#include "format/bundle/read_limits.hpp"
#include "input/bundle_file.hpp"
#include "output/launchers.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;
using base::Result;

namespace {

// The kernels in the manifests, by program.
Result<void> add_reflection(const format::BundleReader& bundle, format::ReadBudget& budget,
                            std::map<std::string, format::ProgramInput>& programs) {
  std::set<std::string> read; // the variants of a program share a manifest
  for (std::uint32_t i = 0; i < bundle.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(const format::GroupView group, bundle.group(i));
    if (!read.insert(group.program).second) {
      continue;
    }
    CLBIN_TRY_ASSIGN(format::Manifest manifest, bundle.read_manifest(group, &budget));
    format::ProgramInput& program = programs[group.program];
    program.name = group.program;
    for (format::ManifestEntry& row : manifest.entries) {
      format::EntryInput entry;
      entry.variant = std::move(row.variant);
      entry.kernels = std::move(row.kernels);
      program.entries.push_back(std::move(entry));
    }
  }
  return {};
}

} // namespace

bool are_bundles(const std::vector<Input>& inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const Input& input) { return is_bundle(input.path); });
}

Result<std::string> launcher_text(const format::BundleInput& bundle, std::uint64_t max_bytes,
                                  Reporter& reporter) {
  CLBIN_TRY_ASSIGN(LauncherHeader header, launcher_header(bundle, max_bytes));
  for (const std::string& reason : header.left_out) {
    reporter.warning(reason);
  }
  return std::move(header.text);
}

Result<std::string> launchers_of_bundles(const std::vector<Input>& inputs, const BundleKeys& keys,
                                         Reporter& reporter) {
  std::vector<format::BundleReader> bundles;
  std::uint64_t total_bytes = 0;
  for (const Input& input : inputs) {
    CLBIN_TRY_ASSIGN(format::BundleReader bundle, open_readable_bundle(input.path, keys));
    total_bytes += bundle.total_bytes();
    bundles.push_back(std::move(bundle));
  }
  // Less than a listing may take, because text is made of it.
  format::ReadBudget budget(format::limit_for_file(total_bytes, 24ULL << 20U, 8),
                            format::ReadBudget::for_bundle(total_bytes).raw_limit());
  std::map<std::string, format::ProgramInput> programs;
  for (const auto& input : inputs) {
    const format::BundleReader& bundle = bundles[static_cast<std::size_t>(&input - inputs.data())];
    if (auto added = add_reflection(bundle, budget, programs); !added) {
      return tl::unexpected(named_error(std::move(added.error()), input.path));
    }
  }
  format::BundleInput contents;
  for (auto& [name, program] : programs) {
    contents.programs.push_back(std::move(program));
  }
  return launcher_text(contents, format::limit_for_file(total_bytes, 16ULL << 20U, 4), reporter);
}

} // namespace oclcc
