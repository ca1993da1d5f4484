// Properties of the kernels in a device binary.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace clbin::format {

enum class AddressSpace : std::uint8_t { private_, global, local, constant };
enum class AccessQualifier : std::uint8_t { none, read_only, write_only, read_write };

struct KernelArgument {
  std::string name;
  std::string type_name; // "float*"
  AddressSpace address_space = AddressSpace::private_;
  AccessQualifier access = AccessQualifier::none;
  bool is_const = false;
  bool is_restrict = false;
  bool is_volatile = false;
  bool is_pipe = false;
  friend bool operator==(const KernelArgument&, const KernelArgument&) = default;
};

// Known properties of a kernel in one device binary. Unknown numbers are absent.
struct KernelReflection {
  std::string name;
  std::optional<std::vector<KernelArgument>> arguments;
  std::optional<std::uint32_t> argument_count;
  std::string attributes;                                  // CL_KERNEL_ATTRIBUTES
  std::array<std::uint64_t, 3> required_work_group_size{}; // 0,0,0 if none
  std::optional<std::uint64_t> max_work_group_size;        // CL_KERNEL_WORK_GROUP_SIZE, work-items
  std::optional<std::uint64_t> preferred_multiple;         // work-items
  std::optional<std::uint64_t> local_bytes;
  std::optional<std::uint64_t> private_bytes;
  // Work-group sizes for which the binary contains separate code, so that the first launch with one
  // of them compiles nothing. Empty if the driver does not distinguish sizes.
  std::vector<std::array<std::uint64_t, 3>> specialized_sizes;
  std::map<std::string, std::uint64_t> vendor; // "registers", "spill_bytes"
  friend bool operator==(const KernelReflection&, const KernelReflection&) = default;
};

} // namespace clbin::format
