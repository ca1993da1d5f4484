// The keys of units in the remote cache. They cover the same as those of the compile cache, but
// files by their contents instead of their times, so that all machines with the same files compute
// the same keys.
#pragma once

#include "cache/content_digests.hpp"
#include "cache/unit_recipe.hpp"
#include "targets/build_target.hpp"
#include "units/unit.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc::remote {

// Returns what compilers for the processor of a machine may depend on, from the text of Linux's
// /proc/cpuinfo: vendor, family, model and features, sorted, whatever the number of cores.
// std::nullopt if the text contains no features.
[[nodiscard]] std::optional<std::string> processor_of(std::string_view cpuinfo);

// The keys of the units of a run. Thread-safe after construction.
class RemoteKeys {
public:
  // Reads the drivers' libraries and `executable`, that of oclcc's workers. `cpuinfo` is as for
  // processor_of. `targets` must outlive this object.
  RemoteKeys(const CompilerFacts& facts, const std::filesystem::path& executable,
             const std::vector<BuildTarget>& targets, ContentDigests& digests,
             std::string_view cpuinfo);

  // Returns the key of a unit that is built from source for `targets[target]`. std::nullopt if a
  // file that it depends on is not known or cannot be read: the unit is not shared.
  [[nodiscard]] std::optional<clbin::base::Digest> key_of(const Unit& unit,
                                                          std::size_t target) const;
  // Returns the key of a unit that converts the binary of the unit with the key `input`.
  [[nodiscard]] std::optional<clbin::base::Digest>
  converted_key(const std::optional<clbin::base::Digest>& input, std::size_t target) const;

private:
  CompilerFacts m_facts; // `executable` is the digest of its contents; empty if it is not known
  const std::vector<BuildTarget>* m_targets;
  std::vector<std::optional<std::string>> m_libraries; // of drivers; as m_targets
  std::optional<std::string> m_processor;
};

// Returns the text of /proc/cpuinfo; empty if it cannot be read.
[[nodiscard]] std::string read_cpuinfo();

} // namespace oclcc::remote
