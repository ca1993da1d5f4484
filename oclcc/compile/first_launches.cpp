#include "compile/compile_steps.hpp"

#include "listing/launch_compilation.hpp"

#include <fmt/format.h>
#include <map>
#include <set>

namespace oclcc {

namespace {

void note_kernels(const std::string& program, const std::string& device,
                  const std::set<std::string>& kernels, Reporter& reporter) {
  std::string options;
  for (const std::string& kernel : kernels) {
    options += fmt::format("{}--specialize {}=SIZE", options.empty() ? "" : " ", kernel);
  }
  reporter.note(fmt::format("{}: the first launch of '{}' compiles on '{}'; to avoid it, add {} "
                            "with the size of the work-groups",
                            program, fmt::join(kernels, "', '"), device, options));
}

} // namespace

void note_first_launches(const Job& job, Reporter& reporter) {
  if (reporter.verbosity() != Verbosity::verbose) {
    return;
  }
  std::map<std::pair<std::size_t, std::size_t>, std::set<std::string>> kernels; // program, target
  for (std::size_t unit = 0; unit < job.places.size(); ++unit) {
    if (!is_built(job.results[unit])) {
      continue;
    }
    const UnitPlace& place = job.places[unit];
    const auto family = clbin::format::target_family(job.targets[place.target].target);
    const auto names =
        clbin::listing::kernels_compiled_at_launch(family, job.results[unit].reply->kernels);
    for (const std::string_view name : names.value_or(std::vector<std::string_view>())) {
      kernels[{place.program, place.target}].emplace(name);
    }
  }
  for (const auto& [place, names] : kernels) {
    note_kernels(job.programs[place.first].path, job.targets[place.second].label, names, reporter);
  }
}

} // namespace oclcc
