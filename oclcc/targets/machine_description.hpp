// What a machine can build for: the document of --identity --json, which --machine reads, and the
// names of what units need, as features that a scheduler such as Slurm matches with machines.
#pragma once

#include "base/json_document.hpp"
#include "base/result.hpp"
#include "cache/cache_recipe.hpp"
#include "model/device.hpp"
#include "worker/worker_protocol.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

// How each feature begins.
inline constexpr std::string_view k_feature_prefix = "oclcc_";

// Returns the feature of a device, "oclcc_pocl_pthread_haswell_0123456789abcdef": its family, its
// name, and the start of identity_digest. --device accepts it.
[[nodiscard]] std::string device_feature(const clbin::format::DeviceIdentity& identity);

// Returns the feature of the programs that compile for the offline target `spec`, such as
// "oclcc_nvptx_0123456789abcdef". `facts` is BuildTarget::compiler_facts: other versions of the
// programs are another feature.
[[nodiscard]] std::string tools_feature(std::string_view spec,
                                        const std::vector<clbin::cache::Ingredient>& facts);

// Programs that compile for offline targets.
struct MachineTools {
  std::string feature;              // tools_feature
  std::vector<std::string> targets; // as bundles spell them
};

struct MachineDescription {
  // With a compiler; no two have the same identity.
  std::vector<worker::DeviceDescription> devices;
  std::vector<MachineTools> tools; // no two have the same feature
};

// Returns the features of the machine, in ascending order.
[[nodiscard]] std::vector<std::string> features_of(const MachineDescription& machine);

// Returns the members of the document. Bytes of names that are not UTF-8 are escaped (escape_text).
[[nodiscard]] clbin::base::JsonObject machine_json(const MachineDescription& machine);

// Reads the devices of a document that --identity --json wrote, perhaps on another machine. Safe on
// untrusted input. Errors: file_not_found, file_read; invalid_argument: not such a document, or the
// feature of a device is not that of its identity.
[[nodiscard]] clbin::base::Result<std::vector<worker::DeviceDescription>>
read_machine(const std::filesystem::path& file);

} // namespace oclcc
