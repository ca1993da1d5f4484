// Bodies of the messages between oclcc and its workers. A worker is not trusted, because a driver
// may corrupt its memory: every message is read with bounds and limits.
#pragma once

#include "base/byte_codec.hpp"
#include "command_line/specialization.hpp"
#include "format/bundle/bundle.hpp"
#include "units/unit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace oclcc::worker {

// One installed device, with the worker's numbers.
struct DeviceDescription {
  std::uint32_t platform = 0; // index in the ICD loader's order
  std::uint32_t device = 0;   // index in its platform
  std::uint64_t type = 0;     // CL_DEVICE_TYPE
  bool compiler_available = true;
  std::string driver_library; // path of the platform's library; empty if unknown
  clbin::format::DeviceIdentity identity;
  // The table of device properties in the order of output, ("global memory", "16 GiB"); only on
  // request.
  std::vector<std::pair<std::string, std::string>> properties;
};

struct EnumerateRequest {
  bool with_properties = false;
};
struct EnumerateReply {
  std::string error;      // empty on success
  bool no_opencl = false; // the ICD loader itself is missing
  // The reason why installed drivers cannot be loaded; only if there is no device.
  std::string load_failures{};
  std::vector<DeviceDescription> devices;
};

// `none`: the worker may build in its own process what otherwise requires a copy of it.
enum class FurtherUnits : std::uint8_t { expected, none };

struct BuildRequest {
  std::uint32_t platform = 0;
  std::uint32_t device = 0;
  clbin::format::SourcePackage source;
  BuildOptions options; // the worker adds -cl-kernel-arg-info for a source
  // If not empty, this device binary is loaded instead. It must contain the kernels of these names.
  clbin::base::Bytes binary{};
  std::vector<std::string> binary_kernels{};
  std::vector<Specialization> specializations{}; // those of other kernels are skipped
  // Kernels that the driver must not create, each with the reason why a worker crashed on it.
  std::map<std::string, std::string> fatal_kernels{};
  FurtherUnits further_units = FurtherUnits::expected;
};

[[nodiscard]] clbin::base::Bytes encode(const EnumerateRequest& message);
[[nodiscard]] clbin::base::Bytes encode(const EnumerateReply& message);
[[nodiscard]] clbin::base::Bytes encode(const BuildRequest& message);
// Without BuildReply::tools.
[[nodiscard]] clbin::base::Bytes encode(const BuildReply& message);
// truncated, damaged.
[[nodiscard]] clbin::base::Result<EnumerateRequest>
decode_enumerate_request(clbin::base::ByteView bytes);
[[nodiscard]] clbin::base::Result<EnumerateReply>
decode_enumerate_reply(clbin::base::ByteView bytes);
[[nodiscard]] clbin::base::Result<BuildRequest> decode_build_request(clbin::base::ByteView bytes);
[[nodiscard]] clbin::base::Result<BuildReply> decode_build_reply(clbin::base::ByteView bytes);

} // namespace oclcc::worker
