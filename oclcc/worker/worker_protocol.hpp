// The bodies of the messages between oclcc and its worker processes. A worker is not trusted (a
// driver may scribble over its memory): every message is read with bounds and limits.
#pragma once

#include "base/byte_codec.hpp"
#include "command_line/specialization.hpp"
#include "format/bundle.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace oclcc::worker {

// One installed device, as its worker sees it.
struct DeviceDescription {
  std::uint32_t platform = 0; // index in the ICD loader's order
  std::uint32_t device = 0;   // index in its platform
  std::uint64_t type = 0;     // CL_DEVICE_TYPE
  bool compiler_available = true;
  std::string driver_library; // path of the platform's library; empty where it is not known
  clbin::format::DeviceIdentity identity;
  // The whole deviceQuery table, in the order to print: ("global memory", "16 GiB"); only on
  // request.
  std::vector<std::pair<std::string, std::string>> properties;
};

struct EnumerateRequest {
  bool with_properties = false;
};
struct EnumerateReply {
  std::string error;      // empty: success
  bool no_opencl = false; // the ICD loader itself is missing
  // Why installed drivers cannot be loaded; only if there is no device.
  std::string load_failures{};
  std::vector<DeviceDescription> devices;
};

struct BuildRequest {
  std::uint32_t platform = 0;
  std::uint32_t device = 0;
  clbin::format::SourcePackage source;
  std::string options; // recorded ones; -cl-kernel-arg-info is added by the worker for a source
  // Not empty: this device binary is loaded instead, and must have the kernels of these names.
  clbin::base::Bytes binary{};
  std::vector<std::string> binary_kernels{};
  std::vector<Specialization> specializations{}; // others than of its kernels are skipped
  // Kernels that the driver must not create, each with what became of a worker when it did.
  std::map<std::string, std::string> fatal_kernels{};
};
// Neither `error` nor a `cl_code` other than 0: built, and `binary` is not empty unless a binary
// was loaded.
struct BuildReply {
  std::int32_t cl_code = 0; // 0: built
  std::string stage;
  std::string log;
  std::string error; // not the compiler's verdict but a failure around it
  clbin::base::Bytes binary;
  std::vector<clbin::format::KernelReflection> kernels;
};

[[nodiscard]] clbin::base::Bytes encode(const EnumerateRequest& message);
[[nodiscard]] clbin::base::Bytes encode(const EnumerateReply& message);
[[nodiscard]] clbin::base::Bytes encode(const BuildRequest& message);
[[nodiscard]] clbin::base::Bytes encode(const BuildReply& message);
// truncated, damaged.
[[nodiscard]] clbin::base::Result<EnumerateRequest>
decode_enumerate_request(clbin::base::ByteView bytes);
[[nodiscard]] clbin::base::Result<EnumerateReply>
decode_enumerate_reply(clbin::base::ByteView bytes);
[[nodiscard]] clbin::base::Result<BuildRequest> decode_build_request(clbin::base::ByteView bytes);
[[nodiscard]] clbin::base::Result<BuildReply> decode_build_reply(clbin::base::ByteView bytes);

} // namespace oclcc::worker
