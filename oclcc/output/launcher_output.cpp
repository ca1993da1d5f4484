#include "output/launcher_output.hpp"

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
Result<void> add_reflection(const format::BundleReader& bundle,
                            std::map<std::string, format::ProgramInput>& programs) {
  std::set<std::string> read; // the variants of a program share a manifest
  for (std::uint32_t i = 0; i < bundle.group_count(); ++i) {
    CLBIN_TRY_ASSIGN(const format::GroupView group, bundle.group(i));
    if (!read.insert(group.program).second) {
      continue;
    }
    CLBIN_TRY_ASSIGN(format::Manifest manifest, bundle.read_manifest(group));
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

std::string launcher_text(const format::BundleInput& bundle, Reporter& reporter) {
  LauncherHeader header = launcher_header(bundle);
  for (const std::string& reason : header.left_out) {
    reporter.warning(reason);
  }
  return std::move(header.text);
}

Result<std::string> launchers_of_bundles(const std::vector<Input>& inputs, Reporter& reporter) {
  std::map<std::string, format::ProgramInput> programs;
  for (const Input& input : inputs) {
    CLBIN_TRY_ASSIGN(const format::BundleReader bundle, open_bundle(input.path));
    if (auto added = add_reflection(bundle, programs); !added) {
      return tl::unexpected(named_error(std::move(added.error()), input.path));
    }
  }
  format::BundleInput contents;
  for (auto& [name, program] : programs) {
    contents.programs.push_back(std::move(program));
  }
  return launcher_text(contents, reporter);
}

} // namespace oclcc
