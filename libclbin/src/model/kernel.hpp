// Kernels, and the sizes of their launches.
#pragma once

#include "model/record.hpp"

#include <map>

namespace clbin::format {

// Work-items in each dimension; 1 for an omitted dimension.
using GroupSize = std::array<std::uint64_t, 3>;

enum class AddressSpace : std::uint8_t { private_, global, local, constant };
constexpr std::array<std::string_view, 4> names_of(AddressSpace /*unused*/) {
  return {"private", "global", "local", "constant"};
}
enum class AccessQualifier : std::uint8_t { none, read_only, write_only, read_write };
constexpr std::array<std::string_view, 4> names_of(AccessQualifier /*unused*/) {
  return {"none", "read_only", "write_only", "read_write"};
}

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
CLBIN_VISIT(KernelArgument, name, type_name, address_space, access, const_, restrict, volatile_,
            pipe);

// Known properties of a kernel in one device binary. Unknown numbers are absent.
struct KernelReflection {
  std::string name;
  std::optional<std::vector<KernelArgument>> arguments;
  std::optional<std::uint32_t> argument_count;
  std::string attributes;                           // CL_KERNEL_ATTRIBUTES
  GroupSize required_work_group_size{};             // 0,0,0 if none
  std::optional<std::uint64_t> max_work_group_size; // CL_KERNEL_WORK_GROUP_SIZE, work-items
  std::optional<std::uint64_t> preferred_multiple;  // work-items
  std::optional<std::uint64_t> local_bytes;
  std::optional<std::uint64_t> private_bytes;
  // Work-group sizes for which the binary contains separate code, so that the first launch with one
  // of them compiles nothing. Empty if the driver does not distinguish sizes.
  std::vector<GroupSize> specialized_sizes;
  std::map<std::string, std::uint64_t> vendor; // "registers", "spill_bytes"
  friend bool operator==(const KernelReflection&, const KernelReflection&) = default;
};
CLBIN_VISIT(KernelReflection, name, arguments, argument_count, attributes, required_work_group_size,
            max_work_group_size, preferred_multiple, local_bytes, private_bytes, specialized_sizes,
            vendor);

// A size for which a kernel is to be compiled before its first launch.
struct Specialization {
  std::string kernel;
  GroupSize size{1, 1, 1};
  bool has_offset = false; // also for launches with a global offset other than 0
  friend auto operator<=>(const Specialization&, const Specialization&) = default;
};
CLBIN_VISIT(Specialization, kernel, size, has_offset);

// A specialization constant of a SPIR-V module.
struct SpecConstant {
  std::uint32_t spec_id = 0;      // the number that clSetProgramSpecializationConstant uses
  std::string name;               // empty if the module contains no names
  std::string type_name;          // "int", "long", "float", "bool": SPIR-V integers have no sign
  std::uint32_t size_bytes = 0;   // as the driver expects; 1 for bool
  std::uint64_t default_bits = 0; // of the default value, zero-extended
  friend bool operator==(const SpecConstant&, const SpecConstant&) = default;
};
CLBIN_VISIT(SpecConstant, id, name, type_name, size_bytes, default_bits);

} // namespace clbin::format
