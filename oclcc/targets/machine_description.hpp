// What a machine can build for: the document of --identity --json, which --machine reads.
#pragma once

#include "base/json_document.hpp"
#include "base/result.hpp"
#include "worker/worker_protocol.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace oclcc {

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
